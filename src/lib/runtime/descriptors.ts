/** File descriptors: the limit of this process, and the number of clients that fits. */
import { readFileSync } from 'node:fs'

/** The limit of a small system, used if the system does not tell. */
const USUAL = 10_240

/** How many files and sockets this process may have open. */
export function descriptorsMax(): number {
  try {
    return softLimitIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return USUAL
  }
}

/** The soft limit in Linux's table of the limits of a process. */
export function softLimitIn(limits: string): number {
  const [, soft] = /^Max open files +(\S+)/m.exec(limits) ?? []
  return soft === undefined ? USUAL : soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft)
}

/** Reserved for the program and its files, idle connections to vendors, and work without a client. */
const KEPT_MIN = 48
const KEPT_MAX = 512

type Use = {
  /** Descriptors of one client: its own, one to a vendor, and the vendor's if it is the built-in one. */
  readonly perClient: number
  /** Descriptors for other purposes. */
  readonly others: number
}

/** The number of concurrent clients that fits. */
export function clientsWithin(descriptors: number, { perClient, others }: Use): number {
  const kept = Math.max(KEPT_MIN, Math.min(KEPT_MAX, descriptors / 8)) + others
  return Math.max(1, Math.floor((descriptors - kept) / perClient))
}
