/**
 * A vendor that repeats ` word`, a token of o200k_base, as often as the model name says, streamed or whole, in the four
 * text dialects. A name such as `status-500` fails. It records its requests and how far it came.
 */
import { dataEvent, namedEvent } from '../../src/lib/http/sse.ts'

export type WordVendor = {
  readonly origin: string
  /** Bodies of the requests, in their order, with the path. */
  readonly asked: { readonly path: string; readonly body: Record<string, unknown> }[]
  /** Words that were sent in streams. */
  readonly sent: () => number
  stop(): Promise<void>
}

/** The output limit of a request, in whichever dialect. */
export const limitIn = ({ body }: WordVendor['asked'][number]): unknown =>
  body['max_tokens'] ??
  body['max_completion_tokens'] ??
  body['max_output_tokens'] ??
  (body['generationConfig'] as Record<string, unknown> | undefined)?.['maxOutputTokens']

/** Words in one event. */
const WORDS_PER_EVENT = 8

export function startWordVendor({ pauseMs = 0 }: { readonly pauseMs?: number } = {}): WordVendor {
  const asked: WordVendor['asked'] = []
  let sent = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = (await request.json()) as Record<string, unknown>
      asked.push({ path: pathname, body })
      const model = typeof body['model'] === 'string' ? body['model'] : pathname
      const failed = /status-(\d+)/.exec(model)
      if (failed) return Response.json({ error: { message: 'not today' } }, { status: Number(failed[1]) })
      const words = Number(/(\d+)-words/.exec(model)?.[1] ?? 10)
      const speaker = speakerFor(pathname)
      const isStream = body['stream'] === true || pathname.endsWith(':streamGenerateContent')
      if (!isStream) return Response.json(speaker.whole(words))
      const events = async function* (): AsyncGenerator<string> {
        yield speaker.begin()
        for (let said = 0; said < words; said += WORDS_PER_EVENT) {
          if (pauseMs > 0) await Bun.sleep(pauseMs)
          const count = Math.min(WORDS_PER_EVENT, words - said)
          sent += count
          yield speaker.say(' word'.repeat(count))
        }
        yield speaker.end(words)
      }
      const headers = { 'content-type': 'text/event-stream' }
      return new Response(events() as unknown as ReadableStream, { headers })
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    asked,
    sent: () => sent,
    stop: () => server.stop(true),
  }
}

type Speaker = {
  whole(words: number): object
  begin(): string
  say(text: string): string
  end(words: number): string
}

const PROMPT_TOKENS = 7

function speakerFor(path: string): Speaker {
  if (path.endsWith('/messages')) return messages
  if (path.endsWith('/responses')) return responses
  return path.includes(':') ? gemini : chat
}

const chunk = (delta: object, finish: string | null, more: object = {}): string =>
  dataEvent(
    JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    }),
  )
const chatUsage = (words: number): object => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: words,
  total_tokens: PROMPT_TOKENS + words,
})
const chat: Speaker = {
  whole: (words) => ({
    id: 'c',
    object: 'chat.completion',
    // OpenRouter's SDK refuses an answer without it (1.3.19, 2026-11).
    system_fingerprint: null,
    created: 1,
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: ' word'.repeat(words) }, finish_reason: 'stop' }],
    usage: chatUsage(words),
  }),
  begin: () => chunk({ role: 'assistant', content: '' }, null),
  say: (text) => chunk({ content: text }, null),
  end: (words) => chunk({}, 'stop') + chunk({}, null, { choices: [], usage: chatUsage(words) }) + dataEvent('[DONE]'),
}

const event = (type: string, fields: object): string => namedEvent(type, JSON.stringify({ type, ...fields }))
const message = (words: number, content: object[]): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content,
  stop_reason: content.length > 0 ? 'end_turn' : null,
  stop_sequence: null,
  usage: { input_tokens: PROMPT_TOKENS, output_tokens: words },
})
const messages: Speaker = {
  whole: (words) => message(words, [{ type: 'text', text: ' word'.repeat(words) }]),
  begin: () =>
    event('message_start', { message: message(1, []) }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  say: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: (words) =>
    event('content_block_stop', { index: 0 }) +
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: words },
    }) +
    event('message_stop', {}),
}

const candidate = (text: string, more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
  modelVersion: 'up',
})
const geminiEnd = (words: number): object => ({
  usageMetadata: {
    promptTokenCount: PROMPT_TOKENS,
    candidatesTokenCount: words,
    totalTokenCount: PROMPT_TOKENS + words,
  },
})
const gemini: Speaker = {
  whole: (words) => ({ ...candidate(' word'.repeat(words), { finishReason: 'STOP' }), ...geminiEnd(words) }),
  begin: () => '',
  say: (text) => dataEvent(JSON.stringify(candidate(text))),
  end: (words) => dataEvent(JSON.stringify({ ...candidate('', { finishReason: 'STOP' }), ...geminiEnd(words) })),
}

const response = (words: number, status: string, output: object[]): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'up',
  status,
  output,
  usage: { input_tokens: PROMPT_TOKENS, output_tokens: words, total_tokens: PROMPT_TOKENS + words },
})
const said = (text: string): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const responses: Speaker = {
  whole: (words) => response(words, 'completed', [said(' word'.repeat(words))]),
  begin: () =>
    event('response.created', { response: response(0, 'in_progress', []) }) +
    event('response.output_item.added', { output_index: 0, item: { ...said(''), status: 'in_progress', content: [] } }),
  say: (text) =>
    event('response.output_text.delta', { output_index: 0, content_index: 0, item_id: 'msg_1', delta: text }),
  end: (words) =>
    event('response.output_item.done', { output_index: 0, item: said(' word'.repeat(words)) }) +
    event('response.completed', { response: response(words, 'completed', [said(' word'.repeat(words))]) }),
}
