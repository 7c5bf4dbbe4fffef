/**
 * Bounds the requests that the sandbox reads. A request that no model would accept is refused before it is read, so
 * that other requests need not wait.
 */
import type { ErrorFields } from './reply.ts'
import { MIB } from '../src/lib/primitives/units.ts'

/** A token has at most 6 letters, so this is more than the largest context for any text. */
const TEXT_CHARS_MAX = 1_000_000
/** The bound of a body, including pictures and files. */
const BODY_BYTES_MAX = 24 * MIB
/** The characters that a value counts beside its text. An object or a list counts twice. Checking one takes 2 µs. */
const VALUE_CHARS = 8

const complaint = (message: string): ErrorFields => ({ message, code: 'context_length_exceeded', param: null })

/** The complaint about a JSON body that is too long to parse. */
export function longBody(headers: Headers): ErrorFields | undefined {
  if (headers.get('content-type')?.startsWith('multipart/')) return undefined
  if (Number(headers.get('content-length') ?? 0) <= BODY_BYTES_MAX) return undefined
  return complaint(`The request is too long for the sandbox: the limit is ${BODY_BYTES_MAX} bytes.`)
}

/** The complaint about a request whose text is longer than any context. */
export function longText(body: unknown): ErrorFields | undefined {
  if (textCharsOf(body) <= TEXT_CHARS_MAX) return undefined
  return complaint(
    `The text of the request is longer than any context here: the limit is ${TEXT_CHARS_MAX} characters.`,
  )
}

/** The fields that hold pictures and files in all dialects, and the names of the bytes in them. */
const MEDIA = new Set(['image_url', 'source', 'input_audio', 'file', 'inline_data', 'inlineData'])
const PAYLOADS = new Set(['url', 'data', 'file_data'])

type OpenValue = { readonly value: unknown; readonly isMedia: boolean }

/** Counts the characters of a body, and stops soon after the limit. */
function textCharsOf(body: unknown): number {
  let chars = 0
  const open: OpenValue[] = [{ value: body, isMedia: false }]
  for (let next = open.pop(); next && chars <= TEXT_CHARS_MAX; next = open.pop()) {
    const { value, isMedia } = next
    chars += VALUE_CHARS
    if (typeof value === 'string') chars += value.length
    else if (Array.isArray(value)) for (const one of value) open.push({ value: one, isMedia: false })
    else if (typeof value === 'object' && value !== null) {
      chars += VALUE_CHARS
      for (const [key, inner] of Object.entries(value)) {
        chars += key.length
        if (isMedia && PAYLOADS.has(key)) continue
        open.push({ value: inner, isMedia: MEDIA.has(key) })
      }
    }
  }
  return chars
}
