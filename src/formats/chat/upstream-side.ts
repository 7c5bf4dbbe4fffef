/** The chat format towards upstreams, for clients of another dialect. */
import { argumentsIn, toolOfCall, wordsOfCall } from '../core/call-arguments.ts'
import { urlOf } from '../core/media-source.ts'
import type { UpstreamFailure } from '../../domain/failure.ts'
import type {
  Delta,
  FinishReason,
  InputPart,
  Message,
  OutputPart,
  Reply,
  Tool,
  ToolChoice,
  Turn,
} from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { fit, isTaken } from '../../vendors/fit.ts'
import { randomId } from '../../lib/primitives/ids.ts'
import {
  asFields,
  asList,
  asText,
  fieldListIn,
  fieldsIn,
  numberIn,
  ownIn,
  parseExactFields,
  type Fields,
} from '../core/fields.ts'
import { functionSchema } from '../core/schema-map.ts'
import type {
  DecodedEvent,
  Destination,
  StreamDecoder,
  UpstreamRequest,
  UpstreamSide,
  WriterQuirks,
} from '../core/contract.ts'
import { longerName } from './call-name.ts'
import { ChatCollector } from './collector.ts'
import { chatFailures, hiddenError } from '../core/openai-failure.ts'
import { eventsOfReply } from './reply-events.ts'
import { failureOfEnd, lawfulReply, LawfulChunks, parseChunk, thoughtIn } from './lawful.ts'
import { lostOf } from '../core/unsupported-fields.ts'
import { runningUsage } from '../core/running-usage.ts'
import { SealingDecoder, thoughtsIn, takesThoughtsBack, withSeals } from './thoughts.ts'
import type { UsageDialect } from '../../vendors/preset.ts'
import { readChatUsage, statedUsage } from '../core/openai-usage.ts'
import { CHAT_PATH } from './wire.ts'

export const chatUpstreamSide: UpstreamSide = {
  dialect: 'chat',
  failures: chatFailures,
  write,
  readReply(text, quirks) {
    const read = readReply(text, quirks)
    return read.kind === 'reply' && takesThoughtsBack(quirks) ? { ...read, reply: withSeals(read.reply) } : read
  },
  decoder: (quirks) => {
    const decoder = new ChatDecoder(quirks.usageDialect)
    return takesThoughtsBack(quirks) ? new SealingDecoder(decoder) : decoder
  },
  collector: () => new ChatCollector(),
  eventsOfReply,
}

function write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest {
  const { quirks } = to
  const thoughts = takesThoughtsBack(quirks) ? 'said' : 'lost'
  const dropped = lostOf(turn.messages, { dialect: 'chat', detail: 'said', thoughts })
  const hasCacheKey = isTaken('cache_key', quirks.rules)
  if (!hasCacheKey && turn.cacheKey !== undefined) dropped.push('prompt_cache_key')
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
    prompt_cache_key: hasCacheKey ? turn.cacheKey : undefined,
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
    if (isSilent(message, thoughts)) continue
    if (message.role !== 'tool') show()
    else shown.push(...message.parts.filter(({ kind }) => kind !== 'text'))
    written.push(messageOf(message, thoughts))
  }
  show()
  return written
}

/** Nothing is said by it, and some vendors refuse such a message (Moonshot, 2026-11). */
function isSilent({ role, parts }: Message, thoughts: 'said' | 'lost'): boolean {
  if (role !== 'assistant' && role !== 'system') return false
  return parts.every(
    (part) => part.kind !== 'tool_call' && (part.text === '' || (part.kind === 'reasoning' && thoughts === 'lost')),
  )
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
    : { id, type: 'function', function: { name, arguments: argumentsIn(call) } }

function contentOf(parts: readonly InputPart[]): string | object[] {
  if (parts.every((part) => part.kind === 'text')) return parts.map(({ text }) => text).join('\n\n')
  return parts.map(partOf)
}

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
  if (tool.kind === 'function') {
    const { kind: _, ...rest } = tool
    return { type: 'function', function: { ...rest, parameters: rest.parameters && functionSchema(rest.parameters) } }
  }
  const { name, description, format } = tool
  const { type, ...grammar } = format ?? {}
  return { type: 'custom', custom: { name, description, format: type === 'grammar' ? { type, grammar } : format } }
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
  const parsed = parseExactFields(text)
  if (!parsed) return garbage('the reply is not JSON')
  const failure = hiddenError(parsed) ?? failureOfEnd(parsed)
  if (failure) return { kind: 'failed', failure }
  const choices = fieldListIn(lawfulReply(parsed)['choices']) ?? []
  if (choices.length === 0) return garbage('the reply has no choices')
  if (!choices.every(({ message }) => fieldsIn(message))) return garbage('a choice has no message')
  const read = choices.map(({ message, finish_reason: finish }) => ({
    parts: outputParts(asFields(message)),
    finish: finishOf(finish),
  }))
  return { kind: 'reply', reply: { choices: read, usage: readChatUsage(statedUsage(parsed), usageDialect) } }
}

