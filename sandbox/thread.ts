export type ToThread = { kind: 'listen'; port: number } | { kind: 'ping' }
export type FromThread = { kind: 'listening'; url: string } | { kind: 'pong' }

export type ThreadOptions = {
  /** Called with the reason why a new thread replaced a thread. */
  onReplaced(reason: string): void
  /** The longest silence of a thread. */
  silenceMs?: number
  /** The program that the thread runs. */
  program?: URL
}

const PROGRAM = new URL('./thread-worker.ts', import.meta.url)
/** Longer than a thread waits on a busy machine, and longer than an answer of the sandbox takes. */
const SILENCE_MS = 10_000
/** The number of pings in that time. */
const PINGS = 10
/** The pause before a restart, so that a thread that ends at once is not restarted in a loop. */
const PAUSE_MS = 1_000

/**
 * The sandbox beside a gateway, on its own thread. The gateway reaches it over HTTP like any other vendor. A new thread
 * replaces one that ends or stays silent for too long. The requests of the old thread end with it.
 */
export class SandboxThread {
  readonly #options: ThreadOptions
  readonly #watch: Timer
  #worker: Worker | undefined
  #url = ''
  #pings = 0
  #startedMs = 0
  #pause: Timer | undefined

  /** Resolves when the sandbox listens. */
  readonly ready: Promise<void>

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#watch = setInterval(() => this.#ping(), (options.silenceMs ?? SILENCE_MS) / PINGS).unref()
    this.ready = new Promise((resolve) => this.#launch(resolve))
  }

  /** The base URL for clients, such as `http://127.0.0.1:4010/v1`. Empty before the sandbox listens. */
  get url(): string {
    return this.#url
  }

  stop(): void {
    clearInterval(this.#watch)
    clearTimeout(this.#pause)
    this.#worker?.terminate()
    this.#worker = undefined
  }

  #launch(onListening?: () => void): void {
    const worker = new Worker((this.#options.program ?? PROGRAM).href)
    worker.unref()
    this.#worker = worker
    this.#pings = 0
    this.#startedMs = performance.now()
    worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (worker !== this.#worker) return
      this.#pings = 0
      if (data.kind === 'pong') return
      this.#url = data.url
      onListening?.()
    }
    let fault = 'it ended'
    worker.onerror = ({ message }) => {
      fault = message
    }
    worker.addEventListener('close', () => {
      if (worker === this.#worker) this.#replace(fault)
    })
    const port = Number(URL.parse(this.#url)?.port ?? 0)
    worker.postMessage({ kind: 'listen', port } satisfies ToThread)
  }

  #ping(): void {
    if (!this.#worker) return
    if (this.#pings >= PINGS) return this.#replace('it said nothing for too long')
    this.#pings += 1
    this.#worker.postMessage({ kind: 'ping' } satisfies ToThread)
  }

  #replace(reason: string): void {
    this.#worker?.terminate()
    this.#worker = undefined
    this.#options.onReplaced(reason)
    this.#pause = setTimeout(() => this.#launch(), Math.max(0, this.#startedMs + PAUSE_MS - performance.now()))
  }
}
