/**
 * The collector lets garbage pile up to more than what lives. Of tokens that is little; of upstreams that send as fast
 * as they are read, 100 MB pass in one turn of the event loop. So what large reads leave is collected in between.
 */

const COLLECT_BYTES = 2 * 1024 * 1024
/** A heap so large that it takes longer is left to the collector: all streams wait meanwhile. */
const SLOW_MS = 50
const SLOW_PAUSE_MS = 60_000

let garbageBytes = 0
let pausedUntilMs = 0

/** Processor time of this thread. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** To be told of each large read of events. Collecting takes 8 to 20 ms, about as long as relaying did. */
export function leaveBehind(bytes: number): void {
  garbageBytes += bytes
  if (garbageBytes < COLLECT_BYTES || performance.now() < pausedUntilMs) return
  garbageBytes = 0
  const startedMs = cpuMs()
  Bun.gc(true)
  if (cpuMs() - startedMs > SLOW_MS) pausedUntilMs = performance.now() + SLOW_PAUSE_MS
}
