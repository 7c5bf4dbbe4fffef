/** The fake vendor's answers as bytes, one frame for each write. */
import { replyText, type Answer } from './workload.ts'

const CREATED = 1_790_000_000
const USAGE = {
  prompt_tokens: 412,
  completion_tokens: 100,
  total_tokens: 512,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}

const head = (lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'date: Thu, 01 Oct 2026 00:00:00 GMT', 'x-request-id: req_bench', ...lines, '', ''].join('\r\n')

/** The answer to an unknown model, so that a mistake in the bench shows as a 404. */
export const notFound = Buffer.from(
  'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
)

/** A vendor reports the dated name of the model, so a gateway has to replace it in every answer. */
const dated = (model: string): string => `${model}-2026-08-01`

function wholeFrames(model: string, replyKiB: number): Buffer[] {
  const body = JSON.stringify({
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: CREATED,
    model: dated(model),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: replyText(replyKiB), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  })
  const lines = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  return [Buffer.from(head(lines) + body)]
}

type Choice = { readonly delta: object; readonly finish: string | null }

const httpChunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** A word for each chunk of a stream except the first, which has the role, and the last, which has the end. */
const wordsOf = (chunks: number): string[] => Array.from({ length: chunks - 2 }, (_, i) => ` word${i + 2}`)

/** One frame is one write. */
const eventFrames = (events: readonly string[]): Buffer[] => [
  Buffer.from(
    head(['content-type: text/event-stream; charset=utf-8', 'transfer-encoding: chunked', 'x-accel-buffering: no']),
  ),
  ...events.map((text) => Buffer.from(httpChunk(text))),
  // A write of its own, as most servers end a body. A gateway that stops at the last event loses the connection.
  Buffer.from('0\r\n\r\n'),
]

/** Role, text and finish are the chunks. The usage and the terminator follow them. */
function chatFrames(model: string, chunks: number, usage: 'asked' | 'unasked'): Buffer[] {
  const event = (choices: readonly Choice[], tail: object): string => {
    const chunk = {
      id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: dated(model),
      service_tier: 'default',
      system_fingerprint: 'fp_bench',
      choices: choices.map(({ delta, finish }) => ({ index: 0, delta, logprobs: null, finish_reason: finish })),
      ...tail,
    }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }
  const open = usage === 'asked' ? { usage: null } : {}
  const events = [event([{ delta: { role: 'assistant', content: '', refusal: null }, finish: null }], open)]
  for (const word of wordsOf(chunks)) events.push(event([{ delta: { content: word }, finish: null }], open))
  events.push(event([{ delta: {}, finish: 'stop' }], open))
  if (usage === 'asked') events.push(event([], { usage: USAGE }))
  return eventFrames([...events, 'data: [DONE]\n\n'])
}

/** The same words in the other dialect, with the events that surround them there. */
function messagesFrames(model: string, chunks: number): Buffer[] {
  const start = {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: dated(model),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...MESSAGES_INPUT, output_tokens: 1, service_tier: 'standard' },
  }
  const delta = (text: string): MessagesEvent => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })
  const events: MessagesEvent[] = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...wordsOf(chunks).map(delta),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...MESSAGES_INPUT, output_tokens: 100 },
    },
    { type: 'message_stop' },
  ]
  return eventFrames(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

type MessagesEvent = { readonly type: string; readonly [field: string]: unknown }
const MESSAGES_INPUT = { input_tokens: 412, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

const made = new Map<string, readonly Buffer[]>()

function makeFrames(model: string, answer: Answer, usage: 'asked' | 'unasked'): Buffer[] {
  if (answer.kind === 'whole') return wholeFrames(model, answer.replyKiB)
  const { dialect, chunks } = answer
  return dialect === 'chat' ? chatFrames(model, chunks, usage) : messagesFrames(model, chunks)
}

/** The frames of an answer, made at the first request for it. */
export function framesOf(model: string, answer: Answer, usage: 'asked' | 'unasked'): readonly Buffer[] {
  const key = `${model} ${usage}`
  const known = made.get(key)
  if (known) return known
  const frames = makeFrames(model, answer, usage)
  made.set(key, frames)
  return frames
}
