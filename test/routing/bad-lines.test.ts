/** Slow, narrow and fragmented connections, and absent upstreams. None of this may affect the content of an answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { ChatWire, type WireAnswer } from '../support/chat-wire.ts'
import { FaultProxy, type Toxics } from '../support/fault-proxy.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { isComplete, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'
import {
  recordedReplies,
  recordedStreams,
  type RecordedReply,
  type RecordedStream,
} from '../support/recorded-answers.ts'

const recordings: readonly (RecordedStream | RecordedReply)[] = [...recordedStreams, ...recordedReplies]
const STREAM = recordedStreams[0] as RecordedStream
const REPLY = recordedReplies[0] as RecordedReply
const FIRST_EVENT_TIMEOUT_MS = 300

let vendor: RawUpstream
let limited: RawUpstream
let toUpstream: FaultProxy
let toGateway: FaultProxy
let gateway: TestGateway
let stuck: Stuck

/** What is wrong with one of three upstreams, and how its attempts end. */
const results = {
  dead: 'unreachable',
  reset: 'network',
  hole: 'timeout',
  'late-hole': 'timeout',
  limited: 'rate',
  unconnectable: 'unreachable',
} as const
const ailments = Object.keys(results) as (keyof typeof results)[]
const proxies: FaultProxy[] = []

