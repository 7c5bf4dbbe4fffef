/** What the fakes say, whole and as streams, in each dialect. */
import type { Dialect } from '../../src/domain/turn.ts'
import { dataEvent, namedEvent } from '../../src/lib/sse.ts'
import { GEMINI_SEAL, MESSAGES_SEAL, RESPONSES_SEAL } from './refusals.ts'

export type Call = {
  readonly id: string
  readonly name: string
  /** JSON, or what a custom tool is given. */
  readonly args: string
  /** Of the responses format: what else than a function is called, and the group that its tool is of. */
  readonly kind?: 'function' | 'custom' | 'tool_search'
  readonly namespace?: string
}
export type Said = { readonly thought: string; readonly text: string; readonly calls: readonly Call[] }

type Written = { readonly whole: object; readonly stream: string }

const chatUsage = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 }
const responsesUsage = { input_tokens: 40, output_tokens: 10, total_tokens: 50 }
const json = (value: object): string => dataEvent(JSON.stringify(value))

function chat({ thought, text, calls }: Said): Written {
  const toolCalls = calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }))
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'up' }
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
  }
  const chunk = (delta: object, reason: string | null = null): string =>
    json({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })
  const pieces = calls.flatMap(({ id, name, args }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(0, 5) } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(5) } }] }),
  ])
  return {
    whole: { ...head, choices: [{ index: 0, message, finish_reason: finish }], usage: chatUsage },
    stream: [
      chunk({ role: 'assistant', content: '' }),
      ...(thought === '' ? [] : [chunk({ reasoning_content: thought })]),
      ...(text === '' ? [] : [chunk({ content: text })]),
      ...pieces,
      chunk({}, finish),
      json({ ...head, object: 'chat.completion.chunk', choices: [], usage: chatUsage }),
      'data: [DONE]\n\n',
    ].join(''),
  }
}

function responsesCall({ id, name, args, kind = 'function', namespace }: Call, i: number) {
  const head = { id: `fc_${i}`, call_id: id, status: 'completed' }
  const group = namespace === undefined ? {} : { namespace }
  if (kind === 'custom') return { ...head, type: 'custom_tool_call', name, ...group, input: args }
  if (kind === 'function') return { ...head, type: 'function_call', name, ...group, arguments: args }
  return { ...head, type: 'tool_search_call', execution: 'client', arguments: JSON.parse(args) as object }
}

function responses({ thought, text, calls }: Said): Written {
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: `${RESPONSES_SEAL}${Buffer.from(thought).toString('base64')}`,
  }
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const items = [...(thought === '' ? [] : [reasoning]), ...(text === '' ? [] : [message]), ...calls.map(responsesCall)]
  const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'up' }
  const whole = { ...head, status: 'completed', output: items, usage: responsesUsage, error: null }
  const event = (type: string, fields: object): string => namedEvent(type, JSON.stringify({ type, ...fields }))
  const stream = items.flatMap((item, index) => {
    const at = { output_index: index, item_id: item.id }
    const part = { ...at, content_index: 0 }
    const blank = { type: 'output_text', text: '', annotations: [] }
    const open = 'content' in item ? { ...item, content: [] } : 'arguments' in item ? { ...item, arguments: '' } : item
    return [
      event('response.output_item.added', { output_index: index, item: open }),
      ...('content' in item
        ? [
            event('response.content_part.added', { ...part, part: blank }),
            event('response.output_text.delta', { ...part, delta: text }),
            event('response.output_text.done', { ...part, text }),
            event('response.content_part.done', { ...part, part: { ...blank, text } }),
          ]
        : []),
      ...('arguments' in item && typeof item.arguments === 'string'
        ? [
            event('response.function_call_arguments.delta', { ...at, delta: item.arguments }),
            event('response.function_call_arguments.done', { ...at, arguments: item.arguments }),
          ]
        : []),
      event('response.output_item.done', { output_index: index, item }),
    ]
  })
  return {
    whole,
    stream: [
      event('response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } }),
      ...stream,
      event('response.completed', { response: whole }),
    ].join(''),
  }
}

function messages({ thought, text, calls }: Said): Written {
  const signature = `${MESSAGES_SEAL}${Buffer.from(thought).toString('base64')}`
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_sequence: null }
  const reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  // Numbers of arguments as they stand: no object of ours carries them.
  const callText = ({ id, name, args }: Call): string =>
    `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${args}}`
  const blocks = [
    ...(thought === '' ? [] : [JSON.stringify({ type: 'thinking', thinking: thought, signature })]),
    ...(text === '' ? [] : [JSON.stringify({ type: 'text', text })]),
    ...calls.map(callText),
  ]
  const event = (type: string, fields: object): string => namedEvent(type, JSON.stringify({ type, ...fields }))
  let index = 0
  const block = (begun: object, ...deltas: readonly object[]): string => {
    const at = { index: index++ }
    const pieces = deltas.map((delta) => event('content_block_delta', { ...at, delta })).join('')
    return event('content_block_start', { ...at, content_block: begun }) + pieces + event('content_block_stop', at)
  }
  const stream = [
    event('message_start', {
      message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 40, output_tokens: 1 } },
    }),
    thought === ''
      ? ''
      : block(
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: thought },
          { type: 'signature_delta', signature },
        ),
    text === '' ? '' : block({ type: 'text', text: '' }, { type: 'text_delta', text }),
    ...calls.map(({ id, name, args }) =>
      block({ type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: args }),
    ),
    event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 10 } }),
    event('message_stop', {}),
  ].join('')
  const rest = JSON.stringify({ ...head, stop_reason: reason, usage: { input_tokens: 40, output_tokens: 10 } })
  return { whole: new Raw(`{"content":[${blocks.join(',')}],${rest.slice(1)}`), stream }
}

function gemini({ thought, text, calls }: Said): Written {
  const parts = [
    ...(thought === '' ? [] : [JSON.stringify({ text: thought, thought: true })]),
    ...(text === '' ? [] : [JSON.stringify({ text })]),
    ...calls.map(({ id, name, args }, i) => {
      const seal = i === 0 ? `,"thoughtSignature":"${GEMINI_SEAL}${Buffer.from(thought).toString('base64')}"` : ''
      return `{"functionCall":{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"args":${args}}${seal}}`
    }),
  ]
  const usage = JSON.stringify({ promptTokenCount: 40, candidatesTokenCount: 10, totalTokenCount: 50 })
  const whole = `{"candidates":[{"index":0,"content":{"role":"model","parts":[${parts.join(',')}]},"finishReason":"STOP"}],"usageMetadata":${usage}}`
  return { whole: new Raw(whole), stream: `data: ${whole}\n\n` }
}

/** JSON text that is sent as it is. */
export class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export const written: Readonly<Record<Dialect, (said: Said) => Written>> = { chat, responses, messages, gemini }
