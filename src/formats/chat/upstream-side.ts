/** The chat format towards upstreams, for clients of another dialect. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type {
  Delta,
  FinishReason,
  InputPart,
  MediaSource,
  Message,
  OutputPart,
  Reply,
  Tool,
  ToolChoice,
  Turn,
} from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { fit } from '../../vendors/fit.ts'
import { asFields, asText, fieldListIn, fieldsIn, ownIn, parseFields, type Fields } from '../fields.ts'
import type { Decoded, Destination, StreamDecoder, UpstreamRequest, UpstreamSide, WriterQuirks } from '../format.ts'
import { longerName } from './call-name.ts'
import { ChatCollector } from './collector.ts'
import { chatFailures, hiddenError } from './failure.ts'
import { lostOf } from '../lost.ts'
import { SealingDecoder, thoughtsIn, wantsThoughts, withSeals } from './thoughts.ts'
import { readChatUsage, type UsageDialect } from './usage.ts'
import { CHAT_PATH } from './wire.ts'

export const chatUpstreamSide: UpstreamSide = {
  dialect: 'chat',
  failures: chatFailures,
  write,
  readReply(text, quirks) {
    const read = readReply(text, quirks)
    return read.kind === 'reply' && wantsThoughts(quirks) ? { ...read, reply: withSeals(read.reply) } : read
  },
  decoder: (quirks) => {
    const decoder = new ChatDecoder(quirks.usageDialect)
    return wantsThoughts(quirks) ? new SealingDecoder(decoder) : decoder
  },
  collector: () => new ChatCollector(),
}

function write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest {
  const { quirks } = to
  const thoughts = wantsThoughts(quirks) ? 'said' : 'lost'
  const dropped = lostOf(turn.messages, { dialect: 'chat', detail: 'said', thoughts })
  const body = {
    model: to.upstreamModel,
    messages: messagesOf(turn.messages, thoughts),
    ...(stream ? { stream: true } : {}),
    ...(stream && quirks.usageInStream === 'on_request' ? { stream_options: { include_usage: true } } : {}),
    [quirks.outputMaxField]: to.outputTokensMax,
    temperature: turn.temperature,
    top_p: turn.topP,
    top_k: turn.topK,
    stop: turn.stop,
    seed: turn.seed,
    frequency_penalty: turn.frequencyPenalty,
    presence_penalty: turn.presencePenalty,
    n: turn.choices === 1 ? undefined : turn.choices,
    ...(turn.logprobs === undefined ? {} : { logprobs: true, top_logprobs: turn.logprobs }),
    user: turn.user,
    verbosity: turn.verbosity,
    reasoning_effort: turn.effort,
    tools: turn.tools.length === 0 ? undefined : turn.tools.map(toolOf),
    tool_choice: turn.tools.length === 0 ? undefined : turn.toolChoice && choiceOf(turn.toolChoice, turn.tools),
    parallel_tool_calls: turn.tools.length === 0 ? undefined : turn.parallelToolCalls,
    response_format: formatOf(turn.format),
  }
  const fitted = fit(body, quirks.rules)
  return {
    path: CHAT_PATH,
    headers: {},
    body: JSON.stringify({ ...body, ...fitted.changes }),
    dropped: [...dropped, ...fitted.dropped],
  }
}

/** Tool messages take text only: what else a tool gave is shown by the user, behind the last of the results. */
function messagesOf(messages: readonly Message[], thoughts: 'said' | 'lost'): object[] {
  const written: object[] = []
  let shown: InputPart[] = []
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: contentOf(shown) })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    else shown.push(...message.parts.filter(({ kind }) => kind !== 'text'))
    written.push(messageOf(message, thoughts))
  }
  show()
  return written
}

