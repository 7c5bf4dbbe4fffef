/** Beyond what a core has to itself, and little enough for the cache that it shares. */
const BYTES = 4 * 1024 * 1024
/** Of a cache, and in the table's own unit. */
const LINE = 64 / Int32Array.BYTES_PER_ELEMENT
const LINES = BYTES / Int32Array.BYTES_PER_ELEMENT / LINE
const LAPS = 6

/** Each line says where the next one is: a ring through all of them, in an order that nothing can foresee. */
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
 * What a read of memory costs at this moment that is not in a core's own cache, in ns of CPU. The virtual machines of a
 * host share the cache behind it: a busy neighbour takes it away, and reads become several times as slow, which counts
 * as our own CPU time and as nobody's stolen. Takes 10 to 100 ms.
 */
export function hostMemoryNs(): number {
  if (table[0] === 0) tieRing()
  walk(1)
  const before = process.cpuUsage()
  // The end of the ring is its beginning: the walk has a result, and nobody may leave it out.
  if (walk(LAPS) !== 0) throw new Error('the ring is broken')
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / (LAPS * LINES)
}

/** Where nobody else takes the cache away it costs half of this, and where somebody does three times as much. */
const QUIET_NS = 40
const LOOK_MS = 500

/** Whether all of these were in quiet moments, and this one is. */
export const isQuiet = (seenNs: readonly number[]): boolean => Math.max(...seenNs, hostMemoryNs()) <= QUIET_NS

/** Waits for a quiet moment, for as long as there is patience. */
export async function quietHost(untilMs: number): Promise<void> {
  while (performance.now() < untilMs && !isQuiet([])) await Bun.sleep(LOOK_MS)
}
