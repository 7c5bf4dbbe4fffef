/** More than a core's own cache, and less than the cache that cores share. */
const BYTES = 4 * 1024 * 1024
/** A cache line, in elements of the table. */
const LINE = 64 / Int32Array.BYTES_PER_ELEMENT
const LINES = BYTES / Int32Array.BYTES_PER_ELEMENT / LINE
const LAPS = 6

/** Each line holds the place of the next: a ring through all lines, in an order that no hardware can predict. */
const table = new Int32Array(LINES * LINE)

function tieRing(): void {
  const lots = Float64Array.from({ length: LINES }, Math.random)
  const order = Array.from(lots.keys()).toSorted((a, b) => (lots[a] ?? 0) - (lots[b] ?? 0))
  for (const [i, line] of order.entries()) table[line * LINE] = (order[(i + 1) % LINES] ?? 0) * LINE
}

function walk(laps: number): number {
  let at = 0
  for (let left = laps * LINES; left > 0; left--) at = table[at] ?? 0
  return at
}

/**
 * The CPU time of one read of memory outside a core's own cache, in ns, at this moment. The virtual machines of a host
 * share the cache behind it. A busy neighbour takes it away, and reads become several times as slow. That time counts
 * as CPU time of this machine and not as stolen. Takes 10 to 100 ms.
 */
export function hostMemoryNs(): number {
  if (table[0] === 0) tieRing()
  walk(1)
  const before = process.cpuUsage()
  // The ring ends at its beginning. The result is used, so that no compiler removes the walk.
  if (walk(LAPS) !== 0) throw new Error('the ring is broken')
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / (LAPS * LINES)
}

/** On a quiet host a read costs half of this, on a busy one three times as much. */
const QUIET_NS = 40
const LOOK_MS = 500

/** Whether all of these measurements, and one made now, are from a quiet host. */
export const isQuiet = (seenNs: readonly number[]): boolean => Math.max(...seenNs, hostMemoryNs()) <= QUIET_NS

/** Waits for a quiet moment, at most until the given time. */
export async function quietHost(untilMs: number): Promise<void> {
  while (performance.now() < untilMs && !isQuiet([])) await Bun.sleep(LOOK_MS)
}
