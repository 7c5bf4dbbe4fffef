/** CPU time by the kernel's accounting of processes and threads. Linux only: it reads /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, the unit of /proc: 100 per second on every architecture that Bun runs on. */
const TICK_US = 10_000

/** User and system time of all threads of the processes so far, in µs, to the tick of 10 ms. */
export function cpuUs(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces. utime and stime are fields 14 and 15 of the line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * TICK_US
}

/** A process and all its running descendants. */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread))
  return [pid, ...children.flatMap(processTree)]
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return [] // The thread has ended since it was listed. Its children, if any, now belong to another thread.
  }
}

/**
 * CPU time of each thread so far, in µs. The key is `name.id`, or `main.id` for a process's first thread. Needs
 * schedstat.
 */
export function threadsUs(pids: readonly number[]): Map<string, number> {
  const threads = new Map<string, number>()
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const folder = `/proc/${pid}/task/${thread}`
      try {
        const name = thread === String(pid) ? 'main' : readFileSync(`${folder}/comm`, 'utf8').trim()
        threads.set(`${name}.${thread}`, Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1000)
      } catch {
        // The thread has ended since it was listed.
      }
    }
  }
  return threads
}

/** Resident memory of the processes, in MB. */
export function residentMb(pids: readonly number[]): number {
  const kib = pids.map((pid) => Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
  return kib.reduce((sum, size) => sum + size, 0) / 1024
}
