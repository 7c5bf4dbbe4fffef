/** Percent-decoding that takes a stray percent sign for itself: what cannot be decoded will not be found either. */
export function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
