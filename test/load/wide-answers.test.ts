/** Answers that are slow to read for their size. A vendor may send them, and other requests must not wait. */
import { expect, test } from 'bun:test'
import sharp from 'sharp'
import { chat, freshFolder } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'
import { TICK_MS_MAX, tickMeter, withLongestTick } from '../support/tick-report.ts'

const REPLY_CHARS = 32_000_000
const EVENT_CHARS = 8_000_000

type Unit = (i: number) => string

function filled(chars: number, unit: Unit): string {
  // Units that are all the same are not made one by one.
  if (unit.length === 0) {
    const one = `${unit(0)},`
    return one.repeat(Math.ceil(chars / one.length)).slice(0, -1)
  }
  const units: string[] = []
  for (let i = 0, sum = 0; sum < chars; i++) {
    const one = unit(i)
    units.push(one)
    sum += one.length + 1
  }
  return units.join(',')
}

const list =
  (unit: Unit) =>
  (chars: number): string =>
    `[${filled(chars, unit)}]`
const members =
  (unit: Unit) =>
  (chars: number): string =>
    `{${filled(chars, unit)}}`
const text =
  (unit: string) =>
  (chars: number): string =>
    `"${unit.repeat(chars / unit.length)}"`
const names = (count: number, unit: Unit): string => Array.from({ length: count }, (_, i) => unit(i)).join(',')

const shapes: Record<string, (chars: number) => string> = {
  'one object of different members': members((i) => `"k${i}":0`),
  'one object of equal members': members(() => '"k":0'),
  'objects of one member, each another': list((i) => `{"k${i}":1}`),
  'objects of 5,000 members, each another': list((i) => `{${names(5_000, (j) => `"k${i}-${j}":0`)}}`),
  'equal objects': list(() => '{"a":1,"b":2}'),
  'empty lists': list(() => '[]'),
  'nested lists': list(() => '['.repeat(100) + ']'.repeat(100)),
  'short numbers': list(() => '1'),
  'long numbers': list((i) => `-0.0${1_234_567 + i}e-9`),
  'empty texts': list(() => '""'),
  'short texts': list((i) => `"some word ${i}"`),
  'escaped texts': list((i) => String.raw`"\u0041 ${i}"`),
  'a text of escapes': text(String.raw`\n`),
  'a text of quotes': text(String.raw`\"`),
  'a text of plain characters': text('abcd'),
  'a text of other characters': text('漢字'),
  blanks: (chars) => `${' '.repeat(chars)}1`,
  digits: (chars) => '1'.repeat(chars),
}

/** An honest answer and event of each dialect, to which the wide member is added. */
const message = { role: 'assistant', content: 'Hi' }
const chatReply = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
}
const dialects: Record<string, { reply: object; event: object }> = {
  chat: {
    reply: chatReply,
    event: { ...chatReply, object: 'chat.completion.chunk', choices: [{ index: 0, delta: message }] },
  },
  messages: {
    reply: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi' }] },
    event: { type: 'ping' },
  },
  gemini: {
    reply: { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
    event: { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] },
  },
  responses: {
    reply: { id: 'r', object: 'response', status: 'completed', model: 'm', output: [] },
    event: { type: 'response.output_text.delta', delta: 'Hi' },
  },
}

let vendor: Bun.Server<undefined>
let answer: () => Response

const withMember = (honest: object, value: string): string => `{"odd":${value},${JSON.stringify(honest).slice(1)}`
const asEvents = (events: string): Response =>
  new Response(events, { headers: { 'content-type': 'text/event-stream' } })

