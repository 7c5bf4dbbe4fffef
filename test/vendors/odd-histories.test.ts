/**
 * Conversations that occur with real agents (an empty message, an interrupted call, a system prompt anywhere), from
 * clients of every dialect to upstreams that refuse what the vendors refuse, in their words.
 */
import { describe, expect, test } from 'bun:test'
import { clientDialects, dialects, type ClientDialect, type Dialect } from '../../src/domain/turn.ts'
import type { AdapterContext } from '../../src/formats/core/contract.ts'
import { destination, readClient } from '../support/dialect-fixtures.ts'
import { converseRequests } from './converse-refusals.ts'
import { seenBy } from './seen.ts'

type Fields = Record<string, unknown>
const context = { model: { kind: 'text' } } as AdapterContext

type Step =
  | { readonly who: 'system' | 'user'; readonly text: string }
  | { readonly who: 'assistant'; readonly text: string | null; readonly calls: readonly string[] }
  | { readonly who: 'tool'; readonly id: string; readonly text: string }

const S = (text: string): Step => ({ who: 'system', text })
const U = (text: string): Step => ({ who: 'user', text })
const A = (text: string | null, ...calls: string[]): Step => ({ who: 'assistant', text, calls })
const R = (id: string, text = 'r'): Step => ({ who: 'tool', id, text })

const histories: Readonly<Record<string, readonly Step[]>> = {
  'nothing said beside a call': [U('x'), A('', 't'), R('t')],
  'no content beside a call': [U('x'), A(null, 't'), R('t')],
  'blanks beside a call': [U('x'), A('\n\n', 't'), R('t')],
  'an empty result': [U('x'), A(null, 't'), R('t', '')],
  'nothing said in the middle': [U('x'), A(''), U('y')],
  'blanks in the middle': [U('x'), A(' '), U('y')],
  'an empty system prompt': [S(''), U('x')],
  'a blank system prompt': [S('  '), U('x')],
  'the assistant first': [A('Hello'), U('x')],
  'a call first': [A(null, 't'), R('t'), U('x')],
  'an empty user message': [U(''), U('x')],
  'a system prompt and an empty user message': [S('Say hi'), U('')],
  'two users in a row': [U('x'), U('y')],
  'the assistant last': [U('x'), A('Sure: ')],
  'a system prompt in the middle': [U('x'), A('a'), S('be brief'), U('y')],
  'a system prompt between a call and its result': [U('x'), A(null, 't'), S('note'), R('t'), U('y')],
  'a system prompt last': [U('x'), S('be brief')],
  'a system prompt alone': [S('Say hi')],
  'a user between a call and its result': [U('x'), A(null, 't'), U('wait'), R('t')],
  'a user among results': [U('x'), A(null, 'a', 'b'), R('b'), U('wait'), R('a')],
  'a call that was interrupted': [U('x'), A('ok', 't'), U('do this instead')],
  'one of two calls that was interrupted': [U('x'), A(null, 'a', 'b'), R('b'), U('do this instead')],
  'a call that was interrupted last': [U('x'), A(null, 't')],
  'one id in every turn': [U('x'), A(null, 't'), R('t'), U('y'), A(null, 't'), R('t')],
}

const tool = { type: 'object', properties: {} }

