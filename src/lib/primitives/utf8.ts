/**
 * The end of the last whole UTF-8 character in `bytes` between `from` and `to`. The bytes of an incomplete character
 * must wait for the rest.
 */
export function wholeCharactersEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = to - 1; at >= from && at >= to - 3; at--) {
    const byte = bytes[at] as number
    if (byte < 0x80) break
    if (byte >= 0xc0) return at + (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > to ? at : to
  }
  return to
}

const BYTE_ORDER_MARK = 0xfeff

/** JSON may not begin with a byte order mark, but a reader may ignore one. Call it with the beginning of a text. */
export const withoutMark = (text: string): string => (text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text)
