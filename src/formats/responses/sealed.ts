/**
 * Sealed parts as a client of the responses format carries them: one text with a stamp of its origin, so that it goes
 * back only to the dialect it came from.
 */
import { dialects, type Dialect, type SealedData } from '../../domain/turn.ts'
import { asFields, parseFields, textIn, type Fields } from '../core/fields.ts'

const STAMP = 'tgs1_'

/** `call`: the seal belongs to the call after the item, not to the item's own reasoning. */
export const sealedText = ({ origin, data, form, account }: SealedData, belongsTo?: 'call'): string =>
  STAMP + Buffer.from(JSON.stringify({ o: origin, d: data, f: form, a: account, b: belongsTo })).toString('base64url')

/** A text without the stamp came from an upstream of this dialect, not through the gateway. */
export function sealedFrom(text: string): SealedData {
  if (!text.startsWith(STAMP)) return { origin: 'responses', data: text }
  const { o, d, f, a } = stampIn(text)
  const origin = dialects.find((dialect): dialect is Dialect => dialect === o)
  return { origin: origin ?? 'responses', data: textIn(d) ?? text, form: textIn(f), account: textIn(a) }
}

const stampIn = (text: string): Fields =>
  asFields(parseFields(Buffer.from(text.slice(STAMP.length), 'base64url').toString()))

/** The seal that a reasoning item carries for the call after it. Undefined if there is none. */
export function sealOfCall({ type, encrypted_content: seal }: Fields): SealedData | undefined {
  if (type !== 'reasoning' || typeof seal !== 'string' || !seal.startsWith(STAMP)) return undefined
  return stampIn(seal)['b'] === 'call' ? sealedFrom(seal) : undefined
}
