/**
 * Texts that are megabytes long: to join, look through, parse or encode one takes the thread for up to a millisecond a
 * megabyte, mostly for memory that has to be had for it. Each such step has a turn of the event loop of its own.
 */
import { nextTurn } from '../runtime/end-of-tick.ts'
import { MIB } from './units.ts'

const LONG_CHARS = MIB

export const isLong = (text: string): boolean => text.length >= LONG_CHARS

/** What `step` makes of a text: at once, or of a long one in the next turn. */
export const inOwnTurn = <T>(text: string, step: (text: string) => T | Promise<T>): T | Promise<T> =>
  isLong(text) ? nextTurn().then(() => step(text)) : step(text)

/** Joins a text that others were put together to, which else is done where a character is asked for first. */
export async function joinInOwnTurn(text: string): Promise<void> {
  await nextTurn()
  // The comparison is never true: without one the compiler may leave the question out.
  if (text.charCodeAt(0) < 0) throw new RangeError('no character is negative')
  await nextTurn()
}