function messageOf(message: Message, thoughts: 'said' | 'lost'): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.parts.map(({ text }) => text).join('\n\n') }
    case 'user':
      return { role: 'user', content: contentOf(message.parts) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: resultOf(message.parts) }
    case 'assistant': {
      const words = (kind: 'text' | 'refusal'): string =>
        message.parts.map((part) => (part.kind === kind ? part.text : '')).join('')
      const calls = message.parts.flatMap((part) => (part.kind === 'tool_call' ? [callOf(part)] : []))
      const content = words('text')
      const refusal = words('refusal')
      const thought = thoughts === 'said' ? thoughtsIn(message.parts) : ''
      return {
        role: 'assistant',
        content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
        ...(thought.trim() === '' ? {} : { reasoning_content: thought }),
        ...(refusal === '' ? {} : { refusal }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      }
    }
  }
}

function resultOf(parts: readonly InputPart[]): string {
  const words = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return words.length === 0 && parts.length > 0 ? 'The result is shown below.' : words.join('\n\n')
}

const callOf = ({ id, name, tool, ...call }: Extract<OutputPart, { kind: 'tool_call' }>): object =>
  tool === 'custom'
    ? { id, type: 'custom', custom: { name, input: call.arguments } }
    : { id, type: 'function', function: { name, arguments: call.arguments } }

function contentOf(parts: readonly InputPart[]): string | object[] {
  if (parts.every((part) => part.kind === 'text')) return parts.map(({ text }) => text).join('\n\n')
  return parts.map(partOf)
}