const gateway = useGateway(
  () => {
    const folder = freshFolder()
    const { preload, env } = tickMeter(folder)
    vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() })
    const provider = (dialect: string): string => {
      const preset = {
        chat: '',
        messages: 'preset: anthropic, ',
        gemini: 'preset: gemini, ',
        responses: 'preset: custom-responses, ',
      }
      return `  ${dialect}: { ${preset[dialect as keyof typeof preset]}base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: k }`
    }
    const model = (dialect: string): string =>
      `  ${dialect}: { price: { input: 1, output: 2 }, offers: [{ provider: ${dialect}, model: m }] }`
    const all = Object.keys(dialects)
    const image = `  image:
    kind: image
    price: { input: 5, output: 0, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: chat, model: m }]`
    const models = [...all.map(model), image]
    const yaml = `providers:\n${all.map(provider).join('\n')}\nmodels:\n${models.join('\n')}\n`
    return { yaml, folder, preload, env }
  },
  () => vendor.stop(true),
)

/** What the client gets, and how long the serving thread was at it at most. */
async function answered(model: string, stream: boolean): Promise<{ status: number; text: string; longestMs: number }> {
  const { did, longestMs } = await withLongestTick(gateway, async () => {
    const got = await chat(gateway, { model, stream })
    return { status: got.status, text: await got.text() }
  })
  return { ...did, longestMs }
}

/**
 * The chat format in every shape; those that cost the most before they were bounded in another format, too. A seed says
 * which format that is, which half of the other shapes is tried, and whether a shape comes as a reply or as events. In
 * chat, the worst come as both. The long form has every shape as both, and the worst in all formats.
 */
const worst = ['one object of different members', 'objects of one member, each another', 'short texts', 'short numbers']
const others = Object.keys(dialects).filter((dialect) => dialect !== 'chat')
const OTHERS_OF_A_SHAPE = countOf('wide-answers')
const IS_LONG = OTHERS_OF_A_SHAPE >= others.length
const FIRST = seedOfRun()
const cases = [
  ...Object.keys(shapes)
    .filter((shape, at) => IS_LONG || worst.includes(shape) || (FIRST + (at >> 1)) % 2 === 0)
    .map((shape): [string, string] => ['chat', shape]),
  ...worst.flatMap((shape, i) =>
    others
      .filter((_, at) => (FIRST + i + at) % others.length < OTHERS_OF_A_SHAPE)
      .map((dialect): [string, string] => [dialect, shape]),
  ),
]
const comesAs = (form: 'reply' | 'events'): typeof cases =>
  cases.filter(([dialect, shape], at) => {
    const isInTurn = (FIRST + at) % 2 === (form === 'reply' ? 0 : 1)
    return IS_LONG || isInTurn || (dialect === 'chat' && worst.includes(shape))
  })
/** Those that every dialect gets are made once. */
const made = new Map<string, string>()
function valueOf(shape: string, chars: number): string {
  const before = made.get(`${shape} ${chars}`)
  const value = before ?? shapes[shape]?.(chars) ?? expect.unreachable()
  if (worst.includes(shape)) made.set(`${shape} ${chars}`, value)
  return value
}
const wide = (dialect: string, what: 'reply' | 'event', shape: string): string =>
  withMember(dialects[dialect]?.[what] ?? {}, valueOf(shape, what === 'reply' ? REPLY_CHARS : EVENT_CHARS))

test.each(comesAs('reply'))(
  '%s: a reply of %s',
  async (dialect, shape) => {
    const body = wide(dialect, 'reply', shape)
    answer = () => new Response(body)
    const { status, text: said, longestMs } = await answered(dialect, false)
    console.log(`${dialect}, a reply of ${shape}: ${status}, longest tick ${longestMs.toFixed(1)} ms`)
    if (status !== 200) expect([status, said]).toEqual([502, expect.stringContaining('"code":"upstream_error"')])
    expect(status === 200).toBe(shape === 'a text of plain characters')
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
  },
  20_000,
)

test.each(comesAs('events'))(
  '%s: events of %s',
  async (dialect, shape) => {
    const event = `data: ${wide(dialect, 'event', shape)}\n\n`
    answer = () => asEvents(event.repeat(8))
    const { status, longestMs } = await answered(dialect, true)
    console.log(`${dialect}, events of ${shape}: ${status}, longest tick ${longestMs.toFixed(1)} ms`)
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
  },
  20_000,
)

