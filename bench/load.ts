/**
 * The load generator, a process of its own: closed-loop HTTP/1.1 clients on raw keep-alive sockets. Each answer is
 * checked. A wrong or unfinished answer is an error, never a fast request. It takes jobs from bench/relay.ts.
 */
import type { Socket } from 'bun'
import { ReplyReader, type Reply } from './reply-reader.ts'
import { requestBody, type Case } from './workload.ts'

/** Where a job sends its requests. */
export type Address = {
  readonly hostname: string
  readonly port: number
  /** `/v1`. */
  readonly basePath: string
  readonly headers: Readonly<Record<string, string>>
}

/** `open` connects and warms up. `run` then sends the counted requests over the same connections and closes them. */
export type LoadOrder =
  | { readonly kind: 'open'; readonly timeoutMs: number; readonly address: Address; readonly work: Case }
  | { readonly kind: 'run'; readonly timeoutMs: number }

export type LoadReport = {
  readonly requests: number
  /** Requests that were sent but not answered when the round ended. */
  readonly missing: number
  readonly errors: number
  readonly firstError: string | undefined
  readonly tookMs: number
  readonly totalMs: Quantiles
  readonly firstByteMs: Quantiles
  /** The size of one answer. It is the same for all answers, or the answer is an error. */
  readonly bodyBytes: number
  readonly events: number
}
export type Quantiles = { readonly p50: number; readonly p99: number }

