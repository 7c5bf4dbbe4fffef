/**
 * The collector lets garbage pile up to more than what lives. Of tokens that is little; of upstreams that send as fast
 * as they are read, 100 MB pass in one turn of the event loop. So what large reads leave is collected in between.
 */
import { KIB, MIB, MINUTE_MS } from '../primitives/units.ts'

const COLLECT_BYTES = 2 * MIB
/** What memory may grow by before it is looked through. */
const GROWTH_BYTES = 40 * MIB
const QUIET_MS = 5_000
/** A heap so large that it takes longer is left to the collector: all streams wait meanwhile. */
const SLOW_MS = 50
const SLOW_PAUSE_MS = MINUTE_MS

let garbageBytes = 0
/** Who has read in this turn: nobody, one, or several. */
let reader: unknown
let isCrowd = false
let pausedUntilMs = 0
/** Of large requests, since the last collection after them; and when the last one came. */
let largeBytes = 0
let lastLargeMs = 0
/** Resident memory when it was lowest, or after the last collection for its growth. */
let lowestBytes = Number.POSITIVE_INFINITY

/** Processor time of this thread. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function collectNow(): void {
  const startedMs = cpuMs()
  Bun.gc(true)
  if (cpuMs() - startedMs > SLOW_MS) pausedUntilMs = performance.now() + SLOW_PAUSE_MS
}

function newTurn(): void {
  reader = undefined
  isCrowd = false
}

/**
 * To be told of each large read of events, and whose it is. Of a connection alone the runtime reads up to 5 MB in a
 * turn, and the collector, asked to begin, keeps up with that beside it. Of many it does not: everything waits 8 to
 * 20 ms for it then, about as long as relaying took.
 */
export function leaveBehind(bytes: number, by: object): void {
  if (reader === undefined) setImmediate(newTurn)
  else isCrowd ||= reader !== by
  reader = by
  garbageBytes += bytes
  if (garbageBytes < COLLECT_BYTES || performance.now() < pausedUntilMs) return
  garbageBytes = 0
  if (isCrowd) collectNow()
  else Bun.gc(false)
}

/** A request that is larger than most, after whose like memory is looked at. */
const LARGE_REQUEST_BYTES = 64 * KIB

/** To be told of the size of each request. */
export function noteRequest(bytes: number): void {
  if (bytes < LARGE_REQUEST_BYTES) return
  largeBytes += bytes
  lastLargeMs = performance.now()
}

/**
 * To be called twice a second. What a large request is read into lives until its answer, and is then left to a
 * collection of the whole heap, which comes when that has doubled: a hundred such requests take 200 MB. So it is
 * collected where memory grows, and once where no more of them come. Small requests are left to the collector: a
 * thousand of them a second leave as much, and to collect it here costs 2 %.
 */
export function collectGrowth(): void {
  const [nowMs, residentBytes] = [performance.now(), process.memoryUsage.rss()]
  lowestBytes = Math.min(lowestBytes, residentBytes)
  if (largeBytes < COLLECT_BYTES || nowMs < pausedUntilMs) return
  if (residentBytes - lowestBytes < GROWTH_BYTES && nowMs - lastLargeMs < QUIET_MS) return
  collectNow()
  largeBytes = 0
  lowestBytes = process.memoryUsage.rss()
}
