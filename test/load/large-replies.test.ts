/** Many long whole replies at once are read within the memory limit, and all of them arrive. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const CALLS = countOf('large-replies')
const WORDS = 'word '.repeat((16 * MIB) / 5)
const MEMORY_MIB = 1_024
/** Sixty in memory at once take 2,600 to 3,400, forty two thirds of it; on an idle machine they come to 500 to 750. */
const PEAK_MIB_MAX = 1.5 * MEMORY_MIB

const reply = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const bytes = Buffer.from(reply)
const LARGE = { model: 'large', max_tokens: 1 }

/** 8 MB of an answer, and no more. */
function hanging(): Response {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
    controller.enqueue(bytes.subarray(0, 8 * MIB))
  return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'application/json' } })
}

/** Sends what it can of an answer for a second, and then resets the connection. */
const impatient = (): Server =>
  createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`)
      socket.write(bytes.subarray(0, bytes.length - 1))
      setTimeout(() => socket.resetAndDestroy(), 1_000)
    })
  }).listen(0, '127.0.0.1')

let gateway: TestGateway
let hurried: Server
let vendor: Bun.Server<undefined>
let chunked = false
let asked = 0
/** Of answers in chunks, what the gateway has taken so far. */
let takenBytes = 0

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const { model } = (await request.json()) as { model: string }
      if (model === 'hanging') return hanging()
      asked++
      const headers = { 'content-type': 'application/json' }
      // All of them begin before any is sent, so that they are under way at once.
      while (asked < CALLS) await Bun.sleep(10)
      if (!chunked) return new Response(bytes, { headers })
      let at = 0
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        controller.enqueue(bytes.subarray(at, (at += MIB)))
        takenBytes += MIB
        if (at >= bytes.length) controller.close()
      }
      return new Response(new ReadableStream({ pull }), { headers })
    },
  })
  hurried = impatient()
  await once(hurried, 'listening')
  const { port } = hurried.address() as AddressInfo
  gateway = await startGateway({
    env: { TOLLGATE_MEMORY_BYTES_MAX: String(MEMORY_MIB * MIB), TOLLGATE_LOG: 'warn' },
    yaml: `
providers:
  writer: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
  impatient: { base_url: 'http://127.0.0.1:${port}/v1', allow_private: true }
models:
  impatient:
    price: { input: 1, output: 1 }
    offers: [{ provider: impatient, model: m }, { provider: writer, model: m, priority: 9 }]
  large: { price: { input: 1, output: 1 }, offers: [{ provider: writer, model: m }] }
  hanging: { price: { input: 1, output: 1 }, offers: [{ provider: writer, model: hanging }] }
`,
  })
})
afterAll(async () => {
  await gateway?.close()
  await vendor?.stop(true)
  hurried?.close()
})

const peakMib = (): number =>
  existsSync('/proc/self/status')
    ? Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024
    : 0

/** The size of an answer, which is read and forgotten. */
async function sizeOf(response: Response): Promise<number> {
  let size = 0
  for await (const part of response.body ?? []) size += part.length
  return size
}

test.each([false, true])(
  `of ${CALLS} answers of 16 MB every one arrives, though the vendor says how long they are: not (%p)`,
  async (isChunked) => {
    chunked = isChunked
    asked = 0
    const calls = Array.from({ length: CALLS }, async () => {
      const response = await chat(gateway, LARGE)
      return [response.status, await sizeOf(response)] as const
    })
    const answers = await Promise.all(calls)
    expect(answers.map(([status]) => status)).toEqual(Array.from({ length: CALLS }, () => 200))
    for (const [, size] of answers) expect(size).toBeGreaterThan(WORDS.length)
    reportFigure(`${CALLS} answers of 16 MB at once: memory at its height ${Math.round(peakMib())} MiB`)
    expect(peakMib()).toBeLessThan(PEAK_MIB_MAX)
  },
  120_000,
)

/** Until all answers under way wait. Before that another may be read as it comes, whatever its account has. */
async function untilNothingIsTaken(): Promise<void> {
  // On a busy machine nothing may be taken for a while.
  for (let [before, quiet] = [-1, 0]; quiet < 4; quiet = takenBytes === before ? quiet + 1 : 0) {
    before = takenBytes
    await Bun.sleep(500)
  }
}

test('an account whose clients do not read keeps its share of it, and nobody else waiting', async () => {
  asked = CALLS
  chunked = true
  const name = `idle-${Date.now()}`
  const account = await gateway.operate<{ id: string }>('account.create', { name, balance: '100' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  const body = JSON.stringify({ ...LARGE, messages: [{ role: 'user', content: 'x' }] })
  const { port } = new URL(gateway.baseUrl)
  const head = ['POST /v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${secret}`]
  const type = ['content-type: application/json', `content-length: ${body.length}`, '', body]
  const idle = await Promise.all(
    Array.from({ length: 12 }, () =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: Number(port),
        socket: {
          open(socket) {
            socket.pause()
            socket.write([...head, ...type].join('\r\n'))
          },
          data: () => expect.unreachable(),
        },
      }),
    ),
  )
  using _ = { [Symbol.dispose]: () => idle.forEach((socket) => socket.terminate()) }
  while (asked < CALLS + idle.length) await Bun.sleep(10)
  for (let i = 0; i < 3; i++) {
    const response = await chat(gateway, LARGE)
    expect([response.status, (await sizeOf(response)) > WORDS.length]).toEqual([200, true])
  }
  // Two have been read, in the share there is; the others wait with their vendors.
  const records = await gateway.operate<readonly unknown[]>('request.list', { account: account.id })
  expect(records.length).toBeGreaterThan(0)
  expect(records.length).toBeLessThan(idle.length / 2)
  // A vendor that gives up one that waits is not at fault, and the answer that it may bill is not asked for again.
  await untilNothingIsTaken()
  const before = asked
  const ask = (): Promise<Response> => chat({ ...gateway, key: secret }, { ...LARGE, model: 'impatient' })
  let lost = await ask()
  // What was read for the others may be more than the process has, for a moment: then nobody is asked.
  while (lost.headers.get('retry-after') === '1') {
    await Bun.sleep(200)
    lost = await ask()
  }
  expect([lost.status, lost.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await lost.text()).toContain('no memory left for the answer. Nothing was charged')
  expect(asked).toBe(before)
  expect(await gateway.metrics()).toMatch(/upstream_attempts_total\{provider="impatient",result="unread"\} 1/)
}, 60_000)

test('answers that never end keep those of others waiting for a moment, and no vendor is blamed for it', async () => {
  chunked = true
  asked = CALLS
  const stop = new AbortController()
  const hung = Array.from({ length: 12 }, () => chat(gateway, { ...LARGE, model: 'hanging' }, { signal: stop.signal }))
  await Bun.sleep(300)
  const others = Array.from({ length: 4 }, async () => {
    const response = await chat(gateway, LARGE)
    return [response.status, (await sizeOf(response)) > WORDS.length]
  })
  expect(await Promise.all(others)).toEqual(Array.from({ length: 4 }, () => [200, true]))
  stop.abort()
  await Promise.allSettled(hung)
  expect(await gateway.metrics()).not.toMatch(/upstream_attempts_total\{provider="writer",result="timeout"\}/)
}, 60_000)
