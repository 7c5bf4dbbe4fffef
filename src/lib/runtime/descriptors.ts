/** Descriptors: what a process has for files and sockets, and how many clients that is enough for. */
import { readFileSync } from 'node:fs'

/** Where the system does not say it: what a small one gives. */
const USUAL = 10_240

/** How many files and sockets this process may have open. */
export function descriptorsMax(): number {
  try {
    return softLimitIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return USUAL
  }
}

/** The limit in force, in Linux' table of a process' limits. */
export function softLimitIn(limits: string): number {
  const [, soft] = /^Max open files +(\S+)/m.exec(limits) ?? []
  return soft === undefined ? USUAL : soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft)
}

/** Kept for the program and its files, for idle connections to vendors, and for what has no client. */
const KEPT_MIN = 48
const KEPT_MAX = 512

type Use = {
  /** How many one client may need: its own, one to a vendor, and the vendor's where that is the built-in one. */
  readonly perClient: number
  /** Needed by others. */
  readonly others: number
}

/** How many clients there may be at once. */
export function clientsWithin(descriptors: number, { perClient, others }: Use): number {
  const kept = Math.max(KEPT_MIN, Math.min(KEPT_MAX, descriptors / 8)) + others
  return Math.max(1, Math.floor((descriptors - kept) / perClient))
}
