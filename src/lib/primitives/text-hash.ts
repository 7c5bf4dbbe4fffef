/**
 * A hash of 32 bits, for choices and look-ups. It is not for secrets, and it is the same in every process.
 * `salt` makes independent hashes of one text.
 */
export const textHash = (text: string, salt = 0): number => Bun.hash.xxHash32(text, salt)

/** Mixes two hashes into a number in [0, 1). It is the finalizer of MurmurHash3, whose bits are all mixed. */
export function mixedFraction(a: number, b: number): number {
  let mixed = (a ^ Math.imul(b, 0x9e37_79b1)) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x1_0000_0000
}
