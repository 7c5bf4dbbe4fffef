/**
 * Answers in the right format arrive unchanged: words, tool arguments, unknown fields, spaces and escapes, in random
 * streams and whole replies. Only `model` is replaced by the public name.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const COUNT = countOf('fidelity')
const AT_ONCE = 16

/** A number in [0, 1) at each call, the same ones for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

const ALPHABETS = [
  'abcdefghij KLMNOP.,;:',
  'äßçñøÅ 漢字かな한국어 عربي',
  '"\\/\b\f\n\r\t',
  '{}[]:,"data: event: [DONE]',
  '😀👩‍👩‍👧🏳️‍🌈',
]

/** Writes JSON in one of the many ways it can be written. */
class Writer {
  readonly random: () => number
  /** As programs write it, the same way every time. */
  readonly isPlain: boolean

  constructor(random: () => number) {
    this.random = random
    this.isPlain = random() < 0.5
  }

  upTo(most: number): number {
    return Math.floor(this.random() * (most + 1))
  }

  pick<T>(values: readonly T[]): T {
    return values[this.upTo(values.length - 1)] as T
  }

  chance(part: number): boolean {
    return this.random() < part
  }

  space(): string {
    return this.isPlain || this.chance(0.9) ? '' : this.pick([' ', '  ', '\t'])
  }

  words(most: number): string {
    const characters = Array.from(this.pick(ALPHABETS))
    return Array.from({ length: this.upTo(most) }, () => this.pick(characters)).join('')
  }

  text(value: string): string {
    let written = ''
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      const escaped = `\\u${code.toString(16).padStart(4, '0')}`
      // Half of a pair would be another character on its own.
      const isHalf = code >= 0xd800 && code <= 0xdfff
      if (!isHalf && !this.isPlain && this.chance(0.03)) written += escaped
      else if (value[i] === '/' && !this.isPlain) written += '\\/'
      else written += isHalf ? value[i] : JSON.stringify(value[i]).slice(1, -1)
    }
    return `"${written}${this.chance(0.002) ? '\\ud83d' : ''}"`
  }

  value(depth: number): string {
    const kind = this.upTo(depth > 0 ? 5 : 3)
    if (kind === 0) return this.text(this.words(12))
    if (kind === 1) return this.pick(['0', '-1', '1.50', '1e3', '12345678901234567890', '0.1e-7'])
    if (kind === 2) return this.pick(['true', 'false'])
    if (kind === 3) return 'null'
    const parts = Array.from({ length: this.upTo(3) }, () => this.value(depth - 1))
    if (kind === 4) return `[${parts.join(`${this.space()},${this.space()}`)}]`
    return this.object(parts.map((part, i) => [`k${i}`, part]))
  }

  object(members: readonly (readonly [string, string])[]): string {
    const written = members.map(([key, value]) => `${this.space()}"${key}"${this.space()}:${this.space()}${value}`)
    return `{${written.join(',')}${this.space()}}`
  }

  /** Members in any order, now and then with some that no format knows. */
  shuffled(members: readonly (readonly [string, string])[]): (readonly [string, string])[] {
    const all = [...members]
    if (this.chance(0.2)) all.push(['x_vendor', this.value(2)])
    if (this.isPlain) return all
    return all
      .map((member) => ({ member, at: this.random() }))
      .toSorted((a, b) => a.at - b.at)
      .map((one) => one.member)
  }
}

const MODEL = '\u{f8f0}'

type Case = { readonly sent: string; readonly expected: string; readonly pieces: readonly Buffer[] }

/** What goes out with the vendor's name of the model, and comes with the public one. */
const named = (text: string, model: string): string => text.replaceAll(MODEL, JSON.stringify(model))

function toolCalls(writer: Writer, index: number): string {
  const call = writer.object(
    writer.shuffled([
      ['index', String(index)],
      ['id', writer.text(`call_${index}_${writer.upTo(99)}`)],
      ['type', '"function"'],
      [
        'function',
        writer.object([
          ['name', '"look_up"'],
          ['arguments', writer.text(`{${writer.words(30)}`)],
        ]),
      ],
    ]),
  )
  return `[${call}]`
}

/** `calls`: how many came before. */
function delta(writer: Writer, calls: number): string {
  const kind = writer.chance(0.6) ? 0 : writer.upTo(5)
  if (kind <= 2) return writer.object([['content', writer.text(writer.words(10))]])
  if (kind === 3) return writer.object([['tool_calls', toolCalls(writer, calls)]])
  if (kind === 4) return writer.object(writer.shuffled([['reasoning_content', writer.text(writer.words(20))]]))
  return writer.object(
    writer.shuffled([
      ['content', writer.text(writer.words(20))],
      ['refusal', 'null'],
    ]),
  )
}

