/** Each time limit of a request, for clients and upstreams, with short limits. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawClient } from '../support/raw-client.ts'
import { isComplete, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'

const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const word = (content: string, finish: string | null = null): string =>
  chunk(
    `data: ${JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })}\n\n`,
  )
const DONE = chunk('data: [DONE]\n\n') + '0\r\n\r\n'

/** What a vendor does with a request, by the name of the model. */
const scripts: Record<string, (write: (text: string) => void, again: (everyMs: number, text: string) => void) => void> =
  {
    mute: () => undefined,
    'only-comments': (write, again) => {
      write(STREAM_HEAD)
      again(50, chunk(': still here\n\n'))
    },
    stops: (write) => write(STREAM_HEAD + word('Hello')),
    'stops-with-comments': (write, again) => {
      write(STREAM_HEAD + word('Hello'))
      again(50, chunk(': still here\n\n'))
    },
    endless: (write, again) => {
      write(STREAM_HEAD)
      again(20, word('again '))
    },
    floods: (write, again) => {
      write(STREAM_HEAD)
      again(0, word('x'.repeat(2_000)).repeat(30))
    },
    'slow-to-start': (write) => void setTimeout(() => write(STREAM_HEAD + word('Hi', 'stop') + DONE), 700),
  }

let upstream: RawUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = startRawUpstream({
    onData(caller) {
      if (!isComplete(caller)) return
      const model = /"model":"([\w-]+)"/.exec(caller.received)?.[1] ?? ''
      caller.received = ''
      let isOpen = true
      const write = (text: string): void => {
        if (caller.socket.write(text) < 0) isOpen = false
      }
      scripts[model]?.(write, (everyMs, text) => {
        const repeat = (): void => {
          if (!isOpen || caller.socket.readyState !== 1) return
          write(text)
          setTimeout(repeat, everyMs)
        }
        repeat()
      })
    },
  })
  const models = Object.keys(scripts).map(
    (name) =>
      `  ${name}: { price: { input: 1, output: 2 }, first_event_timeout_ms: ${
        name === 'slow-to-start' ? 5000 : 300
      }, offers: [{ provider: vendor, model: ${name} }] }`,
  )
  gateway = await startGateway({
    yaml: `
providers: { vendor: { base_url: '${upstream.origin}/v1', allow_private: true } }
models:
${models.join('\n')}
  rescued:
    price: { input: 1, output: 2 }
    first_event_timeout_ms: 300
    offers: [{ provider: vendor, model: mute }, { provider: sandbox, model: sandbox-chat, priority: 1 }]
`,
    env: {
      TOLLGATE_EVENT_GAP_TIMEOUT_MS: '300',
      TOLLGATE_HEARTBEAT_MS: '200',
      TOLLGATE_STALL_TIMEOUT_MS: '1000',
      TOLLGATE_REQUEST_TIMEOUT_MS: '2000',
      TOLLGATE_WHOLE_REPLY_TIMEOUT_MS: '400',
    },
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  upstream.stop()
}, 30_000)

