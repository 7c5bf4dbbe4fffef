import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares two secrets. The time that it takes does not depend on their content or length. */
export const digestsEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
