/**
 * Encrypted reasoning of the responses format is for the account that got it, and refused elsewhere ("The encrypted
 * content could not be verified", openai/codex#8145; "was not issued to this caller", anomalyco/opencode#48773;
 * 2026-11): it bears a mark of its provider, and goes to no other. Signatures of other dialects hold for every
 * account of their vendor.
 */
import { createHash } from 'node:crypto'
import type { Delta, Message, OutputPart, Reply, SealedData, Turn } from '../../domain/turn.ts'

const accounts = new Map<string, string>()
const ACCOUNTS_MAX = 10_000

/** How the account of a provider is called where clients carry it: they need not know whom the operator buys from. */
export function accountOf(providerId: string): string {
  const known = accounts.get(providerId)
  if (known !== undefined) return known
  const account = createHash('sha256').update(providerId).digest('base64url').slice(0, 8)
  if (accounts.size < ACCOUNTS_MAX) accounts.set(providerId, account)
  return account
}

/** Whether the account of a provider can read a seal. One of no account was made before these were written. */
export const isOwnSeal = ({ account }: SealedData, own: string | undefined): boolean =>
  account === undefined || own === undefined || account === own

/** The turn without what only another account can read. */
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

/** Deltas whose seals bear the name of who made them. */
export const sealedDeltas = (deltas: readonly Delta[], account: string | undefined): readonly Delta[] =>
  account !== undefined && deltas.some(({ kind }) => kind === 'sealed')
    ? deltas.map((delta) => (delta.kind === 'sealed' ? { ...delta, sealed: owned(delta.sealed, account) } : delta))
    : deltas

/** The same of a whole answer. */
export function sealedReply(reply: Reply, account: string | undefined): Reply {
  if (account === undefined) return reply
  const named = (part: OutputPart): OutputPart =>
    part.kind === 'reasoning' && part.sealed ? { ...part, sealed: owned(part.sealed, account) } : part
  const choices = reply.choices.map((choice) => ({ ...choice, parts: choice.parts.map(named) }))
  return { ...reply, choices, deltas: reply.deltas && sealedDeltas(reply.deltas, account) }
}
