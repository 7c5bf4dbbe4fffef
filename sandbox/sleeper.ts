/** The timers of one request. It registers with the signal only once. A hang-up wakes it at once. */
export class Sleeper {
  readonly signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.signal = signal
    signal.addEventListener('abort', () => this.#wake?.())
  }

  /** Without a time, sleeps until the client hangs up. */
  sleep(ms: number | undefined): Promise<void> {
    if (this.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Waits one turn of the event loop, in which sockets are written and hang-ups noticed. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
