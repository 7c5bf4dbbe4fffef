import { KIB } from '../../lib/primitives/units.ts'

/** Media inside a request. An upstream may fetch any text that looks like an address, even one with blanks. */
const BASE64 = /^[\w+/-]+(?:[\r\n]{1,2}[\w+/-]+)*={0,2}[\r\n]*$/
const CHARACTERS = /^[\w+/\r\n=-]*$/
const DATA_URL = /^data:[\w.+/;=-]{0,200},/i
/** An address is shorter than this. A medium can be as large as a request. */
const LOOKED_AT_CHARS = 64 * KIB

/**
 * Whether a text is pure base64, in either alphabet, with or without line ends. Only the beginning of a long one is
 * checked.
 */
export const isBase64 = (text: string): boolean =>
  text.length > LOOKED_AT_CHARS ? CHARACTERS.test(text.slice(0, LOOKED_AT_CHARS)) : BASE64.test(text)

/** Whether a text is base64 or a `data:` URL. A `data:` URL that claims base64 must hold base64. */
export function isMediaData(text: string): boolean {
  const [prefix] = DATA_URL.exec(text.slice(0, 256)) ?? []
  if (prefix === undefined) return isBase64(text)
  return !/;base64,$/i.test(prefix) || isBase64(text.slice(prefix.length))
}
