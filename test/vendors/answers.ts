/** The answers of the fakes, whole and as streams, in each dialect. */
import type { Dialect } from '../../src/domain/turn.ts'
import { dataEvent, namedEvent } from '../../src/lib/http/sse.ts'
import { awsEvent } from '../support/aws-frames.ts'
import { CONVERSE_SEAL, GEMINI_SEAL, MESSAGES_SEAL, RESPONSES_SEAL } from './refusals.ts'
import { listOf, textOf, type Fields } from './seen.ts'

export type Call = {
  readonly id: string
  readonly name: string
  /** JSON text, or what a custom tool is given. */
  readonly args: string
  /** Of the responses format: what else than a function is called, and the group that its tool is of. */
  readonly kind?: 'function' | 'custom' | 'tool_search'
  readonly namespace?: string
}
export type VendorAnswer = {
  readonly thought: string
  readonly text: string
  readonly calls: readonly Call[]
  /** What is sealed of its thought; left out: the thought. */
  readonly seal?: string
  /** The pieces in which a stream brings a text. */
  readonly cut?: (text: string) => readonly string[]
}

const inTwo = (text: string): readonly string[] => [text.slice(0, 5), text.slice(5)].filter((piece) => piece !== '')
const sealOf = (prefix: string, { seal, thought }: VendorAnswer): string =>
  `${prefix}${Buffer.from(seal ?? thought).toString('base64')}`

type WireAnswer = { readonly whole: object; readonly stream: string | Uint8Array<ArrayBuffer> }

const chatUsage = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 }
const responsesUsage = { input_tokens: 40, output_tokens: 10, total_tokens: 50 }
const json = (value: object): string => dataEvent(JSON.stringify(value))

function chat({ thought, text, calls, cut = inTwo }: VendorAnswer): WireAnswer {
  const bodyOf = ({ kind = 'function', name }: Call, words: string): object =>
    kind === 'custom' ? { custom: { name, input: words } } : { function: { name, arguments: words } }
  const toolCalls = calls.map((call) => ({ id: call.id, type: call.kind ?? 'function', ...bodyOf(call, call.args) }))
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
  const pieces = calls.flatMap((call, index) => [
    chunk({ tool_calls: [{ index, id: call.id, type: call.kind ?? 'function', ...bodyOf(call, '') }] }),
    ...cut(call.args).map((piece) =>
      chunk({
        tool_calls: [
          { index, ...(call.kind === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } }) },
        ],
      }),
    ),
  ])
  return {
    whole: { ...head, choices: [{ index: 0, message, finish_reason: finish }], usage: chatUsage },
    stream: [
      chunk({ role: 'assistant', content: '' }),
      ...cut(thought).map((piece) => chunk({ reasoning_content: piece })),
      ...cut(text).map((piece) => chunk({ content: piece })),
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

function responses(said: VendorAnswer): WireAnswer {
  const { thought, text, calls, cut = inTwo } = said
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: thought }],
    encrypted_content: sealOf(RESPONSES_SEAL, said),
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
    const { content: _, arguments: words, input: __, ...named } = item as Fields
    const empty = 'content' in item ? { content: [] } : typeof words === 'string' ? { arguments: '' } : { input: '' }
    const opened = item === reasoning ? { ...reasoning, summary: [], encrypted_content: '' } : { ...named, ...empty }
    const isInOne = 'arguments' in item && typeof item.arguments !== 'string'
    const part = { ...at, content_index: 0 }
    const blank = { type: 'output_text', text: '', annotations: [] }
    const [kind, all] = wordsOf(item)
    const deltas = cut(all).map((delta) => event(`${kind}.delta`, { ...part, summary_index: 0, delta }))
    return [
      event('response.output_item.added', { output_index: index, item: isInOne ? item : opened }),
      ...('content' in item
        ? [
            event('response.content_part.added', { ...part, part: blank }),
            ...deltas,
            event('response.output_text.done', { ...part, text }),
            event('response.content_part.done', { ...part, part: { ...blank, text } }),
          ]
        : deltas),
      ...('arguments' in item && typeof item.arguments === 'string'
        ? [event('response.function_call_arguments.done', { ...at, arguments: item.arguments })]
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

/** The words of an item, and the kind of event in which they come. */
function wordsOf(item: Fields): readonly [kind: string, words: string] {
  if (item['type'] === 'message') return ['response.output_text', textOf(listOf(item['content'])[0]?.['text'])]
  if (item['type'] === 'reasoning')
    return ['response.reasoning_summary_text', textOf(listOf(item['summary'])[0]?.['text'])]
  if (item['type'] === 'custom_tool_call') return ['response.custom_tool_call_input', textOf(item['input'])]
  return ['response.function_call_arguments', textOf(item['arguments'])]
}

function messages(said: VendorAnswer): WireAnswer {
  const { thought, text, calls, cut = inTwo } = said
  const signature = sealOf(MESSAGES_SEAL, said)
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
          ...cut(thought).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
          { type: 'signature_delta', signature },
        ),
    text === ''
      ? ''
      : block({ type: 'text', text: '' }, ...cut(text).map((piece) => ({ type: 'text_delta', text: piece }))),
    ...calls.map(({ id, name, args }) =>
      block(
        { type: 'tool_use', id, name, input: {} },
        ...(args === '{}' ? [] : cut(args)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ),
    ),
    event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 10 } }),
    event('message_stop', {}),
  ].join('')
  const rest = JSON.stringify({ ...head, stop_reason: reason, usage: { input_tokens: 40, output_tokens: 10 } })
  return { whole: new Raw(`{"content":[${blocks.join(',')}],${rest.slice(1)}`), stream }
}

