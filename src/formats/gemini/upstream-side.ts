/** Gemini's API for upstreams, for clients of another dialect. */
import type { Failure } from '../../domain/failure.ts'
import type { InputPart, Tool, ToolChoice, Turn } from '../../domain/turn.ts'
import type { Destination, UpstreamRequest, UpstreamSide } from '../core/contract.ts'
import { lostOf } from '../core/unsupported-fields.ts'
import { namesOfCalls, writeContents } from './contents.ts'
import { GeminiCollector } from './collector.ts'
import { GeminiDecoder, readNeutralReply, silenceOf } from './decoder.ts'
import { geminiFailures } from '../core/google-failure.ts'
import { geminiFamilyOf, thinkingConfigOf, type GeminiFamily } from '../../vendors/gemini-families.ts'
import { isGooglesOwn } from './media.ts'
import { upstreamPath } from '../core/google-model-path.ts'
import { schemaForGemini } from './schema.ts'

export const geminiUpstreamSide: UpstreamSide = {
  dialect: 'gemini',
  failures: geminiFailures,
  obstacle,
  write,
  readReply: (text, _, turn) => readNeutralReply(text, silenceOf(turn)),
  decoder: (_, turn) => new GeminiDecoder(silenceOf(turn)),
  collector: () => new GeminiCollector(),
}

/** What no model of this API accepts and what must not be left out silently. */
function obstacle({ messages }: Turn): Failure | undefined {
  const no = (message: string): Failure => ({ kind: 'unsupported_parameter', message })
  const names = namesOfCalls(messages)
  for (const message of messages) {
    if (message.role === 'tool' && !names.has(message.callId)) {
      return no(`A tool message answers the call '${message.callId.slice(0, 100)}', which no message before it makes.`)
    }
    if (message.role !== 'user' && message.role !== 'tool') continue
    const remote = message.parts.find(isElsewhere)
    if (remote) return no(`This model takes a ${remote.kind} as data only: send a data: URL instead of an address.`)
  }
  return undefined
}

const isElsewhere = (part: InputPart): boolean =>
  part.kind !== 'text' && part.source.kind === 'url' && !isGooglesOwn(part.source.url)

function write(turn: Turn, stream: boolean, { upstreamModel, outputTokensMax, quirks }: Destination): UpstreamRequest {
  const family = geminiFamilyOf(upstreamModel)
  const dropped = lostOf(turn.messages, { dialect: 'gemini', toolErrors: 'said' })
  const { contents, systemInstruction } = writeContents(turn.messages, { family, callIds: quirks.callIds ?? 'sent' })
  const body = {
    contents,
    systemInstruction,
    tools: turn.tools.length === 0 ? undefined : [{ functionDeclarations: turn.tools.map(declarationOf) }],
    toolConfig: toolConfigOf(turn),
    generationConfig: configOf(turn, { family, outputTokensMax, dropped }),
  }
  // The API may always call several functions at once.
  if (turn.tools.length > 0 && turn.parallelToolCalls === false) dropped.push('parallel_tool_calls')
  if (turn.user !== undefined) dropped.push('user')
  if (turn.cacheKey !== undefined) dropped.push('prompt_cache_key')
  if (turn.verbosity !== undefined) dropped.push('verbosity')
  if (turn.logprobs !== undefined) dropped.push('logprobs')
  const path = upstreamPath(upstreamModel, stream ? 'streamGenerateContent' : 'generateContent')
  return { path, headers: {}, body: JSON.stringify(body), dropped }
}

function declarationOf(tool: Tool): object {
  const { name, description } = tool
  const parameters = tool.kind === 'function' ? tool.parameters : undefined
  // An empty object schema is refused as one without properties (2026-11). A function without arguments has no schema.
  const isEmpty = !parameters || Object.keys(parameters).length === 0
  return { name, description, ...(isEmpty ? {} : { parametersJsonSchema: schemaForGemini(parameters) }) }
}

function toolConfigOf({ tools, toolChoice }: Turn): object | undefined {
  if (tools.length === 0) return undefined
  const isStrict = tools.some((tool) => tool.kind === 'function' && tool.strict === true)
  const functionCallingConfig = callingConfigOf(toolChoice, isStrict)
  return functionCallingConfig && { functionCallingConfig }
}

function callingConfigOf(choice: ToolChoice | undefined, isStrict: boolean): object | undefined {
  switch (choice?.kind) {
    case undefined:
      return isStrict ? { mode: 'VALIDATED' } : undefined
    case 'auto':
      return { mode: isStrict ? 'VALIDATED' : 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      // AUTO takes no names. VALIDATED calls one of these functions, or none.
      return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names }
  }
}

const SEED_MAX = 2 ** 31 - 1

type ConfigOptions = {
  readonly family: GeminiFamily
  readonly outputTokensMax: number | undefined
  readonly dropped: string[]
}

function configOf(turn: Turn, { family, outputTokensMax, dropped }: ConfigOptions): object {
  const { seed, format } = turn
  const isSeedTaken = seed === undefined || Math.abs(seed) <= SEED_MAX
  if (!isSeedTaken) dropped.push('seed')
  const penalties = { frequencyPenalty: turn.frequencyPenalty, presencePenalty: turn.presencePenalty }
  if (family.penalties === 'refused') {
    // A penalty of zero has no effect.
    if (turn.frequencyPenalty) dropped.push('frequency_penalty')
    if (turn.presencePenalty) dropped.push('presence_penalty')
  }
  if (family.thinking.kind === 'none' && turn.effort !== undefined && turn.effort !== 'none') {
    dropped.push('reasoning_effort')
  }
  return {
    maxOutputTokens: outputTokensMax,
    candidateCount: turn.choices === 1 ? undefined : turn.choices,
    temperature: turn.temperature,
    topP: turn.topP,
    topK: turn.topK,
    stopSequences: turn.stop?.length ? turn.stop : undefined,
    seed: isSeedTaken ? seed : undefined,
    ...(family.penalties === 'taken' ? penalties : {}),
    ...(format && format.kind !== 'text' ? { responseMimeType: 'application/json' } : {}),
    ...(format?.kind === 'json_schema' ? { responseJsonSchema: schemaForGemini(format.schema) } : {}),
    thinkingConfig: thinkingConfigOf(turn, family),
  }
}
