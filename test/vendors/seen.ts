/** A request as a vendor sees it, whatever its dialect: what was said, called and answered, in order. */
import type { Dialect } from '../../src/domain/turn.ts'

export type Fields = Readonly<Record<string, unknown>>
export type SeenCall = {
  readonly id: string
  readonly name: string
  readonly args: string
  readonly signature?: string
}
export type SeenResult = { readonly id: string; readonly name: string; readonly text: string }
export type SeenMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly pictures: number
  /** What a vendor is given of its thoughts; undefined where the message says nothing of any. */
  readonly thought: string | undefined
  readonly calls: readonly SeenCall[]
  readonly results: readonly SeenResult[]
}
export type Seen = { readonly tools: readonly string[]; readonly messages: readonly SeenMessage[] }

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const EMPTY: SeenMessage = { role: 'user', text: '', pictures: 0, thought: undefined, calls: [], results: [] }

export const seenBy: Readonly<Record<Dialect, (body: Fields) => Seen>> = {
  chat: (body) => ({
    tools: listOf(body['tools']).map((tool) => textOf(fieldsOf(tool['function'])['name'])),
    messages: listOf(body['messages']).map(chatMessage),
  }),
  responses: (body) => ({
    tools: [...listOf(body['tools']), ...listOf(body['input']).flatMap(({ tools }) => listOf(tools))].flatMap(
      toolNames,
    ),
    messages: typeof body['input'] === 'string' ? [{ ...EMPTY, text: body['input'] }] : listOf(body['input']).map(item),
  }),
  messages: (body) => ({
    tools: listOf(body['tools']).map((tool) => textOf(tool['name'])),
    messages: listOf(body['messages']).map(messagesMessage),
  }),
  gemini: (body) => ({
    tools: listOf(body['tools']).flatMap((tool) =>
      listOf(tool['functionDeclarations']).map((one) => textOf(one['name'])),
    ),
    messages: listOf(body['contents']).map(geminiMessage),
  }),
}

/** Of a tool, or of those in a group; what the vendor finds by itself has none. */
const toolNames = ({ name, tools }: Fields): readonly string[] =>
  tools === undefined ? (typeof name === 'string' ? [name] : []) : listOf(tools).flatMap(toolNames)

const wordsIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => textOf(part['text']))
        .join('')

function chatMessage(message: Fields): SeenMessage {
  const { role, content, tool_calls: calls, tool_call_id: id, reasoning_content: thought } = message
  const said = {
    ...EMPTY,
    text: wordsIn(content),
    pictures: listOf(content).filter(({ type }) => type === 'image_url').length,
    thought: typeof thought === 'string' ? thought : undefined,
  }
  if (role === 'tool') return { ...said, role, results: [{ id: textOf(id), name: '', text: said.text }] }
  if (role !== 'assistant') return { ...said, role: role === 'user' ? 'user' : 'system' }
  const called = listOf(calls).map(({ id: callId, function: fn }) => {
    const { name, arguments: args } = fieldsOf(fn)
    return { id: textOf(callId), name: textOf(name), args: textOf(args) }
  })
  return { ...said, role, calls: called }
}

function item(one: Fields): SeenMessage {
  switch (one['type']) {
    case 'function_call': {
      const call = { id: textOf(one['call_id']), name: textOf(one['name']), args: textOf(one['arguments']) }
      return { ...EMPTY, role: 'assistant', calls: [call] }
    }
    case 'custom_tool_call':
      return {
        ...EMPTY,
        role: 'assistant',
        calls: [{ id: textOf(one['call_id']), name: textOf(one['name']), args: textOf(one['input']) }],
      }
    case 'tool_search_call': {
      const args = JSON.stringify(one['arguments'])
      return { ...EMPTY, role: 'assistant', calls: [{ id: textOf(one['call_id']), name: 'tool_search', args }] }
    }
    case 'tool_search_output':
      return {
        ...EMPTY,
        role: 'tool',
        results: [{ id: textOf(one['call_id']), name: '', text: JSON.stringify(one['tools']) }],
      }
    case 'custom_tool_call_output':
    case 'function_call_output':
      return {
        ...EMPTY,
        role: 'tool',
        results: [{ id: textOf(one['call_id']), name: '', text: wordsIn(one['output']) }],
      }
    case 'reasoning':
      return { ...EMPTY, role: 'assistant', thought: textOf(one['encrypted_content']) }
    default: {
      const pictures = listOf(one['content']).filter(({ type }) => type === 'input_image').length
      const role = one['role'] === 'assistant' || one['role'] === 'user' ? one['role'] : 'system'
      return { ...EMPTY, role, text: wordsIn(one['content']), pictures }
    }
  }
}

function messagesMessage({ role, content }: Fields): SeenMessage {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const of = (type: string): readonly Fields[] => blocks.filter((block) => fieldsOf(block)['type'] === type)
  const results = of('tool_result').map((block) => ({
    id: textOf(block['tool_use_id']),
    name: '',
    text: wordsIn(block['content']),
  }))
  const thoughts = of('thinking')
  return {
    role: role === 'assistant' ? 'assistant' : role === 'system' ? 'system' : results.length > 0 ? 'tool' : 'user',
    text: of('text')
      .map((block) => textOf(block['text']))
      .join(''),
    pictures: of('image').length,
    thought: thoughts.length === 0 ? undefined : thoughts.map((block) => textOf(block['signature'])).join(),
    calls: of('tool_use').map((block) => ({
      id: textOf(block['id']),
      name: textOf(block['name']),
      args: JSON.stringify(block['input']),
    })),
    results,
  }
}

function geminiMessage({ role, parts: given }: Fields): SeenMessage {
  const parts = listOf(given)
  const results = parts.flatMap(({ functionResponse }) => {
    if (functionResponse === undefined) return []
    const { id, name, response } = fieldsOf(functionResponse)
    const { output, result, error } = fieldsOf(response)
    return [{ id: textOf(id), name: textOf(name), text: textOf(output ?? result ?? error) }]
  })
  return {
    role: role === 'model' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
    text: parts
      .filter(({ thought }) => thought !== true)
      .map(({ text }) => textOf(text))
      .join(''),
    pictures: parts.filter(({ inlineData }) => inlineData !== undefined).length,
    thought: undefined,
    calls: parts.flatMap(({ functionCall, thoughtSignature }) => {
      if (functionCall === undefined) return []
      const { id, name, args } = fieldsOf(functionCall)
      const signature = typeof thoughtSignature === 'string' ? { signature: thoughtSignature } : {}
      return [{ id: textOf(id), name: textOf(name), args: JSON.stringify(args ?? {}), ...signature }]
    }),
    results,
  }
}
