/**
 * Clients of each dialect that behave like agents. They return each block of an answer unchanged, digit by digit. Their
 * requests use all the features that such clients use.
 */
import type { ClientDialect } from '../../src/domain/turn.ts'
import { parseExact } from '../../src/lib/json/exact-json.ts'
import { fieldsOf, listOf, textOf, type Fields } from './seen.ts'

export type Answer = {
  readonly status: number
  /** The body, where it was refused. */
  readonly error: string
  readonly text: string
  /** Arguments as JSON text. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[]
  readonly dropped: string
}
export type Conversation = {
  ask(stream: boolean): Promise<Answer>
  /** Answers the calls of the last answer, in another order than they came. */
  give(results: readonly string[]): void
  /** From here on the conversation goes on with this model. */
  model: string
}
type Server = { readonly baseUrl: string; readonly key: string }

export const USER = JSON.stringify({ device_id: 'c'.repeat(64), account_uuid: '', session_id: 'f'.repeat(36) })
const STOPS = ['</a>', '</b>', '</c>', '</d>', '</e>']
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer' }, at: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
}
const SYSTEM = 'You look things up.'
const QUESTION = 'What do you see?'
/** Longer than most vendors take, as those of agents' servers are. */
export const LONG_TOOL = `mcp__plugin_code-analysis_claudemem__look_${'long_'.repeat(8)}`

export async function post(server: Server, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, server.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const dropped = response.headers.get('x-tollgate-dropped') ?? ''
  return { status: response.status, error: response.ok ? '' : text, text, dropped }
}

const eventsIn = (text: string): readonly Fields[] =>
  text.split(/\r?\n\r?\n/).flatMap((block) => {
    const data = block
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n')
    return data === '' || data === '[DONE]' ? [] : [fieldsOf(parseExact(data))]
  })

const refused = (got: { status: number; error: string; dropped: string }): Answer => ({ ...got, text: '', calls: [] })

function chat(server: Server, model: string, tool = 'look'): Conversation {
  const messages: Fields[] = [
    { role: 'developer', content: SYSTEM },
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
      ],
    },
  ]
  let last: Answer['calls'] = []
  const self: Conversation = {
    model,
    async ask(stream) {
      const got = await post(server, '/v1/chat/completions', {
        model: self.model,
        messages,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
        max_completion_tokens: 4_000,
        temperature: 0.2,
        top_p: 0.9,
        top_k: 40,
        seed: 7,
        stop: STOPS,
        user: USER,
        reasoning_effort: 'high',
        parallel_tool_calls: true,
        tools: [{ type: 'function', function: { name: tool, description: 'Looks.', parameters: SCHEMA } }],
      })
      if (got.status !== 200) return refused(got)
      const message = stream ? chatMessageOf(eventsIn(got.text)) : wholeChat(got.text)
      messages.push(message)
      last = listOf(message['tool_calls']).map(({ id, function: fn }) => {
        const { name, arguments: args } = fieldsOf(fn)
        return { id: textOf(id), name: textOf(name), args: textOf(args) }
      })
      return { ...got, text: textOf(message['content']), calls: last }
    },
    give(results) {
      const said = last.map(({ id }, i) => ({ role: 'tool', tool_call_id: id, content: results[i] ?? '' }))
      messages.push(...said.toReversed())
    },
  }
  return self
}

const wholeChat = (text: string): Fields => fieldsOf(listOf(fieldsOf(parseExact(text))['choices'])[0]?.['message'])

function chatMessageOf(events: readonly Fields[]): Fields {
  let content = ''
  let reasoning = ''
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
  for (const event of events) {
    const delta = fieldsOf(listOf(event['choices'])[0]?.['delta'])
    content += textOf(delta['content'])
    reasoning += textOf(delta['reasoning_content'])
    for (const { index, id, function: fn } of listOf(delta['tool_calls'])) {
      const { name, arguments: args } = fieldsOf(fn)
      const call = (calls[Number(index)] ??= { id: '', type: 'function', function: { name: '', arguments: '' } })
      call.id ||= textOf(id)
      call.function.name ||= textOf(name)
      call.function.arguments += textOf(args)
    }
  }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function messages(server: Server, model: string): Conversation {
  const said: Fields[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION, cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
      ],
    },
  ]
  let last: Answer['calls'] = []
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
    'x-stainless-lang': 'js',
    'x-app': 'cli',
  }
  const self: Conversation = {
    model,
    async ask(stream) {
      const body = {
        model: self.model,
        max_tokens: 32_000,
        system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }],
        messages: said,
        stream,
        thinking: { type: 'enabled', budget_tokens: 4_000 },
        stop_sequences: STOPS,
        metadata: { user_id: USER },
        tools: [{ name: LONG_TOOL, description: 'Looks.', input_schema: SCHEMA }],
        tool_choice: { type: 'auto' },
      }
      const got = await post(server, '/v1/messages?beta=true', body, headers)
      if (got.status !== 200) return refused(got)
      const content = stream ? blocksOf(eventsIn(got.text)) : listOf(fieldsOf(parseExact(got.text))['content'])
      said.push({ role: 'assistant', content })
      last = content
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, name, input }) => ({ id: textOf(id), name: textOf(name), args: JSON.stringify(input) }))
      const text = content.map((block) => (block['type'] === 'text' ? textOf(block['text']) : '')).join('')
      return { ...got, text, calls: last }
    },
    give(results) {
      const blocks = last.map(({ id }, i) => ({ type: 'tool_result', tool_use_id: id, content: results[i] ?? '' }))
      said.push({ role: 'user', content: blocks.toReversed() })
    },
  }
  return self
}

