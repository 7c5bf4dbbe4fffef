/**
 * How much the sandbox reads. It has others to answer meanwhile: what no model would take is refused before any of it
 * is looked at.
 */
import type { ErrorFields } from './reply.ts'
import { MIB } from '../src/lib/primitives/units.ts'

/** A token has 6 letters at most: more than the largest context, whatever it says. */
const TEXT_CHARS_MAX = 1_000_000
/** Pictures and files included. */
const BODY_BYTES_MAX = 24 * MIB
/** A value counts as much beside its text, an object or a list twice that: to check one takes about 2 µs. */
const VALUE_CHARS = 8

const complaint = (message: string): ErrorFields => ({ message, code: 'context_length_exceeded', param: null })

/** What is said of a JSON body that is not even parsed. */
export function longBody(headers: Headers): ErrorFields | undefined {
  if (headers.get('content-type')?.startsWith('multipart/')) return undefined
  if (Number(headers.get('content-length') ?? 0) <= BODY_BYTES_MAX) return undefined
  return complaint(`The request is longer than the sandbox takes: ${BODY_BYTES_MAX} bytes at most.`)
}

/** What is said of a request whose text is longer than any context. */
export function longText(body: unknown): ErrorFields | undefined {
  if (textCharsOf(body) <= TEXT_CHARS_MAX) return undefined
  return complaint(`The text of the request is longer than any context here: ${TEXT_CHARS_MAX} characters at most.`)
}

/** What holds the bytes of a picture or a file, in any of the dialects, and under which names. */
const MEDIA = new Set(['image_url', 'source', 'input_audio', 'file', 'inline_data', 'inlineData'])
const PAYLOADS = new Set(['url', 'data', 'file_data'])

type OpenValue = { readonly value: unknown; readonly isMedia: boolean }

/** Not much further than it has to be. */
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
