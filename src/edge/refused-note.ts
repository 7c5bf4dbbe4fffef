/** What is kept of a request that was refused: who asked for what, never a secret or a prompt. */
import type { Accounts } from '../accounts/accounts.ts'
import type { RefusedRequest } from '../records/refused.ts'
import { presentedKey } from './presented-key.ts'
import type { RequestContext } from './request-context.ts'
import { recordedEndpoint } from './router.ts'

const PATH_CHARS = 100
const MODEL = /^[\w][\w.:/@-]{0,99}$/
const SECRET = /sk-[\w-]+/i
const ID = /\/(?:[a-z]+_[0-9a-z]{20,}|[^/]{64,})/g

/** A path with its ids left out; one that may hold a key says nothing. */
function pathOf(path: string): string {
  if (SECRET.test(path)) return 'other'
  return path.replace(ID, '/{id}').slice(0, PATH_CHARS)
}

/** A request that was refused before it was read is of an endpoint, too. */
const endpointOf = (method: string, path: string): string => recordedEndpoint(method, path) ?? pathOf(path)

/** A name that could be a model's; what cannot is the client's own text. */
const modelIn = (name: string): string | undefined => (MODEL.test(name) && !SECRET.test(name) ? name : undefined)

export function refusedNote(
  { exchange, id, caller, request }: RequestContext,
  accounts: Pick<Accounts, 'keyPresented'>,
  { status, code }: { readonly status: number; readonly code: string },
): RefusedRequest {
  const { method, path } = exchange.head
  // A revoked key is still somebody's.
  const key = caller?.key ?? accounts.keyPresented(presentedKey(exchange) ?? '')
  return {
    id,
    accountId: caller?.account.id ?? (key && 'accountId' in key ? key.accountId : undefined),
    keyId: key?.id,
    method: method.slice(0, 10),
    endpoint: request?.endpoint ?? endpointOf(method, path),
    model: request && modelIn(request.model),
    status,
    code,
    atMs: Date.now(),
  }
}