function blocksOf(events: readonly Fields[]): readonly Fields[] {
  const blocks: Record<string, unknown>[] = []
  const inputs: string[] = []
  for (const { type, index, content_block: begun, delta } of events) {
    const at = Number(index)
    if (type === 'content_block_start') blocks[at] = { ...fieldsOf(begun) }
    if (type !== 'content_block_delta') continue
    const block = blocks[at] ?? {}
    const { type: kind, text, thinking, signature, partial_json: json } = fieldsOf(delta)
    if (kind === 'text_delta') block['text'] = textOf(block['text']) + textOf(text)
    if (kind === 'thinking_delta') block['thinking'] = textOf(block['thinking']) + textOf(thinking)
    if (kind === 'signature_delta') block['signature'] = textOf(signature)
    if (kind === 'input_json_delta') inputs[at] = (inputs[at] ?? '') + textOf(json)
  }
  for (const [i, json] of inputs.entries()) if (json && blocks[i]) blocks[i]['input'] = parseExact(json)
  return blocks
}

function responses(server: Server, model: string): Conversation {
  const input: Fields[] = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: SYSTEM }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: QUESTION },
        { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}` },
      ],
    },
  ]
  let last: Answer['calls'] = []
  const self: Conversation = {
    model,
    async ask(stream) {
      const got = await post(server, '/v1/responses', {
        model: self.model,
        input,
        stream,
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'high', summary: 'auto' },
        temperature: 0.2,
        safety_identifier: USER,
        prompt_cache_key: 'k'.repeat(36),
        parallel_tool_calls: true,
        tools: [{ type: 'function', name: 'look', description: 'Looks.', strict: false, parameters: SCHEMA }],
      })
      if (got.status !== 200) return refused(got)
      const whole = stream
        ? fieldsOf(eventsIn(got.text).find(({ type }) => type === 'response.completed')?.['response'])
        : fieldsOf(parseExact(got.text))
      const output = listOf(whole['output'])
      // As agents send it back: without fields that the format does not have.
      const known = new Set([
        'type',
        'id',
        'role',
        'content',
        'summary',
        'encrypted_content',
        'call_id',
        'name',
        'arguments',
      ])
      input.push(...output.map((item) => Object.fromEntries(Object.entries(item).filter(([key]) => known.has(key)))))
      last = output
        .filter(({ type }) => type === 'function_call')
        .map((item) => ({ id: textOf(item['call_id']), name: textOf(item['name']), args: textOf(item['arguments']) }))
      const text = output.flatMap(({ content }) => listOf(content).map((part) => textOf(part['text']))).join('')
      return { ...got, text, calls: last }
    },
    give(results) {
      const items = last.map(({ id }, i) => ({ type: 'function_call_output', call_id: id, output: results[i] ?? '' }))
      input.push(...items.toReversed())
    },
  }
  return self
}

/** A conversation that the gateway keeps: each request brings what is new. */
export function kept(server: Server, model: string): Conversation {
  let input: Fields[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: QUESTION }] }]
  let previous: string | undefined
  let last: Answer['calls'] = []
  const self: Conversation = {
    model,
    async ask(stream) {
      const got = await post(server, '/v1/responses', {
        model: self.model,
        input,
        stream,
        instructions: SYSTEM,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
        reasoning: { effort: 'high' },
        tools: [{ type: 'function', name: 'look', description: 'Looks.', strict: false, parameters: SCHEMA }],
      })
      if (got.status !== 200) return refused(got)
      const whole = stream
        ? fieldsOf(eventsIn(got.text).find(({ type }) => type === 'response.completed')?.['response'])
        : fieldsOf(parseExact(got.text))
      const output = listOf(whole['output'])
      previous = textOf(whole['id'])
      input = []
      last = output
        .filter(({ type }) => type === 'function_call')
        .map((item) => ({ id: textOf(item['call_id']), name: textOf(item['name']), args: textOf(item['arguments']) }))
      const text = output.flatMap(({ content }) => listOf(content).map((part) => textOf(part['text']))).join('')
      return { ...got, text, calls: last }
    },
    give(results) {
      const items = last.map(({ id }, i) => ({ type: 'function_call_output', call_id: id, output: results[i] ?? '' }))
      input.push(...items.toReversed())
    },
  }
  return self
}

function gemini(server: Server, model: string): Conversation {
  const contents: Fields[] = [
    { role: 'user', parts: [{ text: QUESTION }, { inlineData: { mimeType: 'image/png', data: PICTURE } }] },
  ]
  let last: Answer['calls'] = []
  const self: Conversation = {
    model,
    async ask(stream) {
      const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const got = await post(
        server,
        `/v1beta/models/${self.model}:${action}`,
        {
          contents,
          systemInstruction: { parts: [{ text: SYSTEM }] },
          generationConfig: {
            maxOutputTokens: 4_000,
            temperature: 0.2,
            topP: 0.9,
            topK: 40,
            stopSequences: STOPS,
            thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' },
          },
          tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: SCHEMA }] }],
        },
        { 'x-goog-api-client': 'google-genai-sdk/3.1.0 gl-node/v20', 'user-agent': 'google-genai-sdk/3.1.0' },
      )
      if (got.status !== 200) return refused(got)
      const answers = stream ? eventsIn(got.text) : [fieldsOf(parseExact(got.text))]
      const parts = answers.flatMap((one) => listOf(fieldsOf(listOf(one['candidates'])[0]?.['content'])['parts']))
      contents.push({ role: 'model', parts })
      last = parts.flatMap(({ functionCall }) => {
        if (functionCall === undefined) return []
        const { id, name, args } = fieldsOf(functionCall)
        return [{ id: textOf(id), name: textOf(name), args: JSON.stringify(args) }]
      })
      const text = parts.map((part) => (part['thought'] === true ? '' : textOf(part['text']))).join('')
      return { ...got, text, calls: last }
    },
    give(results) {
      const parts = last.map(({ id, name }, i) => ({
        functionResponse: { ...(id === '' ? {} : { id }), name, response: { output: results[i] ?? '' } },
      }))
      // Without ids the order is all there is.
      contents.push({ role: 'user', parts: last.some(({ id }) => id === '') ? parts : parts.toReversed() })
    },
  }
  return self
}

const GROUP = 'mcp__plugin_code-analysis_claudemem'
const NAME = `look_${'long_'.repeat(8)}`
const free = (name: string): object => ({
  type: 'custom',
  name,
  description: 'This is a FREEFORM tool, so do not wrap the input in JSON.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' },
})
/** Codex 0.169 with the models it knows by name, captured on 2026-11-25: tools of every kind, in both places. */
const CODEX_TOOLS = [
  { type: 'function', name: 'exec_command', description: 'Runs.', strict: false, parameters: SCHEMA },
  free('apply_patch'),
  {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters: { type: 'object', properties: {} },
  },
  { type: 'web_search', external_web_access: true },
]
const CODEX_ITEM = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    { type: 'namespace', name: 'functions', description: '', tools: [free('exec')] },
    {
      type: 'namespace',
      name: GROUP,
      description: 'MCP',
      tools: [{ type: 'function', name: NAME, description: 'Looks.', strict: false, parameters: SCHEMA }],
    },
  ],
}

/** It keeps nothing at the gateway, and sends items back as they came. */
export function codex(server: Server, model: string): Conversation {
  const input: Fields[] = [
    CODEX_ITEM,
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: SYSTEM }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: QUESTION },
        { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}` },
      ],
      internal_chat_message_metadata_passthrough: { turn_id: 't' },
    },
  ]
  let last: Answer['calls'] = []
  const self: Conversation = {
    model,
    async ask(stream) {
      const got = await post(server, '/v1/responses', {
        model: self.model,
        input,
        stream,
        store: false,
        include: ['reasoning.encrypted_content'],
        tool_choice: 'auto',
        parallel_tool_calls: true,
        reasoning: { effort: 'low', context: 'all_turns' },
        text: { verbosity: 'low' },
        prompt_cache_key: 'k'.repeat(36),
        client_metadata: { turn_id: 't' },
        tools: CODEX_TOOLS,
      })
      if (got.status !== 200) return refused(got)
      const whole = stream
        ? fieldsOf(eventsIn(got.text).find(({ type }) => type === 'response.completed')?.['response'])
        : fieldsOf(parseExact(got.text))
      const output = listOf(whole['output'])
      input.push(...output)
      last = output
        .filter(({ type, namespace, name }) => type === 'function_call' && namespace === GROUP && name === NAME)
        .map((item) => ({ id: textOf(item['call_id']), name: NAME, args: textOf(item['arguments']) }))
      const text = output.flatMap(({ content }) => listOf(content).map((part) => textOf(part['text']))).join('')
      return { ...got, text, calls: last }
    },
    give(results) {
      const items = last.map(({ id }, i) => ({ type: 'function_call_output', call_id: id, output: results[i] ?? '' }))
      input.push(...items.toReversed())
    },
  }
  return self
}

/** A client of the chat format with the name that an agent gives a tool of a server of tools. */
export const longNamed = (server: Server, model: string): Conversation => chat(server, model, LONG_TOOL)

export const conversations: Readonly<Record<ClientDialect, (server: Server, model: string) => Conversation>> = {
  chat: (server, model) => chat(server, model),
  messages,
  responses,
  gemini,
}
