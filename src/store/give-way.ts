import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const NICE_MAX = 19
/** A thread that yields gets about a tenth of a core beside a thread that wants all of it. */
const GIVES_WAY_BY = 10

/** Lets the other threads go first. It still gets a part of a busy machine. Only Linux has priorities of threads. */
export function giveWay(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(NICE_MAX, getPriority() + GIVES_WAY_BY))
  } catch {
    // Other systems run this thread with the same priority as the others.
  }
}
