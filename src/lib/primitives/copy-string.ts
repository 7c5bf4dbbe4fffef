/**
 * A text of its own, of whole characters. A slice of a text keeps all of that text in memory: a few characters cut from
 * a read of half a megabyte, and kept for as long as a stream lasts, are half a megabyte a stream (Bun 1.4.5).
 */
export const detached = (slice: string): string => Buffer.from(slice).toString()
