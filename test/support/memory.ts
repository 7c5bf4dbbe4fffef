/** The memory of processes, as Linux counts it. */
import { readFileSync } from 'node:fs'

const KIB_PER_MIB = 1024

/** The resident memory of some processes together, in MiB: `VmRSS` now, or the sum of each one's peak as `VmHWM`. */
export function residentMib(pids: readonly number[], field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm')
  const kib = pids.map((pid) => Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]))
  return kib.reduce((sum, one) => sum + one, 0) / KIB_PER_MIB
}
