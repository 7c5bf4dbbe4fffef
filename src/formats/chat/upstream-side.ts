/** The chat format for upstreams, for clients of another dialect. */
import { argumentsIn } from '../core/call-arguments.ts'
import { urlOf } from '../core/media-source.ts'
import type { InputPart, Message, OutputPart, Tool, ToolChoice, Turn } from '../../domain/turn.ts'
import { fit, isTaken } from '../../vendors/fit.ts'
import { pathOf } from '../core/model-path.ts'
import { functionSchema } from '../core/schema-map.ts'
import type { Destination, UpstreamRequest, UpstreamSide } from '../core/contract.ts'
import { ChatCollector } from './collector.ts'
import { chatFailures } from '../core/openai-failure.ts'
import { eventsOfReply } from './reply-events.ts'
import { lostOf } from '../core/unsupported-fields.ts'
import { SealingDecoder, thoughtsIn, takesThoughtsBack, withSeals } from './thoughts.ts'
import { CHAT_PATH } from './wire.ts'
import { readReply, ChatDecoder } from './upstream-answer.ts'

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
    path: pathOf(CHAT_PATH, to),
    headers: {},
    body: JSON.stringify({ ...body, ...fitted.changes }),
    dropped: [...dropped, ...fitted.dropped],
  }
}

/** Tool messages take text only. A user message after the last result shows what else a tool gave. */
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

/** Whether a message says nothing. Some vendors refuse such a message (Moonshot, 2026-11). */
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
