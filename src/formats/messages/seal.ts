/**
 * Sealed items of other dialects on their way through a client that speaks Messages. Its clients send every thinking
 * block back unchanged, so a block's signature carries what only its maker can read: our stamp says whose it is.
 */
import { dialects, type Dialect, type SealedData } from '../../domain/turn.ts'

const STAMP = 'tollgate-seal'

/** What a stamped signature holds. `call`: it belongs to the tool call behind the block, not to the thought in it. */
export type StampedSignature = { readonly sealed: SealedData | undefined; readonly belongsTo: 'thought' | 'call' }

/** The signature of a thinking block: the vendor's own where it is of this dialect. */
export function signatureOf(
  sealed: SealedData | undefined,
  belongsTo: StampedSignature['belongsTo'] = 'thought',
): string {
  if (sealed?.origin === 'messages') return sealed.data
  if (!sealed) return `${STAMP}:`
  const { origin, form = '', account } = sealed
  const of = account === undefined ? '' : `@${encodeURIComponent(account)}`
  return `${STAMP}:${belongsTo}:${origin}:${encodeURIComponent(form)}${of}:${sealed.data}`
}

/** Reads a signature that we made; undefined for a vendor's own. */
export function readStamp(signature: string): StampedSignature | undefined {
  if (!signature.startsWith(`${STAMP}:`)) return undefined
  const [, belongsTo, named = '', form = '', ...rest] = signature.split(':')
  const origin = dialects.find((dialect): dialect is Dialect => dialect === named)
  if (!origin || origin === 'messages') return { sealed: undefined, belongsTo: 'thought' }
  const [decoded, account] = form.split('@').map(decodedText)
  // A client made it up, or cut it: there is nothing in it that its maker could read.
  if (decoded === 'malformed' || account === 'malformed') return { sealed: undefined, belongsTo: 'thought' }
  const sealed = { origin, data: rest.join(':'), form: decoded?.text, account: account?.text }
  return { sealed, belongsTo: belongsTo === 'call' ? 'call' : 'thought' }
}

function decodedText(form: string): { readonly text: string | undefined } | 'malformed' {
  try {
    return { text: form === '' ? undefined : decodeURIComponent(form) }
  } catch {
    return 'malformed'
  }
}
