/** The responses format for upstreams. Nothing is stored there, because the gateway keeps the conversation. */
import { argumentsIn, wordsOfCall } from '../core/call-arguments.ts'
import { urlOf } from '../core/media-source.ts'
import type { InputPart, Message, OutputPart, Tool, ToolChoice, Turn } from '../../domain/turn.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { fit, isTaken } from '../../vendors/fit.ts'
import { sealsReasoning } from '../../vendors/openai-families.ts'
import { chatFailures, readUpstreamError } from '../core/openai-failure.ts'
import {
  asFields,
  asList,
  asText,
  fieldListIn,
  parseExactFields,
  parseFields,
  textIn,
  type Fields,
} from '../core/fields.ts'
import { functionSchema } from '../core/schema-map.ts'
import type { DecodedEvent, Destination, StreamDecoder, UpstreamRequest, UpstreamSide } from '../core/contract.ts'
import { lostOf } from '../core/unsupported-fields.ts'
import { ResponsesCollector } from './collector.ts'
import { finishOfResponse, ResponsesDecoder, deltasOfItems } from './decoder.ts'
import { readResponsesUsage } from './usage.ts'

/** `chat`: for servers that know only the chat format and answer in it at any path. */
export const responsesUpstreamSideWith = (chat: UpstreamSide): UpstreamSide => ({
  dialect: 'responses',
  failures: chatFailures,
  write,
  readReply: (text, quirks, turn) => {
    const response = parseExactFields(text)
    if (!response) return garbage('the reply is not JSON')
    return isOfChat(response) ? chat.readReply(text, quirks, turn) : readReply(response)
  },
  decoder: (quirks, turn) => new EitherDecoder(() => chat.decoder(quirks, turn)),
  collector: () => new ResponsesCollector(),
})

function write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest {
  const sealed = sealsReasoning(to.upstreamModel)
  const { tools } = turn
  const hasCacheKey = isTaken('cache_key', to.quirks.rules)
  const body = {
    model: to.upstreamModel,
    input: inputOf(turn.messages),
    store: false,
    ...(sealed ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(stream ? { stream: true } : {}),
    max_output_tokens: to.outputTokensMax,
    temperature: turn.temperature,
    top_p: turn.topP,
    safety_identifier: turn.user,
    prompt_cache_key: hasCacheKey ? turn.cacheKey : undefined,
    reasoning:
      turn.effort || turn.showReasoning
        ? { effort: turn.effort, summary: turn.showReasoning ? 'auto' : undefined }
        : undefined,
    text:
      turn.format || turn.verbosity !== undefined
        ? { format: turn.format && formatOf(turn.format), verbosity: turn.verbosity }
        : undefined,
    tools: tools.length === 0 ? undefined : tools.map(toolFor),
    tool_choice: tools.length === 0 ? undefined : turn.toolChoice && choiceFor(turn.toolChoice, tools),
    parallel_tool_calls: tools.length === 0 ? undefined : turn.parallelToolCalls,
  }
  const fitted = fit(body, to.quirks.rules)
  return {
    path: '/responses',
    headers: {},
    body: JSON.stringify({ ...body, ...fitted.changes }),
    dropped: [...droppedOf(turn, hasCacheKey), ...fitted.dropped],
  }
}

/** Fields that this format does not have. */
function droppedOf(turn: Turn, hasCacheKey: boolean): string[] {
  const dropped = lostOf(turn.messages, { dialect: 'responses', detail: 'said' })
  if (!hasCacheKey && turn.cacheKey !== undefined) dropped.push('prompt_cache_key')
  if (turn.stop && turn.stop.length > 0) dropped.push('stop')
  if (turn.seed !== undefined) dropped.push('seed')
  if (turn.topK !== undefined) dropped.push('top_k')
  if (turn.frequencyPenalty) dropped.push('frequency_penalty')
  if (turn.presencePenalty) dropped.push('presence_penalty')
  if (turn.logprobs !== undefined) dropped.push('logprobs')
  if (turn.choices > 1) dropped.push('n')
  return dropped
}

/** The result of a custom tool has a type of its own here. The call before it says which type applies. */
function inputOf(messages: readonly Message[]): object[] {
  const custom = new Set<string>()
  for (const { parts } of messages) {
    for (const part of parts) if (part.kind === 'tool_call' && part.tool === 'custom') custom.add(part.id)
  }
  return messages.flatMap((message) => itemsOf(message, custom))
}

function itemsOf(message: Message, custom: ReadonlySet<string>): object[] {
  switch (message.role) {
    case 'system':
      return [{ type: 'message', role: 'developer', content: message.parts.map(partOf) }]
    case 'user':
      return [{ type: 'message', role: 'user', content: message.parts.map(partOf) }]
    case 'tool': {
      const { parts, callId } = message
      const output = parts.every((part) => part.kind === 'text')
        ? parts.map(({ text }) => text).join('\n\n')
        : parts.map(partOf)
      const type = custom.has(callId) ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id: callId, output }]
    }
    case 'assistant':
      return message.parts.flatMap(assistantItem)
  }
}