/** The history as a client of the dialect sends it; undefined where it has no words for it. */
const clients: Readonly<Record<ClientDialect, (steps: readonly Step[]) => Fields | undefined>> = {
  chat: (steps) => ({
    model: 'public',
    messages: steps.map((step) => {
      if (step.who === 'tool') return { role: 'tool', tool_call_id: step.id, content: step.text }
      if (step.who !== 'assistant') return { role: step.who, content: step.text }
      const calls = step.calls.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '' } }))
      return { role: 'assistant', content: step.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
    }),
    tools: [{ type: 'function', function: { name: 'f' } }],
  }),
  responses: (steps) => ({
    model: 'public',
    input: steps.flatMap((step): Fields[] => {
      if (step.who === 'tool') return [{ type: 'function_call_output', call_id: step.id, output: step.text }]
      if (step.who !== 'assistant') return [{ role: step.who === 'system' ? 'developer' : 'user', content: step.text }]
      const said = step.text === null ? [] : [{ role: 'assistant', content: step.text }]
      return [...said, ...step.calls.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '' }))]
    }),
    tools: [{ type: 'function', name: 'f' }],
  }),
  messages(steps) {
    const [first] = steps
    const said = steps.slice(first?.who === 'system' ? 1 : 0)
    if (said.length === 0) return undefined
    return {
      model: 'public',
      max_tokens: 100,
      ...(first?.who === 'system' ? { system: first.text } : {}),
      messages: said.map((step) => {
        if (step.who === 'tool') {
          return { role: 'user', content: [{ type: 'tool_result', tool_use_id: step.id, content: step.text }] }
        }
        if (step.who !== 'assistant') return { role: step.who, content: step.text }
        const words = step.text === null ? [] : [{ type: 'text', text: step.text }]
        return {
          role: 'assistant',
          content: [...words, ...step.calls.map((id) => ({ type: 'tool_use', id, name: 'f' }))],
        }
      }),
      tools: [{ name: 'f', input_schema: tool }],
    }
  },
  gemini(steps) {
    const [first] = steps
    const said = steps.slice(first?.who === 'system' ? 1 : 0)
    if (said.length === 0 || said.some(({ who }) => who === 'system')) return undefined
    return {
      ...(first?.who === 'system' ? { systemInstruction: { parts: [{ text: first.text }] } } : {}),
      contents: said.map((step) => {
        if (step.who === 'tool') {
          return {
            role: 'user',
            parts: [{ functionResponse: { id: step.id, name: 'f', response: { output: step.text } } }],
          }
        }
        if (step.who !== 'assistant') return { role: 'user', parts: [{ text: step.text }] }
        const words = step.text === null ? [] : [{ text: step.text }]
        return { role: 'model', parts: [...words, ...step.calls.map((id) => ({ functionCall: { id, name: 'f' } }))] }
      }),
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
    }
  },
}

