/**
 * Answers of vendors, byte for byte as on the wire, and the meaning of each event for the charge. The shapes are from
 * OpenAI, OpenRouter, vLLM, llama.cpp and Azure (2026-08). The contents are invented.
 */
import type { Tokens } from './token-price.ts'

/** What one event brings, as the vendor means it. */
export type Meaning = {
  /** Output of any kind. */
  readonly words?: string
  /** The last of its kind: the answer is complete without anything after it. */
  readonly isFinish?: true
  readonly isError?: true
  readonly isDone?: true
  /** What the vendor says has been used so far. */
  readonly usage?: Tokens
}

export type Framing = 'chunked' | 'length' | 'close'

export type RecordedStream = {
  readonly name: string
  readonly choices: number
  readonly framing: Framing
  readonly bytes: Buffer
  /** The events, each with the number of bytes after which it is there. */
  readonly events: readonly (Meaning & { readonly endsAt: number })[]
}

export type RecordedReply = {
  readonly name: string
  readonly framing: Framing
  readonly bytes: Buffer
  readonly json: string
}

/** Text of the wire, and what it means if it is an event. */
type Part = { readonly text: string; readonly meaning?: Meaning }

type Shape = {
  readonly name: string
  readonly choices?: number
  readonly framing?: Framing
  /** Payload bytes a chunk; every part is a chunk of its own otherwise. */
  readonly chunkBytes?: number
  readonly parts: readonly Part[]
}

const EVENT_STREAM = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n'
const JSON_REPLY = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

const headOf = (start: string, framing: Framing, bytes: number): string =>
  start +
  {
    chunked: 'transfer-encoding: chunked\r\n\r\n',
    length: `content-length: ${bytes}\r\n\r\n`,
    close: 'connection: close\r\n\r\n',
  }[framing]

/** A payload on the wire, and where on it each of its bytes came to lie. */
function frame(start: string, framing: Framing, pieces: readonly Buffer[]): { bytes: Buffer; places: number[] } {
  const total = pieces.reduce((sum, { length }) => sum + length, 0)
  const wire: Buffer[] = [Buffer.from(headOf(start, framing, total))]
  let length = wire[0]?.length ?? 0
  const places: number[] = []
  const put = (bytes: Buffer): void => {
    wire.push(bytes)
    length += bytes.length
  }
  for (const piece of pieces) {
    if (framing === 'chunked') put(Buffer.from(`${piece.length.toString(16)}\r\n`))
    for (let i = 0; i < piece.length; i++) places.push(length + i)
    put(piece)
    if (framing === 'chunked') put(Buffer.from('\r\n'))
  }
  if (framing === 'chunked') put(Buffer.from('0\r\n\r\n'))
  return { bytes: Buffer.concat(wire), places }
}

