/**
 * Starts the garbage collector early. By itself it lets garbage grow beyond the size of live memory. With tokens that
 * is little. Fast upstreams bring 100 MB in one turn of the event loop, so the garbage of large reads is collected
 * between.
 */
import { KIB, MIB, MINUTE_MS } from '../primitives/units.ts'

const COLLECT_BYTES = 2 * MIB
/** The growth of memory that starts a collection. */
const GROWTH_BYTES = 40 * MIB
const QUIET_MS = 5_000
/** If a collection takes longer, the heap is left to the collector for a while, because all streams wait meanwhile. */
const SLOW_MS = 50
const SLOW_PAUSE_MS = MINUTE_MS

let garbageBytes = 0
/** The connection that has read in this turn. `hasSeveralReaders`: several have read. */
let reader: unknown
let hasSeveralReaders = false
let pausedUntilMs = 0
/** Bytes of large requests since the last collection, and the time of the last such request. */
let largeBytes = 0
let lastLargeMs = 0
/** The lowest resident memory, or the memory after the last collection for growth. */
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
  hasSeveralReaders = false
}

/**
 * Call this for each large read of events, with its connection. From one connection, the runtime reads up to 5 MB in a
 * turn, and a started collector keeps up with that in parallel. With several connections it does not. Then everything
 * waits 8 to 20 ms for a full collection, about as long as relaying took.
 */
export function leaveBehind(bytes: number, by: object): void {
  if (reader === undefined) setImmediate(newTurn)
  else hasSeveralReaders ||= reader !== by
  reader = by
  garbageBytes += bytes
  if (garbageBytes < COLLECT_BYTES || performance.now() < pausedUntilMs) return
  garbageBytes = 0
  if (hasSeveralReaders) collectNow()
  else Bun.gc(false)
}

/** Memory is checked after requests of at least this size, which few requests have. */
const LARGE_REQUEST_BYTES = 64 * KIB

/** Call this with the size of each request. */
export function noteRequest(bytes: number): void {
  if (bytes < LARGE_REQUEST_BYTES) return
  largeBytes += bytes
  lastLargeMs = performance.now()
}

/**
 * Call this twice a second. The memory of a large request lives until its answer. Then only a collection of the whole
 * heap frees it, which comes when the heap has doubled: a hundred such requests take 200 MB. So a collection starts
 * when memory grows, and once when no more large requests come. Small requests are left to the collector: a thousand of
 * them a second leave as much garbage, and collecting it here would cost 2 %.
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
