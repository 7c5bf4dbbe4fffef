/** A vendor that gives the shortest answer in every dialect, and counts its requests. */
export type AllVendor = { readonly yaml: string; readonly asked: number; stop(): Promise<void> }

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a b c d' }, finish_reason: 'stop' }],
  usage,
}
const messages = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'a b c d' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 4 },
}
const gemini = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a b c d' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  modelVersion: 'm',
}
const responses = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a b c d', annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
}

function streamOf(path: string): string {
  const event = (data: object, name?: string): string =>
    `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
  if (path.endsWith('/messages')) {
    return [
      event({ type: 'message_start', message: { ...messages, content: [], stop_reason: null } }, 'message_start'),
      event(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        'content_block_start',
      ),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }, 'content_block_delta'),
      event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      event(
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
        'message_delta',
      ),
      event({ type: 'message_stop' }, 'message_stop'),
    ].join('')
  }
  if (path.endsWith('/responses')) {
    return [
      event({ type: 'response.created', response: { ...responses, status: 'in_progress', output: [] } }),
      event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'a' }),
      event({ type: 'response.completed', response: responses }),
    ].join('')
  }
  if (path.includes(':stream')) return event(gemini)
  const delta = { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }
  return `${event({ ...chat, object: 'chat.completion.chunk', choices: [delta] })}data: [DONE]\n\n`
}

function replyTo(path: string): object {
  if (path.endsWith('/messages')) return messages
  if (path.endsWith('/responses')) return responses
  return path.includes(':generateContent') ? gemini : chat
}

export function startAllVendor(): AllVendor {
  let asked = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked++
      const { pathname } = new URL(request.url)
      const body = await request.text()
      const isStream = pathname.includes(':stream') || (JSON.parse(body) as { stream?: unknown }).stream === true
      if (!isStream) return Response.json(replyTo(pathname))
      return new Response(streamOf(pathname), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const base = `http://127.0.0.1:${server.port}`
  const provider = (preset: string, path: string): string =>
    `{ preset: ${preset}, base_url: '${base}${path}', key: k, allow_private: true }`
  const model = (name: string, upstream: string): string =>
    `  ${name}: { price: { input: 1, output: 2 }, offers: [{ provider: ${name}, model: ${upstream} }] }\n`
  return {
    yaml: `
providers:
  chat-side: ${provider('custom', '/v1')}
  messages-side: ${provider('anthropic', '/v1')}
  gemini-side: ${provider('gemini', '/v1beta')}
  responses-side: ${provider('custom-responses', '/v1')}
models:
${model('chat-side', 'gpt-5.5')}${model('messages-side', 'claude-opus-5')}${model('gemini-side', 'gemini-3-pro-preview')}${model('responses-side', 'gpt-5.5')}`,
    get asked() {
      return asked
    },
    stop: () => server.stop(true),
  }
}
