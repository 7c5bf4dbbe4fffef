/** Requests that continue a stored conversation. Its earlier turns are read before the request can be priced. */
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest, PastTurn } from '../formats/core/contract.ts'
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { requestScanLimits, scanLongJson, type ScanLimits } from '../lib/json/json-scan.ts'
import { isLong } from '../lib/primitives/long-text.ts'
import { KEPT_DAYS, type TurnScope, type Turns } from '../responses/turns.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

type Steps = Readonly<ReturnType<Turns['keep']>>
const NO_STEPS: Steps = []

/** Adds the needed earlier turns to a request. Returns the reason if it cannot be answered. */
export async function recall(
  turns: Turns,
  scope: TurnScope,
  { conversation, textBytes }: ClientRequest,
): Promise<Failure | undefined> {
  if (!conversation) return undefined
  const { previousId, referredIds } = conversation
  const chain = previousId === undefined ? NONE : await turns.chain(scope, previousId)
  if (chain.kind === 'not_found') return NOT_FOUND
  if (chain.kind === 'too_long') return TOO_LONG
  if (chain.kind === 'failed') return FAILED
  const referred = await turns.some(scope, referredIds.slice(0, REFERRED_MAX))
  if (chain.kind === 'busy' || referred.kind === 'busy') return BUSY
  if (referred.kind === 'too_long') return { ...TOO_LONG, param: 'input' }
  conversation.firstId = chain.turns[0]?.id
  const text = textOf([...chain.turns, ...referred.turns])
  if (await isTooFine(text)) return TOO_LONG
  // Reading the request, joining the conversation and writing it for a vendor are three steps of equal size.
  const isLarge = textBytes + text.length > LARGE_CHARS
  if (isLarge) await nextTurn()
  const failure = conversation.recall(chain.turns, referred.turns)
  if (isLarge) await nextTurn()
  return failure
}

/** A larger conversation is joined in a tick of its own. */
const LARGE_CHARS = 512 * KIB

/**
 * The bounds of all turns together. Within them, reading the turns takes the thread less than 100 ms: a value costs
 * 50 ns, and one body may have 200,000. The bytes of the turns are bounded before they are read.
 */
const turnLimits: ScanLimits = {
  ...requestScanLimits,
  depthMax: limit('conversationDepthMax', 128, 'A conversation with deeper JSON is refused.'),
  nodesMax: limit('conversationNodesMax', 800_000, 'A conversation with more objects, arrays and strings is refused.'),
  commasMax: limit('conversationCommasMax', 1_000_000, 'A conversation with more list items and members is refused.'),
  bareMax: limit('conversationBareCharsMax', 16_000_000, 'A conversation with more white space and digits is refused.'),
  escapesMax: limit('conversationEscapesMax', 4_000_000, 'A conversation with more backslash escapes is refused.'),
}

const textOf = (turns: readonly PastTurn[]): string =>
  `[${turns.map(({ input, output }) => `${input},${output}`).join(',')}]`

/** Whether turns have more values than can be read at once. Long turns are scanned in several ticks. */
async function isTooFine(text: string): Promise<boolean> {
  if (!isLong(text)) return false
  const { kind } = await scanLongJson(text, turnLimits)
  return kind !== 'scanned'
}

/** The number of turns whose items one request may name. */
const REFERRED_MAX = limit('referredTurnsMax', 500, 'A request that refers to items of more turns is refused.')
const NONE = { kind: 'found', turns: [] } as const

/** The message is the same whether the response never existed, was deleted, or belongs to another account. */
const NOT_FOUND: Failure = {
  kind: 'previous_response_not_found',
  message:
    'The previous response was not found. It, or one before it, is unknown, was deleted, was made with store: false, ' +
    `or is older than ${KEPT_DAYS} days.`,
  param: 'previous_response_id',
}
const TOO_LONG: Failure = {
  kind: 'context_length',
  message: 'The conversation before this request has grown too long to be continued.',
  param: 'previous_response_id',
}

const BUSY: Failure = {
  kind: 'rate_limited',
  message: 'Too many conversations of this account are being read at once.',
  retryAfterMs: 1_000,
}
const FAILED: Failure = {
  kind: 'previous_response_not_found',
  message:
    'The previous response, or one before it, failed before anything was charged, so its input was not kept. ' +
    'Continue from the response before it, and send the input again.',
  param: 'previous_response_id',
}

/**
 * Reserves the room for a request's turn, in the tick of its admission. Returns the reason if the turn cannot be kept.
 * With `store: false` it needs no room.
 */
export function makeTurnRoom({ turns }: Relay, call: GatewayRequest): Failure | undefined {
  const bytes = call.request.conversation?.keptBytes
  const promised = bytes === undefined ? 'promised' : turns.promise(scopeOf(call), call.id, bytes)
  if (promised === 'promised') return undefined
  if (promised === 'no_room') return NO_ROOM
  const [max, kept] = [turns.bytesMax, turns.bytesOf(scopeOf(call))]
  const message =
    `This account may keep ${max} bytes of responses and keeps ${kept}. This request adds ${bytes}. ` +
    `Delete responses, wait until they are ${KEPT_DAYS} days old, or send store: false.`
  // An SDK that waits does not make room.
  return { kind: 'rate_limited', code: 'storage_limit_exceeded', message, param: 'store', shouldRetry: false }
}

const NO_ROOM: Failure = {
  kind: 'unavailable',
  message: 'The gateway is short of disk space and keeps no responses at the moment. Send store: false to continue.',
  retryAfterMs: MINUTE_MS,
}

const scopeOf = ({ caller }: GatewayRequest): TurnScope => ({ accountId: caller.account.id })

type TurnStart = { readonly model: Model; readonly createdAtMs: number }

/** Steps that are written with the hold of a background answer, which can be read from then on. */
export function begunSteps({ turns }: Relay, call: GatewayRequest, { model, createdAtMs }: TurnStart): Steps {
  const { conversation } = call.request
  if (!conversation || conversation.mode === 'attached') return NO_STEPS
  return turns.keep(scopeOf(call), conversation.begun({ requestId: call.id, createdAtMs, publicModel: model.id }))
}

/** Steps that are written with the end of a hold: the turn in its final state, if one is kept. */
export function endedSteps({ turns }: Relay, call: GatewayRequest, how: 'served' | 'unserved'): Steps {
  const { conversation } = call.request
  if (!conversation) return NO_STEPS
  const scope = scopeOf(call)
  turns.release(scope, call.id)
  const turn = conversation.ended()
  if (!turn) return []
  return how === 'served' ? turns.keep(scope, turn) : turns.keepUnserved(scope, turn)
}

/** The whole answer for a client that requests it instead of following it, or undefined for any other. */
export function shownEnd({ request: { conversation } }: GatewayRequest): string | undefined {
  const turn = conversation?.mode === 'polled' ? conversation.ended() : undefined
  return turn && conversation?.show(turn)
}
