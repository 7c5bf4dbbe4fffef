/**
 * Sealed parts as a client of the responses format carries them: one text, stamped with its origin, so that what comes
 * back goes only to the dialect it came from.
 */
import { dialects, type Dialect, type Sealed } from '../../domain/turn.ts'
import { asFields, parseFields, textIn } from '../fields.ts'

const STAMP = 'tgs1_'

export const sealedText = ({ origin, data, form }: Sealed): string =>
  STAMP + Buffer.from(JSON.stringify({ o: origin, d: data, f: form })).toString('base64url')

/** What is not stamped came from an upstream of this dialect without us. */
export function sealedFrom(text: string): Sealed {
  if (!text.startsWith(STAMP)) return { origin: 'responses', data: text }
  const { o, d, f } = asFields(parseFields(Buffer.from(text.slice(STAMP.length), 'base64url').toString()))
  const origin = dialects.find((dialect): dialect is Dialect => dialect === o)
  return { origin: origin ?? 'responses', data: textIn(d) ?? text, form: textIn(f) }
}