function assistantItem(part: OutputPart): object[] {
  switch (part.kind) {
    case 'text':
      return [saidItem({ type: 'output_text', text: part.text })]
    case 'refusal':
      return [saidItem({ type: 'refusal', refusal: part.text })]
    case 'reasoning': {
      const { sealed, text } = part
      // The vendor would refuse it without its seal, or with another vendor's.
      if (sealed?.origin !== 'responses') return []
      const summary = text === '' ? [] : [{ type: 'summary_text', text }]
      return [{ type: 'reasoning', id: sealed.form, summary, encrypted_content: sealed.data }]
    }
    case 'tool_call': {
      const { id, name, tool } = part
      return tool === 'custom'
        ? [{ type: 'custom_tool_call', call_id: id, name, input: part.arguments }]
        : [{ type: 'function_call', call_id: id, name, arguments: argumentsIn(part) }]
    }
  }
}

const saidItem = (part: object): object => ({ type: 'message', role: 'assistant', content: [part] })

function partOf(part: InputPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return { type: 'input_image', image_url: urlOf(part.source), detail: part.detail ?? 'auto' }
    case 'audio': {
      const format = part.source.kind === 'data' && /mpeg|mp3/.test(part.source.mediaType) ? 'mp3' : 'wav'
      const data = part.source.kind === 'data' ? part.source.base64 : part.source.url
      return { type: 'input_audio', input_audio: { data, format } }
    }
    case 'file':
      return { type: 'input_file', file_data: urlOf(part.source), filename: part.name ?? 'file.pdf' }
  }
}

export function toolFor(tool: Tool): Fields {
  const { kind, ...rest } = tool
  if (kind === 'custom') return { type: kind, ...rest }
  // OpenAI reads an absent `strict` as true here and as false in chat.
  return { type: kind, ...rest, parameters: functionSchema(tool.parameters ?? {}), strict: tool.strict ?? false }
}

export function choiceFor(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const named = (name: string): object => ({ type: tools.find((tool) => tool.name === name)?.kind ?? 'function', name })
  if (choice.kind === 'tool') return named(choice.name)
  if (choice.kind !== 'allowed') return choice.kind
  return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(named) }
}

function formatOf(format: NonNullable<Turn['format']>): object {
  const { kind, ...rest } = format
  return { type: kind, ...rest }
}

type ReplyRead = ReturnType<UpstreamSide['readReply']>

const garbage = (message: string): ReplyRead => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

function readReply(response: Fields): ReplyRead {
  const { error, status = 'completed' } = response
  if (error || status === 'failed') return { kind: 'failed', failure: readUpstreamError(undefined, response) }
  if (status !== 'completed' && status !== 'incomplete') return garbage('the response in the reply has not ended')
  const output = fieldListIn(response['output'])
  if (!output) return garbage('the reply has no output')
  const parts = output.flatMap(partsOf)
  const finish = finishOfResponse(response, parts.some(({ kind }) => kind === 'tool_call') ? 'tool_calls' : 'stop')
  const usage = readResponsesUsage(response['usage'])
  return { kind: 'reply', reply: { choices: [{ parts, finish }], usage, deltas: deltasOfItems(output, finish) } }
}

function partsOf(item: Fields): OutputPart[] {
  switch (item['type']) {
    case 'message':
      return asList(item['content']).map((value) => {
        const { type, text, refusal } = asFields(value)
        return type === 'refusal' ? { kind: type, text: asText(refusal) } : { kind: 'text', text: asText(text) }
      })
    case 'reasoning': {
      const text = [...asList(item['summary']), ...asList(item['content'])].map((part) =>
        asText(asFields(part)['text']),
      )
      const data = textIn(item['encrypted_content'])
      const sealed = data === undefined ? undefined : { origin: 'responses' as const, data, form: textIn(item['id']) }
      return [{ kind: 'reasoning', text: text.join('\n'), sealed }]
    }
    case 'function_call':
    case 'custom_tool_call': {
      const tool = item['type'] === 'function_call' ? 'function' : 'custom'
      const words = wordsOfCall(tool === 'custom' ? item['input'] : item['arguments'])
      return [{ kind: 'tool_call', id: asText(item['call_id']), name: asText(item['name']), arguments: words, tool }]
    }
    default:
      return []
  }
}

const isOfChat = ({ output, choices, type }: Fields): boolean =>
  output === undefined && type === undefined && Array.isArray(choices)

/** Reads the events of a response, or of a chat completion if the first event is one. */
class EitherDecoder implements StreamDecoder {
  private readonly chat: () => StreamDecoder
  private decoder: StreamDecoder = new ResponsesDecoder()
  private isKnown = false

  constructor(chat: () => StreamDecoder) {
    this.chat = chat
  }

  get usage(): StreamDecoder['usage'] {
    return this.decoder.usage
  }

  get finished(): boolean {
    return this.decoder.finished
  }

  decode(event: SseEvent): DecodedEvent {
    if (!this.isKnown && event.data !== '') {
      this.isKnown = true
      if (isOfChat(parseFields(event.data) ?? {})) this.decoder = this.chat()
    }
    return this.decoder.decode(event)
  }
}