function outputParts(message: Fields): OutputPart[] {
  const parts: OutputPart[] = []
  const reasoning = thoughtIn(message)
  if (reasoning !== '') parts.push({ kind: 'reasoning', text: reasoning })
  const { content, refusal } = message
  if (typeof content === 'string' && content !== '') parts.push({ kind: 'text', text: content })
  if (typeof refusal === 'string' && refusal !== '') parts.push({ kind: 'refusal', text: refusal })
  for (const call of callsIn(message)) {
    const tool = toolOfCall(call)
    const body = asFields(call[tool])
    const words = asText(tool === 'custom' ? body['input'] : body['arguments'])
    parts.push({ kind: 'tool_call', id: asText(call['id']), name: asText(body['name']), arguments: words, tool })
  }
  return parts
}

/** The calls of a message; that of the format's first version, which had one function at most, among them. */
function callsIn({ tool_calls: calls, function_call: call }: Fields): Fields[] {
  const called = asList(calls)
    .map(fieldsIn)
    .filter((one) => one !== undefined)
  const { name, arguments: words } = asFields(call)
  if (called.length > 0 || asText(name) === '') return called
  return [{ id: randomId('call_'), type: 'function', function: { name, arguments: wordsOfCall(words) || '{}' } }]
}

/** A chunk with a piece of a call of the first version as one of a call of now. */
function withoutFunctionCall(chunk: Fields): Fields {
  const choices = asList(chunk['choices']).map(asFields)
  const isOld = ({ delta }: Fields): boolean => {
    const { function_call: call, tool_calls: calls } = asFields(delta)
    const { name, arguments: words } = asFields(call)
    return asList(calls).length === 0 && (asText(name) !== '' || asText(words) !== '')
  }
  if (!choices.some(isOld)) return chunk
  const read = choices.map((choice) => {
    if (!isOld(choice)) return choice
    const { function_call: call, ...delta } = asFields(choice['delta'])
    return { ...choice, delta: { ...delta, tool_calls: [{ index: 0, function: call }] } }
  })
  return { ...chunk, choices: read }
}

type CallDelta = Extract<Delta, { kind: 'call' }>

/** Reads the chunks of a stream. */
class ChatDecoder implements StreamDecoder {
  usage: Usage | undefined
  private readonly usageDialect: UsageDialect
  private readonly running = new Set<number>()
  private ended = 0
  private readonly calls = new Set<string>()
  private readonly lawful = new LawfulChunks()
  /** The call whose name may go on: its arguments have not begun. */
  private naming: CallDelta | undefined

  constructor(usageDialect: UsageDialect) {
    this.usageDialect = usageDialect
  }

  get finished(): boolean {
    return this.ended > 0 && this.running.size === 0
  }

  decode({ data }: SseEvent): DecodedEvent {
    if (data === '[DONE]') return { kind: 'done' }
    if (data === '') return { kind: 'deltas', deltas: [] }
    const came = parseChunk(data)
    if (!came) return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not JSON' } }
    const failure = hiddenError(came) ?? failureOfEnd(came)
    if (failure) return { kind: 'failed', failure }
    this.usage = runningUsage(this.usage, readChatUsage(statedUsage(came), this.usageDialect))
    const deltas: Delta[] = []
    const chunk = this.lawful.read(data.includes('"function_call"') ? withoutFunctionCall(came) : came)
    for (const choice of asList(chunk['choices'])) this.choice(asFields(choice), deltas)
    return { kind: 'deltas', deltas }
  }

  private choice({ index, delta, finish_reason: finish }: Fields, deltas: Delta[]): void {
    const choice = numberIn(index) ?? 0
    const before = deltas.length
    const fields = asFields(delta)
    const say = (kind: 'text' | 'refusal' | 'reasoning', text: unknown): void => {
      if (typeof text === 'string' && text !== '') deltas.push(...this.named(), { kind, choice, text })
    }
    say('reasoning', thoughtIn(fields))
    say('text', fields['content'])
    say('refusal', fields['refusal'])
    for (const call of asList(fields['tool_calls'])) this.call(choice, asFields(call), deltas)
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

  private call(choice: number, entry: Fields, deltas: Delta[]): void {
    const call = numberIn(entry['index'])
    if (call === undefined) return
    const tool = toolOfCall(entry)
    const body = asFields(entry[tool])
    const key = `${choice}/${call}`
    const name = asText(body['name'])
    const { naming } = this
    if (!this.calls.has(key)) {
      this.calls.add(key)
      deltas.push(...this.named())
      this.naming = { kind: 'call', choice, call, id: asText(entry['id']), name, tool }
    } else if (naming?.choice === choice && naming.call === call) {
      this.naming = { ...naming, name: longerName(naming.name, name) }
    }
    const words = asText(tool === 'custom' ? body['input'] : body['arguments'])
    if (words !== '') deltas.push(...this.named(), { kind: 'arguments', choice, call, text: words })
  }
}
