/**
 * Loaded into the gateway's process before the program (`bun --preload`): how much processor time the serving thread
 * spends between two turns of its event loop. A timer of a millisecond fires once a turn; the thread's own CPU
 * (`process.threadCpuUsage`, which is `getrusage(RUSAGE_THREAD)`) between two firings bounds every tick between them
 * from above. Wall time would blame the gateway for what its neighbours on the machine take. Collections of garbage
 * on this thread count too, as they should. `SIGUSR2` writes a report to the file that the variable names,
 * with the process id behind it, and begins anew.
 */
import { renameSync, writeFileSync } from 'node:fs'

const file = process.env['TOLLGATE_TICK_REPORT']

function spentMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function measure(reportTo: string): void {
  let lastMs = spentMs()
  let ticks = 0
  let longestMs = 0
  let over50 = 0
  setInterval(() => {
    const nowMs = spentMs()
    const tickMs = nowMs - lastMs
    lastMs = nowMs
    ticks++
    if (tickMs > longestMs) longestMs = tickMs
    if (tickMs > 50) over50++
  }, 1).unref()
  process.on('SIGUSR2', () => {
    writeFileSync(`${reportTo}.part`, JSON.stringify({ ticks, longestMs, over50 }))
    renameSync(`${reportTo}.part`, reportTo)
    ticks = longestMs = over50 = 0
  })
}

// Only the thread that serves: workers have ticks of their own, which nobody waits for.
if (Bun.isMainThread && file !== undefined) measure(`${file}.${process.pid}`)
