/**
 * Sealed items of other dialects, carried by a client that speaks Messages. Its clients send every thinking block back
 * unchanged. So a block's signature can carry sealed data, with a stamp that names its origin.
 */
import { dialects, type Dialect, type SealedData } from '../../domain/turn.ts'

const STAMP = 'tollgate-seal'

/**
 * The content of a stamped signature. `call`: it belongs to the tool call after the block, not to the block's thinking.
 */
export type StampedSignature = { readonly sealed: SealedData | undefined; readonly belongsTo: 'thought' | 'call' }

/** The signature of a thinking block. Data of this dialect is the vendor's own signature. */
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

/** Reads a signature that the gateway made. Undefined for a vendor's own. */
export function readStamp(signature: string): StampedSignature | undefined {
  if (!signature.startsWith(`${STAMP}:`)) return undefined
  const [, belongsTo, named = '', form = '', ...rest] = signature.split(':')
  const origin = dialects.find((dialect): dialect is Dialect => dialect === named)
  if (!origin || origin === 'messages') return { sealed: undefined, belongsTo: 'thought' }
  const [decoded, account] = form.split('@').map(decodedText)
  // A client invented or cut it. No maker could read it.
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