function gemini(said: VendorAnswer): WireAnswer {
  const { thought, text, calls, cut = inTwo } = said
  const seal = sealOf(GEMINI_SEAL, said)
  const callParts = calls.map(({ id, name, args }, i) => {
    const named = `${id === '' ? '' : `"id":${JSON.stringify(id)},`}"name":${JSON.stringify(name)}`
    return `{"functionCall":{${named},"args":${args}}${i === 0 ? `,"thoughtSignature":"${seal}"` : ''}}`
  })
  const thoughtPart = (words: string): string => JSON.stringify({ text: words, thought: true })
  const textPart = (words: string): string => JSON.stringify({ text: words })
  const usage = JSON.stringify({ promptTokenCount: 40, candidatesTokenCount: 10, totalTokenCount: 50 })
  const response = (parts: readonly string[], end = ''): string =>
    `{"candidates":[{"index":0,"content":{"role":"model","parts":[${parts.join(',')}]}${end}}],"usageMetadata":${usage}}`
  const stop = ',"finishReason":"STOP"'
  const whole = [
    ...(thought === '' ? [] : [thoughtPart(thought)]),
    ...(text === '' ? [] : [textPart(text)]),
    ...callParts,
  ]
  const pieces = [...cut(thought).map(thoughtPart), ...cut(text).map(textPart), ...callParts]
  const stream = pieces.map((part, i) => response([part], i === pieces.length - 1 ? stop : ''))
  return { whole: new Raw(response(whole, stop)), stream: stream.map((event) => `data: ${event}\n\n`).join('') }
}

function converse(said: VendorAnswer): WireAnswer {
  const { thought, text, calls, cut = inTwo } = said
  const signature = sealOf(CONVERSE_SEAL, said)
  const usage = { inputTokens: 40, outputTokens: 10, totalTokens: 50 }
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn'
  const callText = ({ id, name, args }: Call): string =>
    `{"toolUse":{"toolUseId":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${args}}}`
  const blocks = [
    ...(thought === '' ? [] : [JSON.stringify({ reasoningContent: { reasoningText: { text: thought, signature } } })]),
    ...(text === '' ? [] : [JSON.stringify({ text })]),
    ...calls.map(callText),
  ]
  let contentBlockIndex = 0
  // Pieces are padded with `p`, so that their lengths tell nothing.
  const block = (start: object | undefined, ...deltas: readonly object[]): Buffer[] => {
    const at = { contentBlockIndex: contentBlockIndex++ }
    const pieces = deltas.map((delta) => awsEvent('contentBlockDelta', { ...at, delta, p: 'abcdefgh' }))
    const begun = start ? [awsEvent('contentBlockStart', { ...at, start, p: 'abc' })] : []
    return [...begun, ...pieces, awsEvent('contentBlockStop', { ...at, p: 'abcdef' })]
  }
  const frames = [
    awsEvent('messageStart', { p: 'abcd', role: 'assistant' }),
    ...(thought === ''
      ? []
      : block(undefined, ...cut(thought).map((piece) => ({ reasoningContent: { text: piece } })), {
          reasoningContent: { signature },
        })),
    ...(text === '' ? [] : block(undefined, ...cut(text).map((piece) => ({ text: piece })))),
    ...calls.flatMap(({ id, name, args }) =>
      block(
        { toolUse: { name, toolUseId: id } },
        ...(args === '{}' ? [] : cut(args)).map((piece) => ({ toolUse: { input: piece } })),
      ),
    ),
    awsEvent('messageStop', { p: 'ab', stopReason }),
    awsEvent('metadata', { metrics: { latencyMs: 1 }, p: 'abcde', usage }),
  ]
  const rest = JSON.stringify({ metrics: { latencyMs: 1 }, stopReason, usage })
  const message = `{"output":{"message":{"role":"assistant","content":[${blocks.join(',')}]}}`
  return { whole: new Raw(`${message},${rest.slice(1)}`), stream: Uint8Array.from(Buffer.concat(frames)) }
}

/** JSON text that is sent as it is. */
export class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export const written: Readonly<Record<Dialect, (said: VendorAnswer) => WireAnswer>> = {
  chat,
  responses,
  messages,
  gemini,
  converse,
}
