import { readFileSync } from 'node:fs'

const LAUNCHER_POLL_MS = 1_000
const INTERRUPTED = 130
/** Ctrl-C at a terminal reaches this process twice, directly and through its launcher. Both count as one signal. */
const SAME_SIGNAL_MS = 300

/** The signals that end this process. A second one ends it at once, except where `during` hears it. */
export class StopSignals {
  /**
   * Resolves when this process must stop: after a signal, or when its launcher or the parent of its launcher is gone.
   * These may be killed without a chance to pass a signal on.
   */
  readonly first: Promise<void>
  private readonly stop: () => void
  private onNext: (() => void) | undefined
  private heardMs: number | undefined

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.first = promise
    this.stop = resolve
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.heard())
    this.watchLaunchers()
  }

  /** Until `work` is done, a signal resolves `next`. */
  async during(work: (next: Promise<void>) => Promise<void>): Promise<void> {
    const { promise: next, resolve } = Promise.withResolvers<void>()
    this.onNext = resolve
    await work(next)
    this.onNext = undefined
  }

  private heard(): void {
    const nowMs = performance.now()
    if (this.heardMs !== undefined && nowMs - this.heardMs <= SAME_SIGNAL_MS) return
    const isFirst = this.heardMs === undefined
    this.heardMs = nowMs
    if (isFirst) return this.stop()
    if (!this.onNext) process.exit(INTERRUPTED)
    this.onNext()
    // The wait is over, so the next signal ends the process.
    this.onNext = undefined
  }

  private watchLaunchers(): void {
    const above = (process.env['TOLLGATE_LAUNCHER_PID'] ?? '').split(' ').map(Number).filter(Boolean)
    if (above.length === 0) return
    const watch = setInterval(() => {
      if (areThere(above)) return
      clearInterval(watch)
      this.stop()
    }, LAUNCHER_POLL_MS)
    watch.unref()
  }
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
