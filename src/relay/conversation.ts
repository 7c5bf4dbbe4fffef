/** Requests that continue a conversation the gateway keeps: what was said before is read before they can be priced. */
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/format.ts'
import { KEPT_DAYS, type AccountScope, type Turns } from '../responses/turns.ts'
import type { Call } from './call.ts'
import type { Relay } from './context.ts'

type Steps = ReturnType<Turns['keep']>

/** Gives a request what it needs of earlier turns. Returns why it cannot be answered. */
export async function recall(
  turns: Turns,
  scope: AccountScope,
  { conversation }: ClientRequest,
): Promise<Failure | undefined> {
  if (!conversation) return undefined
  const { previousId, referredIds } = conversation
  const referred = referredIds.slice(0, REFERRED_MAX).map((id) => turns.find(scope, id))
  const chain = previousId === undefined ? NONE : await turns.chain(scope, previousId)
  if (chain.kind === 'not_found') return NOT_FOUND
  if (chain.kind === 'too_long') return TOO_LONG
  const found = (await Promise.all(referred)).filter((turn) => turn !== undefined)
  return conversation.recall(chain.turns, found)
}

/** One request may name items of so many turns. */
const REFERRED_MAX = 500
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

/** Whether a request's answer is made without its client. */
export const isBackground = ({ conversation }: ClientRequest): boolean =>
  conversation !== undefined && conversation.mode !== 'attached'

const scopeOf = ({ caller }: Call): AccountScope => ({ accountId: caller.account.id })

type Begun = { readonly model: Model; readonly createdAtMs: number }

/** What is written with the hold of an answer in the background: it can be asked for from then on. */
export function begunSteps({ turns }: Relay, call: Call, { model, createdAtMs }: Begun): Steps {
  const { conversation } = call.request
  if (!conversation || conversation.mode === 'attached') return []
  return turns.keep(scopeOf(call), conversation.begun({ requestId: call.id, createdAtMs, publicModel: model.id }))
}

/** What is written with the end of a hold: the turn as it ended, where there is one to keep. */
export function endedSteps({ turns }: Relay, call: Call): Steps {
  const turn = call.request.conversation?.ended()
  return turn ? turns.keep(scopeOf(call), turn) : []
}

/** The whole answer for a client that asks for it instead of listening; undefined for any other. */
export function shownEnd({ request: { conversation } }: Call): string | undefined {
  const turn = conversation?.mode === 'polled' ? conversation.ended() : undefined
  return turn && conversation?.show(turn)
}
