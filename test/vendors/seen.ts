/** A request as a vendor sees it, in any dialect: messages, calls and results in order. */
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
  /** As base64, or their addresses; those of results among them. */
  readonly pictures: readonly string[]
  /** What a vendor is given of its thoughts; undefined where the message says nothing of any. */
  readonly thought: string | undefined
  readonly calls: readonly SeenCall[]
  readonly results: readonly SeenResult[]
}
export type SeenRequest = {
  readonly tools: readonly string[]
  /** Of those the ones that take free text. */
  readonly customTools: readonly string[]
  /** What stands apart from the messages. */
  readonly system: string
  readonly messages: readonly SeenMessage[]
}

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const EMPTY: SeenMessage = { role: 'user', text: '', pictures: [], thought: undefined, calls: [], results: [] }

const NO_SYSTEM = { system: '', customTools: [] }

export const seenBy: Readonly<Record<Dialect, (body: Fields) => SeenRequest>> = {
  chat: (body) => ({
    ...NO_SYSTEM,
    tools: listOf(body['tools']).map((tool) => textOf(fieldsOf(tool['function'] ?? tool['custom'])['name'])),
    customTools: listOf(body['tools']).flatMap(({ custom }) => (custom ? [textOf(fieldsOf(custom)['name'])] : [])),
    messages: listOf(body['messages']).map(chatMessage),
  }),
  responses: (body) => ({
    system: textOf(body['instructions']),
    tools: [...listOf(body['tools']), ...listOf(body['input']).flatMap(({ tools }) => listOf(tools))].flatMap(
      toolNames,
    ),
    customTools: listOf(body['tools']).flatMap(({ type, name }) => (type === 'custom' ? [textOf(name)] : [])),
    messages: typeof body['input'] === 'string' ? [{ ...EMPTY, text: body['input'] }] : listOf(body['input']).map(item),
  }),
  messages: (body) => ({
    ...NO_SYSTEM,
    system: wordsIn(body['system']),
    tools: listOf(body['tools']).map((tool) => textOf(tool['name'])),
    messages: listOf(body['messages']).map(messagesMessage),
  }),
  gemini: (body) => ({
    ...NO_SYSTEM,
    system: wordsIn(fieldsOf(body['systemInstruction'])['parts']),
    tools: listOf(body['tools']).flatMap((tool) =>
      listOf(tool['functionDeclarations']).map((one) => textOf(one['name'])),
    ),
    messages: listOf(body['contents']).map(geminiMessage),
  }),
  converse: (body) => ({
    ...NO_SYSTEM,
    system: wordsIn(body['system']),
    tools: listOf(fieldsOf(body['toolConfig'])['tools']).map(({ toolSpec }) => textOf(fieldsOf(toolSpec)['name'])),
    messages: listOf(body['messages']).map(converseMessage),
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

/** Of parts in the chat, responses or messages format. */
const picturesIn = (content: unknown): readonly string[] =>
  listOf(content).flatMap(({ type, image_url: image, source }) => {
    const url = textOf(fieldsOf(image)['url'] ?? image ?? fieldsOf(source)['data'] ?? fieldsOf(source)['url'])
    const isPicture = type === 'image_url' || type === 'input_image' || type === 'image'
    return isPicture ? [url.slice(url.indexOf(',') + 1)] : []
  })

function chatMessage(message: Fields): SeenMessage {
  const { role, content, tool_calls: calls, tool_call_id: id, reasoning_content: thought } = message
  const said = {
    ...EMPTY,
    text: wordsIn(content),
    pictures: picturesIn(content),
    thought: typeof thought === 'string' ? thought : undefined,
  }
  if (role === 'tool') return { ...said, text: '', role, results: [{ id: textOf(id), name: '', text: said.text }] }
  if (role !== 'assistant') return { ...said, role: role === 'user' ? 'user' : 'system' }
  const called = listOf(calls).map(({ id: callId, function: fn, custom }) => {
    const { name, arguments: args, input } = fieldsOf(fn ?? custom)
    return { id: textOf(callId), name: textOf(name), args: textOf(args ?? input) }
  })
  return { ...said, role, calls: called }
}

function item(one: Fields): SeenMessage {
  switch (one['type']) {
    case 'function_call':
    case 'custom_tool_call': {
      const args = textOf(one['arguments'] ?? one['input'])
      const call = { id: textOf(one['call_id']), name: textOf(one['name']), args }
      return { ...EMPTY, role: 'assistant', calls: [call] }
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
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        ...EMPTY,
        role: 'tool',
        pictures: picturesIn(one['output']),
        results: [{ id: textOf(one['call_id']), name: '', text: wordsIn(one['output']) }],
      }
    case 'reasoning':
      return { ...EMPTY, role: 'assistant', thought: textOf(one['encrypted_content']) }
    default: {
      const pictures = picturesIn(one['content'])
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
    pictures: [...of('tool_result').flatMap((block) => picturesIn(block['content'])), ...picturesIn(blocks)],
    thought: thoughts.length === 0 ? undefined : thoughts.map((block) => textOf(block['signature'])).join(),
    calls: of('tool_use').map((block) => ({
      id: textOf(block['id']),
      name: textOf(block['name']),
      args: JSON.stringify(block['input']),
    })),
    results,
  }
}

function converseMessage({ role, content }: Fields): SeenMessage {
  const blocks = listOf(content)
  const of = (kind: string): readonly Fields[] =>
    blocks.flatMap((block) => (kind in block ? [fieldsOf(block[kind])] : []))
  const imagesIn = (list: readonly Fields[]): readonly string[] =>
    list.flatMap(({ image }) => (image === undefined ? [] : [textOf(fieldsOf(fieldsOf(image)['source'])['bytes'])]))
  const results = of('toolResult')
  const thoughts = of('reasoningContent')
  return {
    role: role === 'assistant' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
    text: wordsIn(blocks),
    pictures: [...results.flatMap((result) => imagesIn(listOf(result['content']))), ...imagesIn(blocks)],
    thought:
      thoughts.length === 0
        ? undefined
        : thoughts.map(({ reasoningText }) => textOf(fieldsOf(reasoningText)['signature'])).join(),
    calls: of('toolUse').map(({ toolUseId, name, input }) => ({
      id: textOf(toolUseId),
      name: textOf(name),
      args: JSON.stringify(input),
    })),
    results: results.map((result) => ({ id: textOf(result['toolUseId']), name: '', text: wordsIn(result['content']) })),
  }
}

function geminiMessage({ role, parts: given }: Fields): SeenMessage {
  const parts = listOf(given)
  const results = parts.flatMap(({ functionResponse }) => {
    if (functionResponse === undefined) return []
    const { id, name, response } = fieldsOf(functionResponse)
    const { output, result, error } = fieldsOf(response)
    const text = output ?? result ?? error ?? response
    return [{ id: textOf(id), name: textOf(name), text: typeof text === 'string' ? text : JSON.stringify(text) }]
  })
  return {
    role: role === 'model' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
    text: parts
      .filter(({ thought }) => thought !== true)
      .map(({ text }) => textOf(text))
      .join(''),
    pictures: [...parts, ...parts.flatMap((part) => listOf(fieldsOf(part['functionResponse'])['parts']))].flatMap(
      (part) => (part['inlineData'] === undefined ? [] : [textOf(fieldsOf(part['inlineData'])['data'])]),
    ),
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