function cutUp(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

function record({ name, choices = 1, framing = 'chunked', chunkBytes, parts }: Shape): RecordedStream {
  const texts = parts.map(({ text }) => Buffer.from(text))
  const { bytes, places } = frame(EVENT_STREAM, framing, chunkBytes ? cutUp(Buffer.concat(texts), chunkBytes) : texts)
  let at = 0
  const events = parts.flatMap(({ text, meaning }, i) => {
    at += texts[i]?.length ?? 0
    // Where the end of the connection ends the body, it ends a line and an event as well.
    // A CR ends a line, whether an LF is to follow or not.
    const last = framing === 'close' ? at - (text.length - text.trimEnd().length) : text.endsWith('\r\n') ? at - 1 : at
    return meaning ? [{ ...meaning, endsAt: (places[last - 1] ?? 0) + 1 }] : []
  })
  return { name, choices, framing, bytes, events }
}

type Chunk = {
  readonly delta?: object
  readonly index?: number
  readonly finish?: string
  readonly usage?: Tokens
  readonly more?: object
}

const usageFields = ({ prompt, completion }: Tokens): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

function json({ delta, index = 0, finish, usage, more }: Chunk): string {
  const choices = delta ? [{ index, delta, finish_reason: finish ?? null }] : []
  const about = { id: 'gen-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm-2026' }
  return JSON.stringify({ ...about, choices, ...more, ...(usage ? { usage: usageFields(usage) } : {}) })
}

/** An event of the usual form. */
const event = (chunk: Chunk, meaning: Meaning = {}): Part => ({ text: `data: ${json(chunk)}\n\n`, meaning })
const say = (content: string, chunk: Chunk = {}): Part => event({ ...chunk, delta: { content } }, { words: content })
const role = (index = 0): Part => event({ delta: { role: 'assistant', content: '' }, index })
const finish = (reason = 'stop', isLast = true): Part =>
  event({ delta: {}, finish: reason }, isLast ? { isFinish: true } : {})
const usage = (tokens: Tokens): Part => event({ usage: tokens }, { usage: tokens })
const done: Part = { text: 'data: [DONE]\n\n', meaning: { isDone: true } }
const comment = (text: string): Part => ({ text })

const call = (more: object, words: string): Part => event({ delta: { tool_calls: [{ index: 0, ...more }] } }, { words })

/** Line ends of another system, no space behind the colon, and fields nobody needs. */
const foreign = ({ text, meaning }: Part, id: number): Part => ({
  text: `id:${id}\r\nevent:message\r\n${text.replace('data: ', 'data:').replaceAll('\n', '\r\n')}`,
  ...(meaning ? { meaning } : {}),
})

/** vLLM with continuous_usage_stats: what has been used so far, in every event. */
const counted = (content: string, completion: number): Part => {
  const tokens = { prompt: 40, completion }
  return event({ delta: { content }, usage: tokens }, { words: content, usage: tokens })
}
const thought = (text: string, completion: number): Part => {
  const tokens = { prompt: 40, completion }
  const details = { completion_tokens_details: { reasoning_tokens: completion } }
  const more = { usage: { ...usageFields(tokens), ...details } }
  return event({ delta: { reasoning_content: text }, more }, { words: text, usage: tokens })
}

export const recordedStreams: readonly RecordedStream[] = [
  record({
    name: 'role first, usage last',
    parts: [
      role(),
      say('The'),
      say(' quick "brown"\n'),
      say(' fox'),
      finish(),
      usage({ prompt: 51, completion: 23 }),
      done,
    ],
  }),
  record({
    name: 'tool calls',
    parts: [
      event(
        {
          delta: {
            role: 'assistant',
            content: null,
            tool_calls: [{ index: 0, id: 'call_7', type: 'function', function: { name: 'find_ship', arguments: '' } }],
          },
        },
        { words: 'find_ship' },
      ),
      call({ function: { arguments: '{"na' } }, '{"na'),
      call({ function: { arguments: 'me":"Ærø"}' } }, 'me":"Ærø"}'),
      finish('tool_calls'),
      done,
    ],
  }),
  record({
    name: 'comments before and between',
    parts: [
      comment(': OPENROUTER PROCESSING\n\n'),
      comment(': OPENROUTER PROCESSING\n\n'),
      say('One', { more: { provider: 'Somebody' } }),
      comment(': still here\n\n'),
      say(' two'),
      finish(),
      done,
    ],
  }),
  record({ name: 'CRLF', parts: [role(), say('Carriage'), say(' return'), finish('length'), done].map(foreign) }),
  record({
    name: 'many bytes a character, in chunks of seven',
    chunkBytes: 7,
    parts: [role(), say('港は'), say('🚢⚓'), say(' Ærø'), finish(), done],
  }),
  record({
    name: 'an error in the middle',
    parts: [
      role(),
      say('It'),
      say(' breaks'),
      {
        text: `data: ${JSON.stringify({ error: { message: 'Provider returned error', code: 502 } })}\n\n`,
        meaning: { isError: true },
      },
      done,
    ],
  }),
  record({
    name: 'no terminator, until the end',
    framing: 'close',
    parts: [role(), say('Short'), say('. Ünd'), finish(), usage({ prompt: 30, completion: 6 })],
  }),
  record({ name: 'with a length', framing: 'length', parts: [say('Known'), say(' size'), finish(), done] }),
  record({
    name: 'usage in every event',
    parts: [
      role(),
      counted('So', 11),
      counted(' far', 22),
      counted(' so good', 33),
      finish(),
      usage({ prompt: 40, completion: 44 }),
      done,
    ],
  }),
  record({
    name: 'thoughts with usage in every event',
    parts: [
      thought('Let me think about harbours', 12),
      thought(' and ships and the sea', 24),
      thought('.', 25),
      finish(),
      done,
    ],
  }),
  record({
    name: 'two choices, one after the other',
    choices: 2,
    parts: [
      say('First'),
      say(' answer'),
      finish('stop', false),
      say('Second', { index: 1 }),
      say(' answer', { index: 1 }),
      event({ delta: {}, index: 1, finish: 'stop' }, { isFinish: true }),
      done,
    ],
  }),
]

const WHOLE = {
  id: 'gen-2',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Whole 港 🚢 }' }, finish_reason: 'stop' }],
  usage: usageFields({ prompt: 17, completion: 5 }),
}
export const WHOLE_USAGE: Tokens = { prompt: 17, completion: 5 }

const wholeReply = (name: string, framing: Framing, text: string, chunkBytes = 50): RecordedReply => {
  const { bytes } = frame(JSON_REPLY, framing, cutUp(Buffer.from(text), chunkBytes))
  return { name, framing, bytes, json: text }
}

export const recordedReplies: readonly RecordedReply[] = [
  wholeReply('with a length', 'length', JSON.stringify(WHOLE)),
  wholeReply('in chunks', 'chunked', `${JSON.stringify(WHOLE, null, 1)}\n`),
  wholeReply('until the end', 'close', JSON.stringify(WHOLE)),
]
