/**
 * Amazon Bedrock's Converse format for upstreams. No client speaks it.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and API_runtime_ConverseStream.html,
 * with the service model of bedrock-runtime (boto/botocore, 2026-08).
 */
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import type { Message, Reply, Turn } from '../../domain/turn.ts'
import { claudeFamilyOf, demandedLimit, type ClaudeFamily } from '../../vendors/claude-families.ts'
import { claudeThinking, isThinking } from '../../vendors/claude-thinking.ts'
import {
  converseFamilyOf,
  converseModelOf,
  nearestEffort,
  type ConverseFamily,
} from '../../vendors/converse-families.ts'
import type { Destination, UpstreamRequest, UpstreamSide } from '../core/contract.ts'
import { asFields, fieldListIn, parseExactFields } from '../core/fields.ts'
import { brokenEnd, finishOf, noAnswer, blockParts } from './answer-reader.ts'
import { ConverseCollector, eventsOfWhole } from './collector.ts'
import { converseHistory, type ConverseHistory } from './conversation.ts'
import { ConverseDecoder } from './decoder.ts'
import { converseFailures } from './failure.ts'
import { unsentMedia } from './media.ts'
import { formatOf, toolsOf } from './tools.ts'
import { readConverseUsage } from './usage.ts'
import { conversePath, NO_HEADERS } from './wire.ts'

export const converseUpstreamSide: UpstreamSide = {
  dialect: 'converse',
  failures: converseFailures,
  obstacle,
  write,
  readReply,
  decoder: () => new ConverseDecoder(),
  collector: () => new ConverseCollector(),
  eventsOfReply: eventsOfWhole,
}

/** What is refused rather than left out, because the answer would be a different one. */
function obstacle({ choices, messages }: Turn): Failure | undefined {
  const refuse = (message: string, param: string): Failure => ({ kind: 'unsupported_parameter', message, param })
  if (choices > 1) return refuse('This model gives one choice for each request.', 'n')
  const called = new Set<string>()
  for (const [i, message] of messages.entries()) {
    if (message.role === 'assistant') {
      for (const part of message.parts) if (part.kind === 'tool_call') called.add(part.id)
      continue
    }
    const what = unsentMedia(message.parts, { isResult: message.role === 'tool' })
    if (what !== undefined) return refuse(`This model takes no ${what}.`, `messages[${i}].content`)
    if (message.role === 'tool' && !called.has(message.callId)) {
      const id = message.callId.slice(0, 100)
      return refuse(`A tool message answers the call '${id}', which no message before it makes.`, `messages[${i}]`)
    }
  }
  return undefined
}

function write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest {
  const { id, name } = converseModelOf(to.upstreamModel)
  const family = converseFamilyOf(name)
  const claude = family.isClaude ? claudeFamilyOf(name) : undefined
  const dropped = new Set<string>()
  const format = formatOf(turn, family, dropped)
  const tools = toolsOf(turn, { family, forcedTool: claude?.forcedTool ?? true, dropped })
  const spoken = converseHistory([...notesOf(format.notes, tools.notes), ...turn.messages], {
    family,
    prefill: claude?.prefill ?? false,
  })
  for (const one of spoken.dropped) dropped.add(one)
  const limit = limitOf(to, name, claude)
  const model = modelFieldsOf(turn, { family, claude, limit, spoken, isForced: tools.isForced, dropped })
  const inferenceConfig = {
    ...(limit.tokens === undefined ? {} : { maxTokens: limit.tokens }),
    ...samplingOf(turn, { sampling: model.sampling, isClaude: claude !== undefined, dropped }),
    ...stopsOf(turn),
  }
  const body = {
    ...(spoken.system.length === 0 ? {} : { system: spoken.system }),
    messages: spoken.messages,
    ...(Object.keys(inferenceConfig).length === 0 ? {} : { inferenceConfig }),
    ...(tools.config ? { toolConfig: tools.config } : {}),
    ...(format.config ? { outputConfig: format.config } : {}),
    ...(Object.keys(model.fields).length === 0 ? {} : { additionalModelRequestFields: model.fields }),
  }
  for (const [field, value] of Object.entries(strangers(turn))) if (value !== undefined) dropped.add(field)
  const isUnstreamed = stream && tools.config !== undefined && !family.streamsTools
  return {
    path: conversePath(id, stream && !isUnstreamed ? 'stream' : 'whole'),
    headers: NO_HEADERS,
    body: JSON.stringify(body),
    dropped: [...dropped],
    ...(isUnstreamed ? { isWhole: true } : {}),
    demandedOutputTokensMax: limit.demanded,
  }
}

/** What the system prompt begins with, because no field says it. */
const notesOf = (...notes: readonly (readonly string[])[]): Message[] =>
  notes.flat().map((text) => ({ role: 'system', parts: [{ kind: 'text', text }] }))

/** Optional fields that this format does not have. */
const strangers = (turn: Turn): object => ({
  seed: turn.seed,
  frequency_penalty: turn.frequencyPenalty || undefined,
  presence_penalty: turn.presencePenalty || undefined,
  logprobs: turn.logprobs,
  verbosity: turn.verbosity,
  prompt_cache_key: turn.cacheKey,
  user: turn.user,
  parallel_tool_calls: turn.tools.length > 0 && turn.parallelToolCalls === false ? false : undefined,
})

