import { KIB } from '../../lib/primitives/units.ts'

/** Media that a request carries itself. An upstream may fetch whatever looks like an address to it, blanks and all. */
const BASE64 = /^[\w+/-]+(?:[\r\n]{1,2}[\w+/-]+)*={0,2}[\r\n]*$/
const CHARACTERS = /^[\w+/\r\n=-]*$/
const DATA_URL = /^data:[\w.+/;=-]{0,200},/i
/** An address is at its end before; and a medium can be as large as a request. */
const LOOKED_AT_CHARS = 64 * KIB

/** Whether a text is base64 alone, of either alphabet, line ends or not. Of a long one, whether it begins so. */
export const isBase64 = (text: string): boolean =>
  text.length > LOOKED_AT_CHARS ? CHARACTERS.test(text.slice(0, LOOKED_AT_CHARS)) : BASE64.test(text)

/** Whether it is base64, or a `data:` URL; where that says it is base64, it has to be. */
export function isMediaData(text: string): boolean {
  const [prefix] = DATA_URL.exec(text.slice(0, 256)) ?? []
  if (prefix === undefined) return isBase64(text)
  return !/;base64,$/i.test(prefix) || isBase64(text.slice(prefix.length))
}