const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0'
const list = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : [])
const isObjectText = (text: unknown): boolean => {
  const value: unknown = typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Why the vendor would refuse a body; undefined where it takes it. */
const vendors: Readonly<Record<Dialect, (body: Fields) => string | undefined>> = {
  /** OpenAI's order (platform.openai.com, function calling), Moonshot's words (2026-11). */
  chat(body) {
    const messages = list(body['messages'])
    for (const [i, message] of messages.entries()) {
      const calls = list(message['tool_calls'])
      const results = messages.slice(i + 1, i + 1 + calls.length)
      if (calls.some(({ id }, n) => results[n]?.['role'] !== 'tool' || results[n]['tool_call_id'] !== id)) {
        return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
      }
      if (calls.some((call) => !isObjectText((call['function'] as Fields)['arguments']))) return 'arguments: not JSON'
      if (message['role'] === 'assistant' && calls.length === 0 && !message['content']) {
        return `the message at position ${i} with role 'assistant' must not be empty`
      }
    }
    return messages.length === 0 ? "Invalid 'messages': empty array." : undefined
  },
  responses(body) {
    const items = list(body['input'])
    const outputs = new Set(items.flatMap(({ type, call_id: id }) => (type === 'function_call_output' ? [id] : [])))
    const calls = items.filter(({ type }) => type === 'function_call')
    if (calls.some(({ call_id: id }) => !outputs.has(id))) return 'No tool output found for function call.'
    if (calls.some(({ arguments: words }) => !isObjectText(words))) return 'arguments: not JSON'
    return items.length === 0 ? "Missing required parameter: 'input'." : undefined
  },
  /** https://github.com/anthropics/claude-code/issues/23440 and the vendor's own messages (2026-11). */
  messages(body) {
    const messages = list(body['messages'])
    const system = list(body['system'])
    if (system.some(({ text }) => String(text).trim() === '')) return 'system: text content blocks must contain text'
    if (messages.length === 0) return 'messages: at least one message is required'
    if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role'
    if (messages.at(-1)?.['role'] === 'assistant') return 'This model does not support assistant message prefill.'
    const uses = new Set<unknown>()
    for (const [i, { content, role }] of messages.entries()) {
      const blocks = list(content)
      if (blocks.length === 0) return `messages.${i}: ${String(role)} messages must have non-empty content`
      if (blocks.some(({ type, text }) => type === 'text' && String(text).trim() === ''))
        return 'text must be non-empty'
      const ids = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
      const results = list(messages[i + 1]?.['content']).flatMap(({ type, tool_use_id: id }) =>
        type === 'tool_result' ? [id] : [],
      )
      if (ids.some((id) => !results.includes(id))) return '`tool_use` ids were found without `tool_result` blocks'
      if (ids.some((id) => uses.has(id))) return '`tool_use` ids must be unique'
      for (const id of ids) uses.add(id)
      const first = blocks.findIndex(({ type }) => type !== 'tool_result')
      if (first !== -1 && blocks.slice(first).some(({ type }) => type === 'tool_result')) return 'tool_result first'
      if (blocks.some(({ type, input }) => type === 'tool_use' && typeof input !== 'object')) return 'input: dictionary'
    }
    return undefined
  },
  gemini(body) {
    const contents = list(body['contents'])
    const system = list((body['systemInstruction'] as Fields | undefined)?.['parts'])
    if (system.some(({ text }) => String(text).trim() === ''))
      return 'systemInstruction: it must have a text parameter.'
    if (contents.length === 0) return 'contents is not specified'
    for (const [i, content] of contents.entries()) {
      const parts = list(content['parts'])
      if (parts.length === 0) return 'contents.parts must not be empty.'
      if (parts.some(({ text }) => typeof text === 'string' && text.trim() === ''))
        return 'Unable to submit request because it must have a text parameter.'
      const calls = parts.filter((part) => 'functionCall' in part)
      const results = list(contents[i + 1]?.['parts']).filter((part) => 'functionResponse' in part)
      if (calls.length > 0 && results.length !== calls.length) {
        return 'Please ensure that the number of function response parts is equal to the number of function call parts.'
      }
      const before = contents[i - 1]
      if (calls.length > 0 && before?.['role'] !== 'user')
        return 'function call turn comes immediately after a user turn'
    }
    return undefined
  },
  converse(body) {
    const refusal = converseRequests({ body, seen: seenBy.converse(body), model: LLAMA })
    return refusal && JSON.stringify(refusal.body)
  },
}

/** The models that refuse the most. */
const strictest: Partial<Readonly<Record<Dialect, string>>> = { messages: 'claude-opus-5', converse: LLAMA }

/** Within a dialect bytes pass, but for responses. */
const ways = clientDialects.flatMap((client) =>
  dialects.flatMap((upstream) => (client === upstream && client !== 'responses' ? [] : [{ client, upstream }])),
)

describe.each(ways)('from a client of $client to a vendor of $upstream', ({ client, upstream }) => {
  test.each(Object.keys(histories))('%s', async (name) => {
    const sent = clients[client](histories[name] ?? [])
    if (!sent) return
    const request = await readClient(client, JSON.stringify(sent), 'whole')
    const to = { ...destination(upstream), upstreamModel: strictest[upstream] ?? 'm' }
    const adapter = request.adapter([upstream], context)
    expect(adapter.obstacle).toBeUndefined()
    const { body } = adapter.request(to)
    expect([vendors[upstream](JSON.parse(body) as Fields), body]).toEqual([undefined, body])
  })
})