beforeAll(async () => {
  vendor = startRawUpstream({
    onData(caller) {
      if (!isComplete(caller)) return
      const { received } = caller
      caller.received = ''
      const named = /recording (\d+)/.exec(received)?.[1]
      const isStream = received.includes('"stream":true')
      const recording = named ? recordings[Number(named)] : isStream ? STREAM : REPLY
      if (!recording) return
      caller.socket.write(recording.bytes)
      if (recording.framing === 'close') caller.socket.shutdown()
    },
  })
  limited = startRawUpstream({
    onData: (caller) => void caller.socket.write('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n'),
  })
  toUpstream = new FaultProxy({ port: vendor.port })
  const hole = new FaultProxy({ port: vendor.port, plan: () => ({ down: { holeAfterBytes: 0 } }) })
  const lateHole = new FaultProxy({ port: vendor.port, plan: () => ({ down: { holeAfterBytes: 150 } }) })
  const reset = new FaultProxy({ port: vendor.port, plan: () => ({ up: { cut: { afterBytes: 1, by: 'rst' } } }) })
  proxies.push(toUpstream, hole, lateHole, reset)
  stuck = await startStuck()
  const ports = {
    dead: await freePort(),
    reset: reset.port,
    hole: hole.port,
    'late-hole': lateHole.port,
    limited: limited.port,
    unconnectable: stuck.port,
  }
  const price = 'price: { input: 1, output: 2 }'
  const providers = ailments.map(
    (name) => `  ${name}: { base_url: 'http://127.0.0.1:${ports[name]}/v1', allow_private: true }`,
  )
  const models = ailments.map(
    (name) => `  ${name}:
    ${price}
    first_event_timeout_ms: ${FIRST_EVENT_TIMEOUT_MS}
    offers: [{ provider: good, model: a }, { provider: good, model: b }, { provider: ${name}, model: c }]`,
  )
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
  good: { base_url: '${vendor.origin}/v1', allow_private: true }
  slow: { base_url: '${toUpstream.origin}/v1', allow_private: true }
${providers.join('\n')}
models:
  plain: { ${price}, offers: [{ provider: slow, model: a }] }
${models.join('\n')}
`,
    env: { TOLLGATE_LOG: 'warn' },
  })
  toGateway = new FaultProxy({ port: Number(new URL(gateway.baseUrl).port) })
  proxies.push(toGateway)
}, 30_000)
afterAll(async () => {
  await gateway.close()
  for (const proxy of proxies) proxy.stop()
  vendor.stop()
  limited.stop()
  stuck.stop()
}, 30_000)

async function freePort(): Promise<number> {
  const upstream = startRawUpstream({})
  upstream.stop()
  await Bun.sleep(10)
  return upstream.port
}

type Stuck = { readonly port: number; stop(): void }

/**
 * A port that takes no connection and refuses none: its process is stopped and its backlog full, so that the kernel
 * drops whatever would open another.
 */
async function startStuck(): Promise<Stuck> {
  const program = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    console.log(this.address().port) })`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  child.kill('SIGSTOP')
  const fillers: Socket[] = []
  for (let isOpen = true; isOpen && fillers.length < 1_000;) {
    const socket = connect(port, '127.0.0.1')
    fillers.push(socket)
    isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
      setTimeout(resolve, 300, false)
    })
  }
  return {
    port,
    stop() {
      for (const socket of fillers) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}

type Ask = { readonly model: string; readonly stream: boolean; readonly content?: string }

async function ask(key: string, port: number, { content = 'hello', ...rest }: Ask): Promise<WireAnswer> {
  const body = { ...rest, max_tokens: 1_000, messages: [{ role: 'user', content }] }
  return (await ChatWire.send({ port, key, body })).whole()
}

const gatewayPort = (): number => Number(new URL(gateway.baseUrl).port)

const toxics: fc.Arbitrary<Toxics> = fc.record(
  {
    latencyMs: fc.integer({ min: 1, max: 15 }),
    jitterMs: fc.integer({ min: 1, max: 15 }),
    bytesPerSecond: fc.integer({ min: 20_000, max: 200_000 }),
    slice: fc.record({ bytes: fc.integer({ min: 1, max: 60 }), pauseMs: fc.constant(0) }),
  },
  { requiredKeys: [] },
)

test('no delay, no narrow line and no cutting into pieces, before us or behind us, changes a byte of an answer', async () => {
  const asks = recordings.map((recording, i) => ({
    model: 'plain',
    stream: !('json' in recording),
    content: `recording ${i}`,
  }))
  const plain = await Promise.all(asks.map((one) => ask(gateway.key, gatewayPort(), one)))
  expect(plain.every(({ status, isWhole }) => status === 200 && isWhole)).toBe(true)
  const property = fc.asyncProperty(
    fc.record({ up: toxics, down: toxics }),
    fc.record({ up: toxics, down: toxics }),
    async (before, behind) => {
      toGateway.plan = () => before
      toUpstream.plan = () => behind
      for (const link of toUpstream.links.values()) link.set(behind)
      const answers = await Promise.all(asks.map((one) => ask(gateway.key, toGateway.port, one)))
      expect(answers.map(({ body }) => body)).toEqual(plain.map(({ body }) => body))
      expect(answers.every(({ isWhole }) => isWhole)).toBe(true)
    },
  )
  await fc.assert(property, { numRuns: 25 })
}, 60_000)

type Row = { id: string; attempts: string; charged: string; total_ms: string }
type Tally = {
  readonly failures: string[]
  readonly attempts: number
  /** How attempts ended. */
  readonly results: Set<string>
  readonly charges: Set<string>
  readonly slowestMs: number
}

/** Sends requests, twenty at a time, from an account of their own. */
async function burst(model: string, count: number, kinds: readonly boolean[]): Promise<Tally> {
  const name = `${model}-${count}-${kinds.length}`
  await gateway.operate('account.create', { name, balance: '100' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  const failures: string[] = []
  const work = async (first: number): Promise<void> => {
    for (let i = first; i < count; i += 20) {
      const { status, isWhole, body } = await ask(key, gatewayPort(), {
        model,
        stream: kinds[i % kinds.length] ?? true,
      })
      if (status !== 200 || !isWhole || body.includes('"error"')) failures.push(`${status} ${body.slice(-200)}`)
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, i) => work(i)))
  const rows = await gateway.operate<Row[]>('request.list', { account: name, limit: 1_000 })
  expect(rows).toHaveLength(count)
  const attempts = rows.flatMap((row) => JSON.parse(row.attempts) as { result: string }[])
  return {
    failures,
    attempts: attempts.length,
    results: new Set(attempts.map(({ result }) => result)),
    charges: new Set(rows.map(({ charged }) => charged)),
    slowestMs: Math.max(...rows.map(({ total_ms: ms }) => Number(ms))),
  }
}

describe('one of three upstreams', () => {
  test.each(ailments)(
    'is %s: streams are answered from the first on, and once that is known with hardly a call more',
    async (ailment) => {
      const learning = await burst(ailment, 60, [true])
      expect(learning.failures).toEqual([])
      expect(learning.results).toEqual(new Set(['ok', results[ailment]]))
      // Each upstream has the time that is allowed before the first event, and no more: connecting counts.
      expect(learning.slowestMs).toBeLessThan(3_000)
      const { failures, attempts, charges } = await burst(ailment, 1_000, [true, false])
      expect(failures).toEqual([])
      expect(attempts).toBeLessThanOrEqual(1_200)
      // A stream and a reply have a price each, whoever was asked before.
      expect(charges.size).toBe(2)
      console.log(`  ${ailment}: while learning ${learning.attempts} calls for 60, then ${attempts} for 1000`)
    },
    60_000,
  )
})
