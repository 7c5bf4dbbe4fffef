/** All that the edge asks of the relay. The edge imports no other file of the relay. */
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { GatewayRequest, type CallStart } from './call.ts'
import type { Relay } from './context.ts'
import { recall } from './conversation.ts'
import { countInput } from './count-input.ts'
import { precheck, suitableModel, unready } from './permission.ts'
import { relayRequest, type RelayResult } from './relay.ts'

/** The services of the gateway whose state the edge shows. */
type ShownServices = Pick<Relay, 'accounts' | 'catalog' | 'ledger' | 'turns' | 'backgrounds' | 'videos'>

/** A request that the relay carries out. */
export type RelayedRequest = GatewayRequest
export type RelayedRequestStart = Omit<CallStart, 'replies'>

/** `model`: whether a request without a model may be counted. `onRecalled`: called once earlier turns are included. */
export type CountOptions = { readonly model: 'named' | 'optional'; readonly onRecalled?: () => void }

export type RelayPort = ShownServices & {
  readonly heartbeatMs: number
  /** Whether any model has an answer cache. */
  readonly cachesAnswers: boolean
  /** The reason why new work is refused at the moment, if there is one. */
  unready(): Failure | undefined
  /** The check before the body. With `mayRepeat`, the request may only get an earlier answer again. */
  precheck(caller: Caller, mayRepeat: boolean): Failure | undefined
  open(start: RelayedRequestStart): RelayedRequest
  /** Resolves when the answer, or the start of its stream, may go to the client. */
  carryOut(request: RelayedRequest): Promise<RelayResult>
  /** The client of a request has left. */
  left(request: RelayedRequest): void
  /** Calls `cut` when a listener of the caller loses its permission. The returned function ends the watch. */
  watch(caller: Caller, cut: () => void): () => void
  /** The number of input tokens of a request, by our own count. Nothing is sent, and nothing is charged. */
  count(caller: Caller, request: ClientRequest, options: CountOptions): Promise<number | Failure>
}

export const openRelayPort = (relay: Relay, replies: ReplyMemory): RelayPort => ({
  accounts: relay.accounts,
  catalog: relay.catalog,
  ledger: relay.ledger,
  turns: relay.turns,
  backgrounds: relay.backgrounds,
  videos: relay.videos,
  heartbeatMs: relay.limits.heartbeatMs,
  get cachesAnswers() {
    return relay.catalog.cachesAnswers
  },
  unready: () => unready(relay),
  precheck: (caller, mayRepeat) => precheck(relay, caller, mayRepeat),
  open: (start) => new GatewayRequest({ ...start, replies }),
  carryOut: (request) => relayRequest(relay, request),
  left: (request) => relay.live.left(request),
  watch: (caller, cut) => relay.live.watch(caller, cut),
  async count(caller, request, { model: named, onRecalled }) {
    const { id: accountId } = caller.account
    const isNameless = named === 'optional' && request.model === ''
    const model = isNameless ? undefined : suitableModel(relay.catalog, caller, request)
    if (model && 'message' in model) return model
    const failure = await recall(relay.turns, { accountId }, request)
    if (failure) return failure
    onRecalled?.()
    return countInput(relay, request, { accountId, model })
  },
})
