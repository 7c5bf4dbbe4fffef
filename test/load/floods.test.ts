/** A large burst on one connection must not delay the others, even if it is cheap to send. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import sharp from 'sharp'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawClient } from '../support/raw-client.ts'
import { photo } from '../support/test-pictures.ts'
import { TICK_MS_MAX, tickMeter, withLongestTick } from '../support/tick-report.ts'

/** Of one connection that never stops asking: without a bound it was 400 within seconds. */
const AHEAD_MB_MAX = 100

const residentMb = (): number =>
  (Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 1024 / 1024

let gateway: TestGateway
let penniless: string
let vendor: Bun.Server<undefined>

const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
const withMember = (value: string): string => `{"odd":${value},${JSON.stringify({ ...reply, choices }).slice(1)}`
/** What a broken vendor answers, by the name of the model. */
const broken: Record<string, () => Response> = {
  deep: () => new Response(withMember('['.repeat(5_000_000) + ']'.repeat(5_000_000))),
  'deep-error': () => new Response(`{"error":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`, { status: 500 }),
  'deep-event': () =>
    new Response(`data: ${withMember('['.repeat(400_000) + ']'.repeat(400_000))}\n\ndata: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    }),
}

beforeAll(async () => {
  const folder = freshFolder()
  const { preload, env } = tickMeter(folder)
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) =>
      broken[((await request.json()) as { model: string }).model]?.() ?? new Response('', { status: 404 }),
  })
  const models = Object.keys(broken).map(
    (id) => `  ${id}: { price: { input: 1, output: 2 }, offers: [{ provider: broken, model: ${id} }] }`,
  )
  const yaml = `
providers:
  broken: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
models:
${models.join('\n')}`
  gateway = await startGateway({ yaml, folder, preload, env })
  await gateway.operate('account.create', { name: 'penniless', balance: '0.01' })
  penniless = (await gateway.operate<{ secret: string }>('key.create', { account: 'penniless', name: 'k' })).secret
  // What is loaded with a first request is not what is measured here.
  const edit = new FormData()
  edit.set('model', 'sandbox-image')
  const headers = { authorization: `Bearer ${penniless}` }
  await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: edit })
  await fetch(new URL('/docs', gateway.baseUrl))
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
})

/** Sends it, and waits for so many answers. */
async function longestTick(bytes: Buffer, answers: number): Promise<number> {
  const { longestMs } = await withLongestTick(gateway, async () => {
    const client = await rawClient(Number(new URL(gateway.baseUrl).port))
    client.send(bytes)
    const giveUpMs = performance.now() + 50_000
    while (client.statuses.length < answers && client.ending === 'open' && performance.now() < giveUpMs) {
      await Bun.sleep(200)
    }
    client.close()
    expect(client.statuses).toHaveLength(answers)
  })
  console.log(`${bytes.length} bytes, ${answers} answers, longest tick ${longestMs.toFixed(1)} ms`)
  return longestMs
}

test('a client that sends ahead without end has no more waiting than others can bear', async () => {
  const socket = connect({ port: Number(new URL(gateway.baseUrl).port), host: '127.0.0.1' })
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.resume()
  const request = Buffer.from('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20_000))
  const beforeMb = residentMb()
  const endMs = performance.now() + 4_000
  let [sent, mostMb, slowestMs] = [0, 0, 0]
  while (performance.now() < endMs) {
    if (socket.write(request)) sent += request.length
    else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), Bun.sleep(100)])
    const askedMs = performance.now()
    await (await fetch(new URL('/healthz', gateway.baseUrl))).text()
    slowestMs = Math.max(slowestMs, performance.now() - askedMs)
    mostMb = Math.max(mostMb, residentMb())
  }
  socket.destroy()
  const grownMb = mostMb - beforeMb
  console.log(`${sent} bytes written, ${grownMb.toFixed(0)} MB more at most, others waited ${slowestMs.toFixed(0)} ms`)
  expect(grownMb).toBeLessThan(AHEAD_MB_MAX)
}, 30_000)

test.each([
  ['of nothing that is there', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n', 40_000],
  ['of the largest document, unpacked', 'HEAD /docs/viewer.js HTTP/1.1\r\nhost: x\r\n\r\n', 2_000],
  ['without a key', 'GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n', 40_000],
])(
  'requests %s, sent ahead of their answers',
  async (_, request, count) => {
    expect(await longestTick(Buffer.from(request.repeat(count)), count)).toBeLessThan(TICK_MS_MAX)
  },
  60_000,
)

const inBytes = (text: string): string => text.replace(/[^]/g, '1\r\n$&\r\n')
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const head = (path: string, type: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${penniless}\r\ncontent-type: ${type}\r\n` +
  'transfer-encoding: chunked\r\n\r\n'
const part = (name: string, rest = ''): string =>
  chunk(`--b\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n`)
const one = inBytes('a')

test.each<[string, () => string]>([
  ['a file of a form', () => part('image[]', '; filename="a.png"') + one.repeat(3_000_000) + chunk('\r\n')],
  [
    'fields of a form',
    () => Array.from({ length: 12 }, (_, i) => part(`f${i}`) + one.repeat(250_000) + chunk('\r\n')).join(''),
  ],
])(
  'chunks of a byte: %s',
  async (_, body) => {
    const text = head('/v1/images/edits', 'multipart/form-data; boundary=b') + body() + chunk('--b--\r\n') + '0\r\n\r\n'
    expect(await longestTick(Buffer.from(text), 1)).toBeLessThan(TICK_MS_MAX)
  },
  60_000,
)

test('chunks of a byte: JSON', async () => {
  const text =
    head('/v1/chat/completions', 'application/json') +
    inBytes('{"model":"nothing","messages":[{"role":"user","content":"') +
    one.repeat(4_000_000) +
    inBytes('"}]}') +
    '0\r\n\r\n'
  expect(await longestTick(Buffer.from(text), 1)).toBeLessThan(TICK_MS_MAX)
}, 60_000)

test.each(Object.keys(broken))('a vendor whose answer is out of all proportion: %s', async (model) => {
  const { longestMs } = await withLongestTick(gateway, async () => {
    const answer = await chat(gateway, { model, stream: model === 'deep-event' })
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('"code":"upstream_error"')])
  })
  console.log(`${model}: longest tick ${longestMs.toFixed(1)} ms`)
  expect(longestMs).toBeLessThan(TICK_MS_MAX)
})

test.each([false, true])(
  'large pictures edited by the built-in vendor, with a mask: %p',
  async (isMasked) => {
    const picture = await sharp(photo(4_000, 4_000)).jpeg({ quality: 80 }).toBuffer()
    const form = new FormData()
    for (const [name, value] of Object.entries({ model: 'sandbox-image', prompt: 'a red door' })) form.set(name, value)
    for (let i = 0; i < 3; i++) form.append('image[]', new Blob([new Uint8Array(picture)]), 'a.jpg')
    const background = { r: 0, g: 0, b: 0, alpha: 0 }
    const holes = sharp({ create: { width: 4_000, height: 4_000, channels: 4, background } }).png()
    if (isMasked) form.set('mask', new Blob([new Uint8Array(await holes.toBuffer())]), 'mask.png')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const { longestMs } = await withLongestTick(gateway, async () => {
      const answer = await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
      expect([answer.status, (await answer.json()) as object]).toMatchObject([200, { data: [{}] }])
    })
    console.log(`three of ${picture.length} bytes, longest tick ${longestMs.toFixed(1)} ms`)
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
  },
  60_000,
)