function quantiles(values: number[]): Quantiles {
  const sorted = Float64Array.from(values).toSorted()
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** Reads an answer in full. Returns what is wrong with it, or undefined. */
function problemOf({ status, body, tail }: Reply, { answer, usage }: Case): string | undefined {
  if (status !== 200) return `status ${status}: ${body.slice(0, 300)}`
  if (answer.kind === 'whole') {
    const { choices, usage: used } = JSON.parse(body) as Partial<Record<string, unknown[]>>
    return choices?.length === 1 && used ? undefined : 'no choice or no usage'
  }
  if (!tail.endsWith('data: [DONE]\n\n')) return `the stream ends with ${JSON.stringify(tail)}`
  const chunks = body.split('\n\n').slice(0, -2).map(chunkOf)
  const withChoice = chunks.filter(({ choices }) => choices.length > 0)
  const texts = withChoice.filter(({ choices }) => choices[0]?.delta.content).length
  const usages = chunks.filter((chunk) => chunk.usage).length
  const usagesExpected = usage === 'asked' ? 1 : 0
  const isRight = withChoice.length === answer.chunks && texts === answer.chunks - 2 && usages === usagesExpected
  return isRight ? undefined : `${withChoice.length} chunks, ${texts} texts, ${usages} usages`
}

function readProblem(reply: Reply, work: Case): string | undefined {
  try {
    return problemOf(reply, work)
  } catch (error) {
    return `not the JSON it should be: ${String(error)}`
  }
}

type Chunk = { readonly choices: readonly { readonly delta: { content?: string } }[]; readonly usage?: unknown }
const chunkOf = (event: string): Chunk => JSON.parse(event.replace(/^data: /, '')) as Chunk

/** How long a round lasts: until both are reached. */
type Extent = { readonly requestsMin: number; readonly runMs: number }

/** Thousands of connections at once would overflow the queue of a listening socket and retry after a second. */
const STEP = 200
const STEP_MS = 20

async function inSteps<T>(all: readonly T[], each: (one: T) => unknown): Promise<void> {
  for (let at = 0; at < all.length; at += STEP) {
    if (at > 0) await Bun.sleep(STEP_MS)
    await Promise.all(all.slice(at, at + STEP).map(each))
  }
}

/** One run of one job: open requests, and the results of the others. */
class Round {
  private sent = 0
  private pending = 0
  private readonly startedMs = performance.now()
  private readonly totals: number[] = []
  private readonly firstBytes: number[] = []
  private errors = 0
  private firstError: string | undefined
  private readonly finished = Promise.withResolvers<LoadReport>()
  private readonly job: Job
  private readonly extent: Extent

  constructor(job: Job, extent: Extent) {
    this.job = job
    this.extent = extent
  }

  async over(clients: readonly Client[], timeoutMs: number): Promise<LoadReport> {
    const timer = setTimeout(() => this.end('timed out'), timeoutMs)
    await inSteps(clients, (client) => client.next(this))
    const report = await this.finished.promise
    clearTimeout(timer)
    return report
  }

  /** Whether a free client has another request to send. */
  take(): boolean {
    const { requestsMin, runMs } = this.extent
    if (this.sent >= requestsMin && performance.now() - this.startedMs >= runMs) return false
    this.sent++
    this.pending++
    return true
  }

  answered(reply: Reply, timing: { readonly totalMs: number; readonly firstByteMs: number }): void {
    const problem = this.job.check(reply)
    if (problem !== undefined) this.failed(problem)
    this.totals.push(timing.totalMs)
    this.firstBytes.push(timing.firstByteMs)
    this.pending--
  }

  /** Called by a client that has nothing more to send. */
  leave(): void {
    if (this.pending === 0) this.end()
  }

  failed(problem: string): void {
    this.errors++
    this.firstError ??= problem
  }

  /** A broken connection ends the round, because keep-alive is part of the measurement. */
  end(problem?: string): void {
    if (problem !== undefined) this.failed(problem)
    this.finished.resolve({
      requests: this.totals.length,
      missing: this.pending,
      errors: this.errors,
      firstError: this.firstError,
      tookMs: performance.now() - this.startedMs,
      totalMs: quantiles(this.totals),
      firstByteMs: quantiles(this.firstBytes),
      bodyBytes: this.job.sample?.bodyBytes ?? 0,
      events: this.job.sample?.events ?? 0,
    })
  }
}

/** The request, and what every answer must look like. */
class Job {
  /** The first answer, read in full. The others must have its length, its number of events and its end. */
  sample: Reply | undefined
  readonly bytes: Buffer
  private readonly work: Case

  constructor({ hostname, port, basePath, headers }: Address, work: Case) {
    this.work = work
    const body = requestBody(work)
    const lines = [
      `POST ${basePath}/chat/completions HTTP/1.1`,
      `host: ${hostname}:${port}`,
      'content-type: application/json',
      'accept: */*',
      'user-agent: bench',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
    ]
    this.bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
  }

  check(reply: Reply): string | undefined {
    const { sample } = this
    if (!sample) {
      const problem = readProblem(reply, this.work)
      if (problem === undefined) this.sample = reply
      return problem
    }
    if (reply.status !== 200) return `status ${reply.status}`
    const isSame = reply.bodyBytes === sample.bodyBytes && reply.events === sample.events && reply.tail === sample.tail
    return isSame ? undefined : `${reply.bodyBytes} bytes, ${reply.events} events, unlike the first answer`
  }
}

class Client {
  private readonly job: Job
  private readonly reader = new ReplyReader()
  private socket: Socket | undefined
  private round: Round | undefined
  private sent = 0
  private startedMs = 0
  private firstByteMs = -1

  constructor(job: Job) {
    this.job = job
  }

  async connect({ hostname, port }: Address): Promise<void> {
    this.socket = await Bun.connect({
      hostname,
      port,
      socket: {
        data: (_, bytes) => this.receive(bytes),
        drain: () => this.write(),
        close: () => this.round?.end('the connection was closed'),
        error: (_, error) => this.round?.end(error.message),
      },
    })
  }

  /** Sends the next request of the round, if one is left. */
  next(round: Round): void {
    this.round = round
    if (!round.take()) {
      this.round = undefined
      return round.leave()
    }
    this.reader.begin(this.job.sample ? 'count' : 'keep')
    this.sent = 0
    this.firstByteMs = -1
    this.startedMs = performance.now()
    this.write()
  }

  close(): void {
    this.round = undefined
    this.socket?.end()
  }

  private write(): void {
    const { bytes } = this.job
    if (this.sent < bytes.length) this.sent += Math.max(0, this.socket?.write(bytes, this.sent) ?? 0)
  }

  private receive(bytes: Buffer): void {
    const { round } = this
    if (!round) return
    if (this.firstByteMs < 0) this.firstByteMs = performance.now() - this.startedMs
    const state = this.reader.push(bytes)
    if (state === 'open') return
    if (state === 'broken') return round.end('the answer is not the HTTP it announced')
    round.answered(this.reader.reply, { totalMs: performance.now() - this.startedMs, firstByteMs: this.firstByteMs })
    this.next(round)
  }
}

let opened: { readonly job: Job; readonly clients: readonly Client[]; readonly work: Case } | undefined

async function obey(order: LoadOrder): Promise<LoadReport> {
  const { timeoutMs } = order
  if (order.kind === 'open') {
    const { address, work } = order
    const job = new Job(address, work)
    const clients = Array.from({ length: work.connections }, () => new Client(job))
    opened = { job, clients, work }
    await inSteps(clients, (client) => client.connect(address))
    return new Round(job, { requestsMin: work.warmUp, runMs: 0 }).over(clients, timeoutMs)
  }
  if (!opened) throw new Error('nothing is open')
  const { job, clients, work } = opened
  const report = await new Round(job, work).over(clients, timeoutMs)
  for (const client of clients) client.close()
  opened = undefined
  return report
}

if (import.meta.main) {
  process.on('message', (order: LoadOrder) => {
    obey(order).then(
      (report) => process.send?.({ report }),
      (error: unknown) => process.send?.({ problem: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}