type OutputLimit = { readonly tokens: number | undefined; readonly demanded: number | undefined }

/**
 * The output limit. A larger one than the model's is refused ("The maximum tokens you requested exceeds the model limit
 * of …", https://github.com/charmbracelet/crush/issues/946). Without one a model may stop at a low limit of its own.
 */
function limitOf(to: Destination, name: string, claude: ClaudeFamily | undefined): OutputLimit {
  const { outputTokensMax: asked, modelOutputTokensMax: most } = to
  const longest = claude ? demandedLimit(name, most) : most
  const bound = Math.min(most ?? Infinity, claude?.outputTokensMax ?? Infinity)
  if (asked === undefined) return { tokens: longest, demanded: longest }
  return { tokens: Math.min(asked, bound), demanded: undefined }
}

type ModelFields = {
  readonly family: ConverseFamily
  readonly claude: ClaudeFamily | undefined
  readonly limit: OutputLimit
  readonly spoken: ConverseHistory
  readonly isForced: boolean
  readonly dropped: Set<string>
}

/** The fields of the model's own API, and whether the model takes sampling fields beside them. */
function modelFieldsOf(
  turn: Turn,
  { family, claude, limit, spoken, isForced, dropped }: ModelFields,
): { readonly fields: object; readonly sampling: boolean } {
  if (!claude) {
    const reasoning = effortOf(turn, family, dropped)
    // Nova's reasoning takes no sampling fields.
    const sampling = !('reasoningConfig' in reasoning)
    return { fields: { ...topKOf(turn, sampling ? family.topK : undefined, dropped), ...reasoning }, sampling }
  }
  const outputTokensMax = limit.tokens ?? Infinity
  const { lostThought } = spoken
  const thinking = claudeThinking(turn, { family: claude, outputTokensMax, lostThought, isForced })
  if (thinking.isDropped) dropped.add('reasoning_effort')
  const sampling = claude.sampling && !isThinking(thinking)
  const fields = {
    ...topKOf(turn, sampling ? family.topK : undefined, dropped),
    ...(thinking.config ? { thinking: thinking.config } : {}),
    ...(thinking.level === undefined ? {} : { output_config: { effort: thinking.level } }),
  }
  return { fields, sampling }
}

function topKOf({ topK }: Turn, place: ConverseFamily['topK'], dropped: Set<string>): object {
  if (topK === undefined) return {}
  const [field, inner] = place ?? []
  if (field === undefined) {
    dropped.add('top_k')
    return {}
  }
  return { [field]: inner === undefined ? topK : { [inner]: topK } }
}

function effortOf({ effort, thinkingTokens }: Turn, { effort: way }: ConverseFamily, dropped: Set<string>): object {
  const isOff = effort === 'none' || thinkingTokens === 0
  if (effort === undefined || (isOff && way?.as !== 'reasoning_effort')) return {}
  const level = way && nearestEffort(effort, way.levels)
  if (!way || level === undefined) {
    dropped.add('reasoning_effort')
    return {}
  }
  return way.as === 'reasoning_effort'
    ? { reasoning_effort: level }
    : { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } }
}

type Sampling = { readonly sampling: boolean; readonly isClaude: boolean; readonly dropped: Set<string> }

/** The service takes temperatures up to 1. No Claude takes both temperature and topP. */
function samplingOf({ temperature, topP }: Turn, { sampling, isClaude, dropped }: Sampling): object {
  if (!sampling) {
    if (temperature !== undefined) dropped.add('temperature')
    if (topP !== undefined) dropped.add('top_p')
    return {}
  }
  if (temperature !== undefined && temperature > 1) dropped.add('temperature>1')
  const isSecond = isClaude && temperature !== undefined && topP !== undefined
  if (isSecond) dropped.add('top_p')
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || isSecond ? {} : { topP }),
  }
}

function stopsOf({ stop }: Turn): object {
  const sequences = stop?.filter((sequence) => sequence.trim() !== '') ?? []
  return sequences.length === 0 ? {} : { stopSequences: sequences }
}

function readReply(
  text: string,
): { kind: 'reply'; reply: Reply } | { readonly kind: 'failed'; readonly failure: UpstreamFailure } {
  const parsed = parseExactFields(text)
  if (!parsed) return noAnswer('the reply is not a JSON object')
  const content = fieldListIn(asFields(asFields(parsed['output'])['message'])['content'])
  if (!content) {
    const failure = converseFailures.hidden(text)
    return failure ? { kind: 'failed', failure } : noAnswer('the reply has no content')
  }
  const broken = brokenEnd(parsed['stopReason'])
  if (broken) return broken
  const parts = content.flatMap(blockParts)
  const hasCalls = parts.some(({ kind }) => kind === 'tool_call')
  const choice = { parts, finish: finishOf(parsed['stopReason'], hasCalls) }
  return { kind: 'reply', reply: { choices: [choice], usage: readConverseUsage(parsed['usage']) } }
}