function streamed(writer: Writer): Case {
  const head = [
    ['id', '"chatcmpl-1"'],
    ['object', '"chat.completion.chunk"'],
    ['created', '1'],
    ['model', MODEL],
  ] as const
  const event = (choice: readonly (readonly [string, string])[]): string => {
    const members = [...head, ['choices', `[${writer.object(choice)}]`]] as const
    return writer.object(writer.chance(0.8) ? members : writer.shuffled(members))
  }
  const events = [
    event([
      ['index', '0'],
      ['delta', '{"role":"assistant","content":""}'],
      ['finish_reason', 'null'],
    ]),
  ]
  let calls = 0
  for (let i = writer.upTo(30); i >= 0; i--) {
    const brought = delta(writer, calls)
    if (brought.includes('"tool_calls"')) calls++
    events.push(
      event([
        ['index', '0'],
        ['delta', brought],
        ['finish_reason', 'null'],
      ]),
    )
  }
  events.push(
    event([
      ['index', '0'],
      ['delta', '{}'],
      ['finish_reason', calls > 0 ? '"tool_calls"' : '"stop"'],
    ]),
  )
  events.push('[DONE]')
  const framed = events.map((data) => {
    const comment = writer.chance(0.05) ? ': still there\n\n' : ''
    return `${comment}data:${writer.pick(['', ' '])}${data}${writer.pick(['\n\n', '\r\n\r\n'])}`
  })
  const sent = named(framed.join(''), 'vendor-model')
  return {
    sent,
    expected: named(events.map((data) => `data: ${data}\n\n`).join(''), 'plain'),
    pieces: slices(writer, sent),
  }
}

function whole(writer: Writer): Case {
  const message = writer.shuffled([
    ['role', '"assistant"'],
    ['content', writer.text(writer.words(200))],
    ['tool_calls', toolCalls(writer, 0)],
  ])
  const choice = writer.shuffled([
    ['index', '0'],
    ['message', writer.object(message)],
    ['finish_reason', '"tool_calls"'],
  ])
  const text = writer.object(
    writer.shuffled([
      ['id', '"chatcmpl-1"'],
      ['object', '"chat.completion"'],
      ['created', '1'],
      ['model', MODEL],
      ['choices', `[${writer.object(choice)}]`],
      ['usage', '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}'],
    ]),
  )
  const sent = named(text, 'vendor-model')
  return { sent, expected: named(text, 'plain'), pieces: slices(writer, sent) }
}

/** In pieces that end anywhere, in the middle of a character too. */
function slices(writer: Writer, text: string): readonly Buffer[] {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  const most = writer.pick([7, 60, 700, 100_000])
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + writer.upTo(most)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

const cases = new Map<string, Case>()
let vendor: Bun.Server<unknown>
let gateway: TestGateway

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { messages, stream } = (await request.json()) as { messages: { content: string }[]; stream?: boolean }
      const { pieces = [] } = cases.get(messages[0]?.content ?? '') ?? {}
      const type = stream ? 'text/event-stream' : 'application/json'
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          for (const piece of pieces) {
            controller.enqueue(piece)
            await Bun.sleep(0)
          }
          controller.close()
        },
      })
      return new Response(body, { headers: { 'content-type': type } })
    },
  })
  gateway = await startGateway({
    balanceUsd: '100000',
    env: { TOLLGATE_LOG: 'warn' },
    yaml: `
sandbox: false
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models: { plain: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: vendor-model }] } }
`,
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 60_000)

test(`${COUNT} random answers arrive as they were written`, async () => {
  const seed = seedOfRun()
  let [next, bytes] = [0, 0]
  const ask = async (): Promise<void> => {
    while (next < COUNT) {
      const i = next++
      const name = `case ${i}`
      const stream = i % 4 !== 3
      const made = (stream ? streamed : whole)(new Writer(randomOf(seed + i)))
      cases.set(name, made)
      const answer = await chat(gateway, { model: 'plain', stream, messages: [{ role: 'user', content: name }] })
      const text = await answer.text()
      cases.delete(name)
      if (answer.status !== 200 || text !== made.expected) {
        expect({ seed, i, status: answer.status, text }).toEqual({ seed, i, status: 200, text: made.expected })
      }
      bytes += made.sent.length
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  reportFigure(`${COUNT} answers, ${(bytes / 1024 / 1024).toFixed(1)} MB: no byte changed but the model's name`)
}, 600_000)
