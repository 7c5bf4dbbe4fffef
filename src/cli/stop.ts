import { readFileSync } from 'node:fs'

const LAUNCHER_POLL_MS = 1_000
const INTERRUPTED = 130
/** Ctrl-C at a terminal reaches this process twice, directly and through its launcher. Both count as one signal. */
const SAME_SIGNAL_MS = 300

/**
 * Resolves when this process must stop: after a signal, or when its launcher or the parent of its launcher is gone.
 * These may be killed without a chance to pass a signal on. A second signal ends the process at once.
 */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let askedMs: number | undefined
  const stop = (): void => {
    askedMs ??= performance.now()
    if (performance.now() - askedMs > SAME_SIGNAL_MS) process.exit(INTERRUPTED)
    resolve()
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
  const above = (process.env['TOLLGATE_LAUNCHER_PID'] ?? '').split(' ').map(Number).filter(Boolean)
  if (above.length > 0) {
    const watch = setInterval(() => {
      if (areThere(above)) return
      clearInterval(watch)
      resolve()
    }, LAUNCHER_POLL_MS)
    watch.unref()
  }
  return promise
}

/** Whether all these processes still run. The first is our parent, and each is the parent of the one before it. */
const areThere = (above: readonly number[]): boolean =>
  above.every((pid, i) => (i === 0 ? process.ppid === pid : isParent(pid, above[i - 1] as number)))

/** A process whose parent ends gets another parent at once, even if the old one is still a zombie. */
function isParent(pid: number, child: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    const stat = readFileSync(`/proc/${child}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid
  } catch {
    return isAlive(child)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH'
  }
}