type Row = { id: string; outcome: string; charged: string; status: string; output_text: string }
let serial = 0
async function member(): Promise<{ name: string; key: string; baseUrl: string; records(): Promise<Row[]> }> {
  const name = `patient-${serial++}`
  await gateway.operate('account.create', { name, balance: '10' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return { name, key, baseUrl: gateway.baseUrl, records: () => gateway.operate('request.list', { account: name }) }
}

async function timed(response: Promise<Response>): Promise<{ status: number; text: string; tookMs: number }> {
  const startedMs = performance.now()
  const { status, ...answer } = await response.then(async (got) => ({ status: got.status, text: await got.text() }))
  return { status, text: answer.text, tookMs: performance.now() - startedMs }
}

describe('an upstream that keeps silent', () => {
  test('before its first event: the next offer, or 504 and nothing charged', async () => {
    const who = await member()
    const rescued = await timed(chat(who, { model: 'rescued', stream: true, max_tokens: 3 }))
    expect(rescued.text).toEndWith('data: [DONE]\n\n')
    const alone = await timed(chat(who, { model: 'mute', stream: true }))
    expect(alone.text).toContain('"code":"upstream_timeout"')
    expect(alone.text).not.toContain('[DONE]')
    expect(alone.tookMs).toBeWithin(250, 5_000)
    // Heartbeats had begun, behind a 200.
    expect(alone.status).toBe(200)
    const failed = { outcome: 'failed', charged: '0', status: '200', error_code: 'upstream_timeout' }
    expect((await who.records())[0]).toMatchObject(failed)
  })

  test('comments are not events', async () => {
    const { text, tookMs } = await timed(chat(await member(), { model: 'only-comments', stream: true }))
    expect(text).toContain('"code":"upstream_timeout"')
    expect(tookMs).toBeWithin(250, 5_000)
  })

  test.each(['stops', 'stops-with-comments'])(
    'in the middle: an error in the band, and what came is paid (%s)',
    async (model) => {
      const who = await member()
      const { status, text, tookMs } = await timed(chat(who, { model, stream: true }))
      expect(status).toBe(200)
      expect(text).toContain('Hello')
      expect(text).toContain('"code":"upstream_timeout"')
      expect(text).not.toContain('[DONE]')
      expect(tookMs).toBeWithin(250, 5_000)
      const [record] = await who.records()
      expect(record).toMatchObject({ outcome: 'cut' })
      expect(Number(record?.charged)).toBeGreaterThan(0)
    },
  )

  test('a whole answer has its own limit and is not asked of a second vendor', async () => {
    const who = await member()
    const { status, tookMs } = await timed(chat(who, { model: 'rescued' }))
    expect(status).toBe(504)
    expect(tookMs).toBeWithin(350, 5_000)
  })
})

test('a stream that waits gets its headers and comments at the heartbeat', async () => {
  const who = await member()
  const startedMs = performance.now()
  const response = await chat(who, { model: 'slow-to-start', stream: true })
  expect(performance.now() - startedMs).toBeWithin(150, 690)
  const text = await response.text()
  expect(text).toMatch(/^(: ping\n){2,4}data: /)
  expect(text).toEndWith('data: [DONE]\n\n')
})

describe('the whole request', () => {
  test('is ended after its limit though events come; what came is paid', async () => {
    const who = await member()
    const { text, tookMs } = await timed(chat(who, { model: 'endless', stream: true }))
    expect(tookMs).toBeWithin(1_900, 9_000)
    expect(text).toContain('exceeded its maximum duration')
    expect(text).not.toContain('[DONE]')
    const [record] = await who.records()
    expect(record).toMatchObject({ outcome: 'cut', status: '200' })
    expect(Number(record?.output_text)).toBeGreaterThan(20)
  })
})

describe('a client that is slow', () => {
  const head = (key: string, length: number): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

  test('to read is cut off, its upstream stopped, what was sent is paid', async () => {
    const who = await member()
    const client = await rawClient(Number(new URL(gateway.baseUrl).port))
    // More than a connection has room for: an answer that passes its limit by far would be cut for that.
    const asked = { model: 'floods', stream: true, max_tokens: 200_000, messages: [{ role: 'user', content: 'hi' }] }
    const body = JSON.stringify(asked)
    client.socket.pause()
    client.send(head(who.key, body.length) + body)
    const startedMs = performance.now()
    while ((await who.records()).length === 0 && performance.now() - startedMs < 6_000) await Bun.sleep(50)
    expect(performance.now() - startedMs).toBeWithin(900, 9_000)
    const [record] = await who.records()
    expect(record).toMatchObject({ outcome: 'client_closed' })
    expect(Number(record?.charged)).toBeGreaterThan(0)
    client.socket.destroy()
  })
})
