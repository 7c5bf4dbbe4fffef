import { readFileSync } from 'node:fs'

/** Where the system does not say it: what a small one gives. */
const USUAL = 10_240

/** How many files and sockets a process may have open. */
export function descriptorsMax(pid: number | 'self' = 'self'): number {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8')
    const [, soft] = /^Max open files +(\S+)/m.exec(limits) ?? []
    return soft === undefined ? USUAL : soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft)
  } catch {
    return USUAL
  }
}

/** How many of them are kept for files and for what has no client. */
const KEPT_MAX = 512

/** How many clients there may be at once: each may need a second socket, to an upstream. */
export const clientsWithin = (descriptors: number): number =>
  Math.floor((descriptors - Math.min(KEPT_MAX, descriptors / 8)) / 2)
