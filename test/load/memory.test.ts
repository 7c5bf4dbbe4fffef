/**
 * The memory of the gateway: idle, with many slow streams, and with clients that stop reading a flood. It is the
 * resident memory of the process as the operating system reports it.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { chatText } from './malformed/case.ts'
import { rawClient, type RawClient } from '../support/raw-client.ts'
import { isComplete, startRawUpstream, type Caller, type RawUpstream } from '../support/raw-upstream.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const READERS = countOf('stalled-readers')
const STREAMS = Number(process.env['TOLLGATE_SLOW_STREAMS'] ?? 2_000)
const STREAM_SECONDS = countOf('slow-streams')
const EVENT_EVERY_MS = 3_000
const IDLE_MB_MAX = 130
const SLOW_STREAMS_MB_MAX = 150
/** For 200; what a larger crowd costs more must not be more for each. */
const STALLED_MB_MAX = 60 * Math.max(1, READERS / 200)
/** Ordinary streams, read to their end before the crowd comes: code that runs the first time is no stall's. */
const ORDINARY_STREAMS = 200

const PAGE_BYTES = 4_096
/** Resident memory of a process in MIB. */
const rssMb = (pid: number): number =>
  (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / MIB

/** How many files a process may have open. */
function openFilesMax(pid: number | 'self'): number {
  const line = /^Max open files +(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
  return line === 'unlimited' ? Infinity : Number(line)
}

const isMeasurable = existsSync('/proc/self/statm')
if (!isMeasurable) console.log('SKIPPED: memory is read from /proc, which this system does not have')

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const written = (more: object): string =>
  chunked(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`)
const event = (content: string): string => written({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const ORDINARY = [
  HEAD,
  event(' word').repeat(100),
  written({
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 100, total_tokens: 105 },
  }),
  chunked('data: [DONE]\n\n'),
  '0\r\n\r\n',
].join('')
const FLOOD = event('word '.repeat(200)).repeat(16)

/** A vendor that sends as fast as it is read, or a word every few seconds, or an ordinary answer. */
class Vendor {
  /** Bytes the gateway took of floods. */
  floodedBytes = 0
  readonly open = new Set<Caller>()
  private readonly slow = new Set<Caller>()
  private readonly upstream: RawUpstream
  private readonly timer: Timer
  private turn = 0

  constructor() {
    this.upstream = startRawUpstream({
      onData: (caller) => {
        if (!isComplete(caller)) return
        const [, model] = /"model":"(\w+)"/.exec(caller.received) ?? []
        caller.received = ''
        if (model === 'ordinary') return void caller.socket.write(ORDINARY)
        this.open.add(caller)
        caller.socket.write(HEAD + event('begins'))
        if (model === 'flood') this.pour(caller)
        else this.slow.add(caller)
      },
      onDrain: (caller) => this.pour(caller),
      onClose: (caller) => {
        this.open.delete(caller)
        this.slow.delete(caller)
      },
    })
    // A tenth of the streams at a time, as clients would have it.
    this.timer = setInterval(() => {
      const turn = this.turn++ % 10
      for (const caller of this.slow) if (caller.index % 10 === turn) caller.socket.write(event(' word'))
    }, EVENT_EVERY_MS / 10)
  }

  get origin(): string {
    return this.upstream.origin
  }

  stop(): void {
    clearInterval(this.timer)
    this.upstream.stop()
  }

  /** Until the gateway takes no more; some bytes of the last piece may be missing, which a flood does not mind. */
  private pour(caller: Caller): void {
    if (this.slow.has(caller)) return
    for (let pieces = 0; pieces < 64; pieces++) {
      const taken = Math.max(0, caller.socket.write(FLOOD))
      this.floodedBytes += taken
      if (taken < FLOOD.length) return this.remember(caller, FLOOD.slice(taken))
    }
    // Nothing stands in the way of a fast reader; others want their turn.
    setTimeout(() => this.open.has(caller) && this.pour(caller), 1)
  }

  private remember(caller: Caller, rest: string): void {
    const finish = (left: string): void => {
      if (!this.open.has(caller)) return
      const taken = Math.max(0, caller.socket.write(left))
      if (taken < left.length) setTimeout(() => finish(left.slice(taken)), 20)
      else this.pour(caller)
    }
    setTimeout(() => finish(rest), 20)
  }
}

let vendor: Vendor
let gateway: TestGateway
let idleMb: number
let key: string

// A process for each test: what one needed at its height stays with its process for a while.
beforeEach(async () => {
  vendor = new Vendor()
  gateway = await startGateway({
    yaml: `
providers: { vendor: { base_url: '${vendor.origin}/v1', allow_private: true } }
models:
  flood: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: flood }] }
  ordinary: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: ordinary }] }
  slow: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: slow }] }
