/** Requests that continue a conversation the gateway keeps: what was said before is read before they can be priced. */
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

/** Gives a request what it needs of earlier turns. Returns why it cannot be answered. */
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
  const text = textOf([...chain.turns, ...referred.turns])
  if (await isTooFine(text)) return TOO_LONG
  // Reading the request, putting the conversation together and writing it for a vendor are three steps of one size.
  const isLarge = textBytes + text.length > LARGE_CHARS
  if (isLarge) await nextTurn()
  const failure = conversation.recall(chain.turns, referred.turns)
  if (isLarge) await nextTurn()
  return failure
}

/** A conversation above this is put together in a turn of the loop of its own. */
const LARGE_CHARS = 512 * KIB

/**
 * What all turns together may be made of, so that reading them takes the thread for less than 100 ms: a value costs
 * 50 ns, and one body may bring 200,000. Their bytes are bounded before they are read.
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

/** Whether turns are made of more values than can be read at once. Looks in turns of the loop where there is much. */
async function isTooFine(text: string): Promise<boolean> {
  if (!isLong(text)) return false
  const { kind } = await scanLongJson(text, turnLimits)
  return kind !== 'scanned'
}

/** One request may name items of so many turns. */
const REFERRED_MAX = limit('referredTurnsMax', 500, 'A request that refers to items of more turns is refused.')
const NONE = { kind: 'found', turns: [] } as const

/** The same words whether it never was, was deleted, or is somebody else's. */
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
    'The previous response, or one before it, failed before anything was charged: what it was asked was not kept. ' +
    'Continue from the one before it, and ask again.',
  param: 'previous_response_id',
}

/**
 * Takes the room that a request's turn will need, in the tick of its admission; says why it cannot be kept. With
 * `store: false` it needs none.
 */
export function makeTurnRoom({ turns }: Relay, call: GatewayRequest): Failure | undefined {
  const bytes = call.request.conversation?.keptBytes
  const promised = bytes === undefined ? 'promised' : turns.promise(scopeOf(call), call.id, bytes)
  if (promised === 'promised') return undefined
  if (promised === 'no_room') return NO_ROOM
  const [max, kept] = [turns.bytesMax, turns.bytesOf(scopeOf(call))]
  const message =
    `This account may keep ${max} bytes of responses, and keeps ${kept}; this request brings ${bytes}. ` +
    `Delete responses, wait until they are ${KEPT_DAYS} days old, or send store: false.`
  // No wait of an SDK makes room.
  return { kind: 'rate_limited', code: 'storage_limit_exceeded', message, param: 'store', shouldRetry: false }
}

const NO_ROOM: Failure = {
  kind: 'unavailable',
  message: 'The gateway is short of disk space and keeps no responses at the moment. Send store: false to go on.',
  retryAfterMs: MINUTE_MS,
}

const scopeOf = ({ caller }: GatewayRequest): TurnScope => ({ accountId: caller.account.id })

type TurnStart = { readonly model: Model; readonly createdAtMs: number }

/** What is written with the hold of an answer in the background: it can be asked for from then on. */
export function begunSteps({ turns }: Relay, call: GatewayRequest, { model, createdAtMs }: TurnStart): Steps {
  const { conversation } = call.request
  if (!conversation || conversation.mode === 'attached') return NO_STEPS
  return turns.keep(scopeOf(call), conversation.begun({ requestId: call.id, createdAtMs, publicModel: model.id }))
}

/** What is written with the end of a hold: the turn as it ended, where there is one to keep. */
export function endedSteps({ turns }: Relay, call: GatewayRequest, how: 'served' | 'unserved'): Steps {
  const { conversation } = call.request
  if (!conversation) return NO_STEPS
  const scope = scopeOf(call)
  turns.release(scope, call.id)
  const turn = conversation.ended()
  if (!turn) return []
  return how === 'served' ? turns.keep(scope, turn) : turns.keepUnserved(scope, turn)
}

/** The whole answer for a client that asks for it instead of listening; undefined for any other. */
export function shownEnd({ request: { conversation } }: GatewayRequest): string | undefined {
  const turn = conversation?.mode === 'polled' ? conversation.ended() : undefined
  return turn && conversation?.show(turn)
}
