/** Percent-decoding. A text that cannot be decoded is returned unchanged, because nothing has such a name. */
export function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
