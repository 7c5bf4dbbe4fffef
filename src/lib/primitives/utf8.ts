/**
 * Where the last whole character of UTF-8 ends in `bytes` between `from` and `to`: the bytes of one that goes on must
 * wait for the rest of it.
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

/** JSON may not begin with a byte order mark, but whoever reads it may ignore one. To be asked of its beginning. */
export const withoutMark = (text: string): string => (text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text)