export const urlOf = (source: MediaSource): string =>
  source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`

function partOf(part: InputPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part.source), ...(part.detail && { detail: part.detail }) } }
    case 'audio': {
      const format = part.source.kind === 'data' && /mpeg|mp3/.test(part.source.mediaType) ? 'mp3' : 'wav'
      const data = part.source.kind === 'data' ? part.source.base64 : part.source.url
      return { type: 'input_audio', input_audio: { data, format } }
    }
    case 'file':
      return { type: 'file', file: { file_data: urlOf(part.source), filename: part.name ?? 'file.pdf' } }
  }
}

function toolOf(tool: Tool): object {
  const { kind, ...rest } = tool
  return kind === 'function' ? { type: 'function', function: rest } : { type: 'custom', custom: rest }
}

function choiceOf(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const typeOf = (name: string): string => tools.find((tool) => tool.name === name)?.kind ?? 'function'
  const named = (name: string): object => ({ type: typeOf(name), [typeOf(name)]: { name } })
  if (choice.kind === 'tool') return named(choice.name)
  if (choice.kind !== 'allowed') return choice.kind
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(named) } }
}

function formatOf(format: Turn['format']): object | undefined {
  if (!format || format.kind === 'text') return undefined
  if (format.kind === 'json_object') return { type: 'json_object' }
  const { kind, ...schema } = format
  return { type: kind, json_schema: schema }
}

const garbage = (message: string) => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } }) as const

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}
const finishOf = (reason: unknown): FinishReason => ownIn(finishes, asText(reason)) ?? 'stop'

function readReply(
  text: string,
  { usageDialect }: WriterQuirks,
): { kind: 'reply'; reply: Reply } | { kind: 'failed'; failure: UpstreamFailure } {
  const parsed = parseFields(text)
  if (!parsed) return garbage('the reply is not JSON')
  const failure = hiddenError(parsed)
  if (failure) return { kind: 'failed', failure }
  const choices = fieldListIn(parsed['choices']) ?? []
  if (choices.length === 0) return garbage('the reply has no choices')
  if (!choices.every(({ message }) => fieldsIn(message))) return garbage('a choice has no message')
  const read = choices.map(({ message, finish_reason: finish }) => ({
    parts: outputParts(asFields(message)),
    finish: finishOf(finish),
  }))
  return { kind: 'reply', reply: { choices: read, usage: readChatUsage(parsed['usage'], usageDialect) } }
}

function outputParts(message: Fields): OutputPart[] {
  const parts: OutputPart[] = []
  const reasoning = message['reasoning_content'] ?? message['reasoning']
  if (typeof reasoning === 'string' && reasoning !== '') parts.push({ kind: 'reasoning', text: reasoning })
  const { content, refusal, tool_calls: calls } = message
  if (typeof content === 'string' && content !== '') parts.push({ kind: 'text', text: content })
  if (typeof refusal === 'string' && refusal !== '') parts.push({ kind: 'refusal', text: refusal })
  for (const call of Array.isArray(calls) ? calls : []) {
    const { id, type, function: fn, custom } = asFields(call)
    const tool = type === 'custom' ? 'custom' : 'function'
    const body = asFields(tool === 'custom' ? custom : fn)
    const words = tool === 'custom' ? body['input'] : body['arguments']
    parts.push({
      kind: 'tool_call',
      id: asText(id),
      name: asText(body['name']),
      arguments: asText(words),
      tool,
    })
  }
  return parts
}

type Call = Extract<Delta, { kind: 'call' }>

/** Reads the chunks of a stream. */
class ChatDecoder implements StreamDecoder {
  usage: Usage | undefined
  private readonly usageDialect: UsageDialect
  private readonly running = new Set<number>()
  private ended = 0
  private readonly calls = new Set<string>()
  /** The call whose name may go on: its arguments have not begun. */
  private naming: Call | undefined

  constructor(usageDialect: UsageDialect) {
    this.usageDialect = usageDialect
  }

  get finished(): boolean {
    return this.ended > 0 && this.running.size === 0
  }

  decode({ data }: SseEvent): Decoded {
    if (data === '[DONE]') return { kind: 'done' }
    if (data === '') return { kind: 'deltas', deltas: [] }
    const chunk = parseFields(data)
    if (!chunk) return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not JSON' } }
    const failure = hiddenError(chunk)
    if (failure) return { kind: 'failed', failure }
    this.usage = readChatUsage(chunk['usage'] ?? asFields(chunk['x_groq'])['usage'], this.usageDialect) ?? this.usage
    const deltas: Delta[] = []
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : []) this.choice(asFields(choice), deltas)
    return { kind: 'deltas', deltas }
  }

  private choice({ index, delta, finish_reason: finish }: Fields, deltas: Delta[]): void {
    const choice = typeof index === 'number' ? index : 0
    const before = deltas.length
    const fields = asFields(delta)
    const say = (kind: 'text' | 'refusal' | 'reasoning', text: unknown): void => {
      if (typeof text === 'string' && text !== '') deltas.push(...this.named(), { kind, choice, text })
    }
    say('reasoning', fields['reasoning_content'] ?? fields['reasoning'])
    say('text', fields['content'])
    say('refusal', fields['refusal'])
    const calls = fields['tool_calls']
    for (const [i, call] of (Array.isArray(calls) ? calls : []).entries()) this.call(choice, i, asFields(call), deltas)
    if (deltas.length > before || this.naming?.choice === choice) this.running.add(choice)
    if (finish === null || finish === undefined) return
    this.running.delete(choice)
    this.ended++
    deltas.push(...this.named(), { kind: 'finish', choice, reason: finishOf(finish) })
  }

  /** The call whose name has come, in front of what comes next. */
  private named(): Delta[] {
    const { naming } = this
    this.naming = undefined
    return naming ? [naming] : []
  }

  private call(
    choice: number,
    position: number,
    { index, id, type, function: fn, custom }: Fields,
    deltas: Delta[],
  ): void {
    const call = typeof index === 'number' ? index : position
    const tool = type === 'custom' || custom !== undefined ? 'custom' : 'function'
    const body = asFields(tool === 'custom' ? custom : fn)
    const key = `${choice}/${call}`
    const name = asText(body['name'])
    const { naming } = this
    if (!this.calls.has(key)) {
      this.calls.add(key)
      deltas.push(...this.named())
      this.naming = { kind: 'call', choice, call, id: asText(id), name, tool }
    } else if (naming?.choice === choice && naming.call === call) {
      this.naming = { ...naming, id: naming.id || asText(id), name: longerName(naming.name, name) }
    }
    const words = tool === 'custom' ? body['input'] : body['arguments']
    if (typeof words !== 'string' || words === '') return
    deltas.push(...this.named(), { kind: 'arguments', choice, call, text: words })
  }
}
