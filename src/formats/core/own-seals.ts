/**
 * Encrypted reasoning of the responses format works only for the account that got it. Other accounts refuse it ("The
 * encrypted content could not be verified", openai/codex#8145; "was not issued to this caller",
 * anomalyco/opencode#48773; 2026-11). It carries a mark of its provider and goes to no other provider. Signatures of
 * other dialects work for every account of their vendor.
 */
import { createHash } from 'node:crypto'
import type { Provider } from '../../domain/catalog.ts'
import type { Delta, Message, OutputPart, Reply, SealedData, Turn } from '../../domain/turn.ts'

const accounts = new Map<string, string>()
const ACCOUNTS_MAX = 10_000

/** The name of a provider's account in data that clients carry. It hides from whom the operator buys. */
export function accountOf({ id, key }: Pick<Provider, 'id' | 'key'>): string {
  // Keys may belong to accounts of their own.
  const providerId = key === undefined ? id : `${id} ${key.id}`
  const known = accounts.get(providerId)
  if (known !== undefined) return known
  const account = createHash('sha256').update(providerId).digest('base64url').slice(0, 8)
  if (accounts.size < ACCOUNTS_MAX) accounts.set(providerId, account)
  return account
}

/** Whether a provider's account can read a seal. Seals without an account are older than this mark. */
export const isOwnSeal = ({ account }: SealedData, own: string | undefined): boolean =>
  account === undefined || own === undefined || account === own

/** The turn without sealed data that only another account can read. */
export function withOwnSeals(turn: Turn, own: string | undefined): Turn {
  const unsealed = (part: OutputPart): OutputPart =>
    'sealed' in part && part.sealed && !isOwnSeal(part.sealed, own) ? { ...part, sealed: undefined } : part
  const hasOthers = ({ role, parts }: Message): boolean =>
    role === 'assistant' && parts.some((part) => unsealed(part) !== part)
  if (!turn.messages.some(hasOthers)) return turn
  return {
    ...turn,
    messages: turn.messages.map((message) =>
      message.role === 'assistant' ? { ...message, parts: message.parts.map(unsealed) } : message,
    ),
  }
}

const owned = (sealed: SealedData, account: string): SealedData =>
  sealed.origin === 'responses' ? { ...sealed, account } : sealed

/** The deltas with the maker's account in their seals. */
export const sealedDeltas = (deltas: readonly Delta[], account: string | undefined): readonly Delta[] =>
  account !== undefined && deltas.some(({ kind }) => kind === 'sealed')
    ? deltas.map((delta) => (delta.kind === 'sealed' ? { ...delta, sealed: owned(delta.sealed, account) } : delta))
    : deltas

/** The same for a whole answer. */
export function sealedReply(reply: Reply, account: string | undefined): Reply {
  if (account === undefined) return reply
  const named = (part: OutputPart): OutputPart =>
    part.kind === 'reasoning' && part.sealed ? { ...part, sealed: owned(part.sealed, account) } : part
  const choices = reply.choices.map((choice) => ({ ...choice, parts: choice.parts.map(named) }))
  return { ...reply, choices, deltas: reply.deltas && sealedDeltas(reply.deltas, account) }
}
