/**
 * Texts of megabytes. Joining, searching, parsing or encoding one takes the thread up to a millisecond per megabyte,
 * mostly to allocate memory. So each such step has its own turn of the event loop.
 */
import { nextTurn } from '../runtime/end-of-tick.ts'
import { MIB } from './units.ts'

const LONG_CHARS = MIB

export const isLong = (text: string): boolean => text.length >= LONG_CHARS

/** Runs `step` on a text: at once, or in the next turn if the text is long. */
export const inOwnTurn = <T>(text: string, step: (text: string) => T | Promise<T>): T | Promise<T> =>
  isLong(text) ? nextTurn().then(() => step(text)) : step(text)

/** Joins a concatenated text in its own turn. Otherwise the first access to a character would join it. */
export async function joinInOwnTurn(text: string): Promise<void> {
  await nextTurn()
  // The comparison is never true. Without it, the compiler could remove the access.
  if (text.charCodeAt(0) < 0) throw new RangeError('no character is negative')
  await nextTurn()
}
