import { readFileSync } from 'node:fs'

const LAUNCHER_POLL_MS = 1_000
const INTERRUPTED = 130
/** Ctrl-C at a terminal reaches this process by itself and through its launcher: that is one signal. */
const SAME_SIGNAL_MS = 300

/**
 * Resolves when this process is asked to stop: by a signal, or because its launcher, or who runs that, is gone, which
 * may have been killed without a chance to pass that on. A second signal ends the process at once.
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

/** Whether all of them, each of whom started the one before it, still do what they did: the first is our parent. */
const areThere = (above: readonly number[]): boolean =>
  above.every((pid, i) => (i === 0 ? process.ppid === pid : isParent(pid, above[i - 1] as number)))

/** Who is left by its parent gets another, at once, even where nobody has noticed the parent's end yet. */
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