`,
    env: { TOLLGATE_STALL_TIMEOUT_MS: '2000', TOLLGATE_LOG: 'warn' },
  })
  await gateway.operate('account.create', { name: 'many', balance: '10000' })
  ;({ secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: 'many', name: 'k' }))
  await Bun.sleep(1_000)
  if (isMeasurable) idleMb = rssMb(gateway.pid)
}, 30_000)
afterEach(async () => {
  await gateway.close()
  vendor.stop()
}, 60_000)

/** Ordinary streams of another account's, read to their end. */
async function serveOrdinaryStreams(): Promise<void> {
  await gateway.operate('account.create', { name: 'ordinary', balance: '10' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: 'ordinary', name: 'k' })
  for (let i = 0; i < ORDINARY_STREAMS; i += 20) {
    const clients = await connect(20, { model: 'ordinary', key: secret })
    await Promise.all(clients.map((client) => client.has('data: [DONE]')))
    for (const client of clients) client.close()
  }
  await untilNothingIsLive()
  await Bun.sleep(1_000)
}

const body = (model: string): string =>
  JSON.stringify({ model, stream: true, max_tokens: 200_000, messages: [{ role: 'user', content: 'hi' }] })

type Asking = { readonly model: string; readonly key: string; readonly stalls?: boolean }

async function connect(count: number, { model, key: secret, stalls = false }: Asking): Promise<RawClient[]> {
  const port = Number(new URL(gateway.baseUrl).port)
  const clients: RawClient[] = []
  // Some at a time: connections that wait long for their first request are strangers, whose number is limited.
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(200, count - clients.length) }, () => rawClient(port))
    for (const client of await Promise.all(some)) {
      if (stalls) client.socket.pause()
      client.send(chatText(secret, body(model)))
      clients.push(client)
    }
  }
  return clients
}

/** The most of a figure while something lasts. */
async function highest(read: () => number, isOver: () => boolean, everyMs = 50): Promise<number> {
  let most = read()
  while (!isOver()) {
    await Bun.sleep(everyMs)
    most = Math.max(most, read())
  }
  return most
}

const rss = (): number => rssMb(gateway.pid)
const doctor = (): Promise<{ live_requests: number; open_holds: number }> => gateway.operate('doctor')

async function untilNothingIsLive(): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const { live_requests: live, open_holds: holds } = await doctor()
    if (live === 0 && holds === 0) return
    await Bun.sleep(50)
  }
  throw new Error(`requests or holds are left: ${JSON.stringify(await doctor())}`)
}

describe.skipIf(!isMeasurable)('resident memory', () => {
  test(`idle: at most ${IDLE_MB_MAX} MIB`, () => {
    console.log(`idle: ${idleMb.toFixed(1)} MIB`)
    expect(idleMb).toBeLessThanOrEqual(IDLE_MB_MAX)
  })

  test(
    `${READERS} clients that stop reading a flood: < ${STALLED_MB_MAX} MIB more, each cut and charged`,
    async () => {
      await serveOrdinaryStreams()
      const beforeMb = rss()
      const startedMs = performance.now()
      const clients = await connect(READERS, { model: 'flood', key, stalls: true })
      let isOver = false
      const watching = highest(rss, () => isOver)
      await Bun.sleep(500)
      await untilNothingIsLive()
      isOver = true
      const grownMb = (await watching) - beforeMb
      const tookS = ((performance.now() - startedMs) / 1_000).toFixed(1)
      const sentMb = (vendor.floodedBytes / MIB).toFixed(0)
      const warmMb = (beforeMb - idleMb).toFixed(1)
      reportFigure(
        `${READERS} stalled: ${grownMb.toFixed(1)} MIB more (and ${warmMb} by ${ORDINARY_STREAMS} ordinary streams)`,
      )
      console.log(`all cut after ${tookS} s, ${sentMb} MIB flooded`)
      const records = await gateway.operate<{ outcome: string; charged: string; output_text: string }[]>(
        'request.list',
        {
          account: 'many',
          limit: 1_000,
        },
      )
      expect(records).toHaveLength(READERS)
      for (const record of records) {
        expect(record.outcome).toBe('client_closed')
        // Far more than the first word: what the connection had room for.
        expect(Number(record.output_text)).toBeGreaterThan(1_000)
        expect(Number(record.charged)).toBeGreaterThan(0)
      }
      expect(vendor.open.size).toBe(0)
      expect(grownMb).toBeLessThan(STALLED_MB_MAX)
      for (const client of clients) client.close()
      // What other processes do to the collector's timing only adds: the best of three gateways is what it takes.
    },
    { timeout: 150_000, retry: 2 },
  )

  // Two sockets a stream in the gateway, two in this process, and some to spare.
  const needed = STREAMS * 2 + 500
  const isRoom = isMeasurable && openFilesMax('self') >= needed
  if (isMeasurable && !isRoom) {
    console.log(`SKIPPED: ${STREAMS} streams need ${needed} open files, here are ${openFilesMax('self')} (ulimit -n)`)
  }
  test.skipIf(!isRoom)(
    `${STREAMS} open slow streams: at most ${SLOW_STREAMS_MB_MAX} MIB over idle`,
    async () => {
      expect(openFilesMax(gateway.pid)).toBeGreaterThanOrEqual(needed)
      const clients = await connect(STREAMS, { model: 'slow', key })
      const begun = (client: RawClient): boolean => client.text.includes('begins')
      for (let tries = 0; tries < 1_800 && !clients.every(begun); tries++) await Bun.sleep(50)
      expect(clients.filter(begun)).toHaveLength(STREAMS)
      const endMs = performance.now() + STREAM_SECONDS * 1_000
      const mostMb = await highest(rss, () => performance.now() > endMs, 250)
      console.log(`${STREAMS} slow streams: ${(mostMb - idleMb).toFixed(1)} MIB over idle (${idleMb.toFixed(1)} MIB)`)
      expect((await doctor()).live_requests).toBe(STREAMS)
      // They are alive: each got its words.
      const words = clients.map(({ text }) => text.split(' word').length - 1)
      expect(Math.min(...words)).toBeGreaterThanOrEqual(Math.floor((STREAM_SECONDS * 1_000) / EVENT_EVERY_MS) - 1)
      for (const client of clients) client.close()
      await untilNothingIsLive()
      expect(mostMb - idleMb).toBeLessThanOrEqual(SLOW_STREAMS_MB_MAX)
    },
    60_000 + STREAM_SECONDS * 1_000,
  )
})