/** Twenty alternatives for each of 20,000 tokens: no honest answer has more values. */
const TOKENS = 20_000
const candidate = (i: number): object => ({ token: ` w${i % 5_000}`, logprob: -i / 1_000, bytes: [32, 119, 48] })
const logprobs = {
  content: Array.from({ length: TOKENS }, (_, i) => ({
    ...candidate(i),
    top_logprobs: Array.from({ length: 20 }, (_unused, j) => candidate(20 * i + j)),
  })),
}
const logprobsResult = {
  topCandidates: Array.from({ length: TOKENS }, (_, i) => ({
    candidates: Array.from({ length: 20 }, (_unused, j) => ({
      token: ` w${j}`,
      tokenId: i + j,
      logProbability: -1 - j,
    })),
  })),
}

test('an honest reply with the probabilities of many tokens arrives as it is', async () => {
  const body = JSON.stringify({ ...chatReply, choices: [{ ...chatReply.choices[0], logprobs }] })
  answer = () => new Response(body)
  const { text: said, longestMs } = await answered('chat', false)
  const { model, choices } = JSON.parse(said) as { model: string; choices: unknown }
  console.log(`probabilities, ${body.length} characters: longest tick ${longestMs.toFixed(1)} ms`)
  expect([model, choices]).toEqual(['chat', (JSON.parse(body) as { choices: unknown }).choices])
  expect(longestMs).toBeLessThan(TICK_MS_MAX)
}, 20_000)

test('the same in the dialect of Gemini, and where a client of another dialect gets none of them', async () => {
  const candidates = [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP', logprobsResult }]
  answer = () => Response.json({ modelVersion: 'm', candidates })
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] })
  const url = new URL('/v1beta/models/gemini:generateContent', gateway.baseUrl)
  const got = await fetch(url, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body,
  })
  const said = (await got.json()) as { modelVersion: string; candidates: unknown }
  expect([said.modelVersion, said.candidates]).toEqual(['gemini', candidates])
  const translated = await answered('gemini', false)
  expect([translated.status, translated.text]).toEqual([200, expect.stringContaining('"content":"Hi"')])
  expect(translated.longestMs).toBeLessThan(TICK_MS_MAX)
}, 20_000)

/** What an image model may answer, and how long the serving thread was at it at most. */
async function imaged(body: string): Promise<{ status: number; longestMs: number }> {
  answer = () => new Response(body)
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const asked = JSON.stringify({ model: 'image', prompt: 'x', quality: 'low', size: '1024x1024' })
  const { did, longestMs } = await withLongestTick(gateway, async () => {
    const got = await fetch(`${gateway.baseUrl}/images/generations`, { method: 'POST', headers, body: asked })
    await got.arrayBuffer()
    return got.status
  })
  return { status: did, longestMs }
}

test.each(worst)(
  'an image model: a reply of %s',
  async (shape) => {
    const { status, longestMs } = await imaged(withMember({ created: 1, data: [] }, shapes[shape]?.(60_000_000) ?? ''))
    console.log(`image, a reply of ${shape}: ${status}, longest tick ${longestMs.toFixed(1)} ms`)
    expect(status).toBe(502)
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
  },
  20_000,
)

test('an image model: an image of 24 MB in base64', async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
  const made = sharp({ create: { width: 2_800, height: 2_800, channels: 3, background: '#fff', noise } })
  const image = await made.png({ compressionLevel: 0 }).toBuffer()
  const { status, longestMs } = await imaged(
    JSON.stringify({ created: 1, data: [{ b64_json: image.toString('base64') }] }),
  )
  console.log(`image of ${image.length} bytes: ${status}, longest tick ${longestMs.toFixed(1)} ms`)
  expect(status).toBe(200)
  expect(longestMs).toBeLessThan(TICK_MS_MAX)
}, 20_000)
