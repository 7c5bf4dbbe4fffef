/** The bench's own processes: the fake vendor and the load generator. */
import { join } from 'node:path'
import type { LoadOrder, LoadReport } from './load.ts'

const ANSWER_TIMEOUT_MS = 30_000

export type Crew = {
  readonly upstreamPort: number
  /** Gives the load generator an order and waits for its report. */
  load(order: LoadOrder): Promise<LoadReport>
  /** How many connections the vendor has accepted so far. */
  upstreamConnections(): Promise<number>
  stop(): void
}

type Message = {
  readonly port?: number
  readonly connections?: number
  readonly ready?: boolean
  readonly report?: LoadReport
  readonly problem?: string
}

/** A child process that takes one message at a time. */
function hire(file: string): {
  next(timeoutMs: number): Promise<Message>
  send(order: LoadOrder | 'connections'): void
  stop(): void
} {
  let waiting: PromiseWithResolvers<Message> | undefined
  const early: Message[] = []
  const child = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, file)], {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc(message: Message) {
      if (waiting) waiting.resolve(message)
      else early.push(message)
    },
  })
  return {
    async next(timeoutMs) {
      const known = early.shift()
      if (known) return known
      waiting = Promise.withResolvers<Message>()
      const { promise, reject } = waiting
      const timer = setTimeout(() => reject(new Error(`${file} did not answer in ${timeoutMs} ms`)), timeoutMs)
      void child.exited.then((code) => reject(new Error(`${file} ended with ${code}`)))
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        waiting = undefined
      }
    },
    send: (order) => child.send(order),
    stop: () => child.kill('SIGTERM'),
  }
}

/** Starts both. They end with this process, even if it dies. */
export async function hireCrew(): Promise<Crew> {
  const upstream = hire('upstream.ts')
  const load = hire('load.ts')
  const { port = 0 } = await upstream.next(ANSWER_TIMEOUT_MS)
  await load.next(ANSWER_TIMEOUT_MS)
  return {
    upstreamPort: port,
    async load(order) {
      load.send(order)
      const { report, problem } = await load.next(order.timeoutMs + ANSWER_TIMEOUT_MS)
      if (!report) throw new Error(problem ?? 'no report')
      return report
    },
    async upstreamConnections() {
      upstream.send('connections')
      return (await upstream.next(ANSWER_TIMEOUT_MS)).connections ?? 0
    },
    stop() {
      load.stop()
      upstream.stop()
    },
  }
}
