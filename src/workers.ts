/**
 * Several serving processes of one machine on one port. The first process serves too. It starts the others, restarts
 * one that ends, and ends them with itself. Each is an instance of its own.
 */
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { Log } from './lib/runtime/log.ts'

const RESTART_MS_MIN = 500
const RESTART_MS_MAX = 30_000
/** A process that served for this long was sound. */
const SOUND_MS = 60_000

type Worker = { readonly number: number; process: Bun.Subprocess | undefined; waitMs: number; timer: Timer | undefined }

export type WorkersOptions = {
  readonly config: Config
  /** The port that the first process has taken. */
  readonly port: number
  readonly log: Log
}

export class Workers {
  private readonly options: WorkersOptions
  private readonly workers: readonly Worker[]
  private isStopping = false

  constructor(options: WorkersOptions) {
    this.options = options
    const { workers, worker } = options.config
    const count = worker === 1 ? workers - 1 : 0
    this.workers = Array.from({ length: count }, (_, i) => ({
      number: i + 2,
      process: undefined,
      waitMs: RESTART_MS_MIN,
      timer: undefined,
    }))
  }

  /** In the first process, starts processes 2 to `config.workers`. */
  start(): void {
    for (const worker of this.workers) this.run(worker)
  }

  /** Lets each process end as this one does: with its lame duck, which `skip` shortens, and its drain. */
  async leave(skip: Promise<void>): Promise<void> {
    if (!this.isStopping) this.signal()
    await skip
    this.signal()
  }

  private signal(): void {
    this.isStopping = true
    for (const { process: running, timer } of this.workers) {
      clearTimeout(timer)
      running?.kill('SIGTERM')
    }
  }

  /** Resolves when all have ended. Those that were not told to leave are told now. */
  async ended(): Promise<void> {
    if (!this.isStopping) this.signal()
    for (const { process: running } of this.workers) await running?.exited
  }

  private run(worker: Worker): void {
    const { config, port, log } = this.options
    const startedMs = performance.now()
    const child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main, 'serve'], {
      env: {
        ...process.env,
        PORT: String(port),
        HOST: config.host,
        TOLLGATE_WORKER: String(worker.number),
        // Sockets of commands and scratch files are of one process.
        TOLLGATE_DATA: join(config.dataFolder, `worker-${worker.number}`),
        ...(config.metricsPort === undefined
          ? {}
          : { TOLLGATE_METRICS_PORT: String(config.metricsPort + worker.number - 1) }),
        // A process ends when the one that started it is gone.
        TOLLGATE_LAUNCHER_PID: String(process.pid),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    worker.process = child
    log('info', 'worker.started', { worker: worker.number, pid: child.pid })
    void child.exited.then((code) => {
      worker.process = undefined
      if (!this.isStopping) this.restart(worker, { code, servedMs: performance.now() - startedMs })
    })
  }

  /** One that keeps ending is started less and less often. */
  private restart(worker: Worker, { code, servedMs }: { readonly code: number; readonly servedMs: number }): void {
    if (servedMs > SOUND_MS) worker.waitMs = RESTART_MS_MIN
    const { number, waitMs } = worker
    this.options.log('error', 'worker.ended', { worker: number, code, restartMs: waitMs })
    worker.waitMs = Math.min(2 * waitMs, RESTART_MS_MAX)
    worker.timer = setTimeout(() => this.run(worker), waitMs)
  }
}
