const LAUNCHER_POLL_MS = 1_000
const INTERRUPTED = 130

/**
 * Resolves when this process is asked to stop: by a signal, or because its launcher is gone, which may have been killed
 * without a chance to pass that on. A second signal ends the process at once.
 */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = false
  const stop = (): void => {
    if (asked) process.exit(INTERRUPTED)
    asked = true
    resolve()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  if (launcher > 0) {
    const watch = setInterval(() => {
      if (process.ppid === launcher) return
      clearInterval(watch)
      resolve()
    }, LAUNCHER_POLL_MS)
    watch.unref()
  }
  return promise
}
