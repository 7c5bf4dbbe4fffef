/**
 * Whether a caller may have what it requests. This is checked at two moments. A precheck spares work that would be
 * refused: before the body of a request is read, and before a request waits for an earlier answer or for earlier turns.
 * `authorize` decides in the tick of the hold, because a key can be revoked or a model withdrawn while a request waits.
 */
import type { Catalog } from '../catalog/catalog.ts'
import { usableModel } from '../catalog/usable-model.ts'
import { INVALID_KEY, SUSPENDED } from '../domain/account-failures.ts'
import type { Caller } from '../domain/account.ts'
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { modalityOf } from '../modalities/modalities.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { refuseRemoteMedia } from './remote-media.ts'

/**
 * The check before the body: whether new work is accepted, and whether there is money. With `mayRepeat`, the request
 * may only get an earlier answer again, which costs nothing.
 */
export function precheck(relay: Relay, { account }: Caller, mayRepeat: boolean): Failure | undefined {
  const { ledger, idempotency } = relay
  const refusal = unready(relay)
  if (refusal) return refusal
  if (!ledger.isEmpty(account.id) || (mayRepeat && idempotency.keepsFor(account.id))) return undefined
  const message = 'The account balance is $0. Top it up to send requests.'
  return { kind: 'insufficient_balance', message, shouldRetry: false }
}

/** The check before a request waits for an earlier answer or for earlier turns. */
export function precheckWait(relay: Relay, call: GatewayRequest): Failure | undefined {
  const model = authorize(relay, call)
  return 'message' in model ? model : undefined
}

/**
 * The model of a request, if its caller may use it now and it can do what is requested. `name` may be that of a
 * fall-back model.
 */
export function authorize(
  { accounts, catalog }: Relay,
  { caller, request }: GatewayRequest,
  name = request.model,
): Model | Failure {
  const key = accounts.findKey(caller.key.id)
  const account = accounts.find(caller.account.id)
  if (!account || !key || key.revokedAtMs !== undefined) return INVALID_KEY
  if (account.status === 'suspended') return SUSPENDED
  const model = suitableModel(catalog, { key, account }, request, name)
  return 'message' in model ? model : (request.check?.(model) ?? refuseRemoteMedia(request) ?? model)
}

/** The model of a request, if the caller may use it and it makes what the endpoint is for. */
export function suitableModel(
  catalog: Catalog,
  caller: Caller,
  request: ClientRequest,
  name = request.model,
): Model | Failure {
  const model = usableModel(catalog, caller, name)
  return 'message' in model ? model : (modalityOf(model).accepts(model, request) ?? model)
}

/** The reason why new work is refused at the moment, if there is one. */
export function unready({ notReady }: Pick<Relay, 'notReady'>): Failure | undefined {
  const reason = notReady()
  return reason === undefined
    ? undefined
    : { kind: 'unavailable', message: `Not ready: ${reason}.`, retryAfterMs: 1_000 }
}
