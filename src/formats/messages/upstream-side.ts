/** The Messages format for upstreams, for clients of another dialect. */
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import type { Reply, Tool, Turn } from '../../domain/turn.ts'
import { fieldListIn, parseExactFields } from '../core/fields.ts'
import type { Destination, UpstreamRequest, UpstreamSide } from '../core/contract.ts'
import { answerToolName, AnswerReader } from './answer-reader.ts'
import { conversationOf, unsayable } from './conversation.ts'
import { MessagesDecoder } from './decoder.ts'
import { messagesFailures, readMessagesError } from './failure.ts'
import { MessagesCollector } from './collector.ts'
import { demandedLimit, claudeFamilyOf, type ClaudeFamily } from '../../vendors/claude-families.ts'
import { claudeThinking, isThinking } from '../../vendors/claude-thinking.ts'
import { enforceable } from '../core/enforceable-schema.ts'
import { readMessagesUsage } from './usage.ts'
import { messagesPath, namesInBody, VERSION_HEADER } from './wire.ts'

export const messagesUpstreamSide: UpstreamSide = {
  dialect: 'messages',
  failures: messagesFailures,
  headers: VERSION_HEADER,
  obstacle,
  write,
  readReply: (text, _quirks, turn) => readReply(text, turn),
  decoder: (_quirks, turn) => new MessagesDecoder(turn),
  collector: () => new MessagesCollector(),
}

/** What is refused rather than left out, because the answer would be a different one. */
function obstacle(turn: Turn): Failure | undefined {
  const refuse = (message: string, param: string): Failure => ({ kind: 'unsupported_parameter', message, param })
  if (turn.choices > 1) return refuse('This model gives one choice for each request.', 'n')
  for (const [i, message] of turn.messages.entries()) {
    const kind = message.role === 'user' || message.role === 'tool' ? unsayable(message.parts) : undefined
    if (kind !== undefined) return refuse(`This model takes no ${kind}.`, `messages[${i}].content`)
  }
  return undefined
}

function write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest {
  const family = claudeFamilyOf(to.upstreamModel)
  const dropped = new Set<string>()
  const conversation = conversationOf(turn, family)
  for (const name of conversation.dropped) dropped.add(name)
  const demanded =
    to.outputTokensMax === undefined ? demandedLimit(to.upstreamModel, to.modelOutputTokensMax) : undefined
  const outputTokensMax = Math.min(to.outputTokensMax ?? demanded ?? Infinity, family.outputTokensMax ?? Infinity)
  const tools = toolsOf(turn, family, dropped)
  const { lostThought } = conversation
  const thinking = claudeThinking(turn, { family, outputTokensMax, lostThought, isForced: tools.isForced })
  if (thinking.isDropped) dropped.add('reasoning_effort')
  const system = turn.format?.kind === 'json_object' ? [...conversation.system, JSON_ONLY] : conversation.system
  if (turn.format?.kind === 'json_object') dropped.add('response_format')
  const output = { ...(thinking.level === undefined ? {} : { effort: thinking.level }), ...tools.output }
  const body = {
    ...namesInBody(to),
    max_tokens: outputTokensMax,
    ...(system.length === 0 ? {} : { system }),
    messages: conversation.messages,
    ...(stream ? { stream } : {}),
    ...samplingOf(turn, { sampling: family.sampling && !isThinking(thinking), dropped }),
    ...stopsOf(turn),
    ...userOf(turn, dropped),
    ...tools.fields,
    ...(thinking.config ? { thinking: thinking.config } : {}),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  }
  for (const [name, value] of Object.entries(strangers(turn))) if (value !== undefined) dropped.add(name)
  return {
    path: messagesPath(to, stream),
    headers: VERSION_HEADER,
    body: JSON.stringify(body),
    dropped: [...dropped],
    demandedOutputTokensMax: demanded,
  }
}

/** Optional fields that this format does not have. */
const strangers = (turn: Turn): object => ({
  seed: turn.seed,
  frequency_penalty: turn.frequencyPenalty,
  presence_penalty: turn.presencePenalty,
  logprobs: turn.logprobs,
  verbosity: turn.verbosity,
  prompt_cache_key: turn.cacheKey,
})

/** The format cannot enforce any JSON object, so the prompt asks for one. */
const JSON_ONLY = { type: 'text', text: 'Answer with one JSON object and nothing else, no code fence around it.' }

type Sampling = { readonly sampling: boolean; readonly dropped: Set<string> }

/** Newer models refuse sampling fields, and so do thinking ones. No model takes both temperature and top_p. */
function samplingOf({ temperature, topP, topK }: Turn, { sampling, dropped }: Sampling): object {
  const given = { temperature, top_p: topP, top_k: topK }
  const fields: Record<string, number> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const isSecond = name === 'top_p' && temperature !== undefined
    if (!sampling || isSecond) dropped.add(name)
    else if (name === 'temperature' && value > 1) {
      dropped.add('temperature>1')
      fields[name] = 1
    } else fields[name] = value
  }
  return fields
}

function stopsOf({ stop }: Turn): object {
  const sequences = stop?.filter((sequence) => sequence.trim() !== '') ?? []
  return sequences.length === 0 ? {} : { stop_sequences: sequences }
}

/** An opaque id, as the vendor demands. A name or an address is not sent. */
const OPAQUE = /^[\w.:-]{1,256}$/

function userOf({ user }: Turn, dropped: Set<string>): object {
  if (user === undefined) return {}
  if (OPAQUE.test(user)) return { metadata: { user_id: user } }
  dropped.add('user')
  return {}
}

type WrittenTools = { readonly fields: object; readonly output?: object; readonly isForced: boolean }

/** The tools, the tool choice and the structured answer. The answer is a tool if the model has no other way. */
function toolsOf(turn: Turn, family: ClaudeFamily, dropped: Set<string>): WrittenTools {
  const { format, toolChoice } = turn
  const chosen = toolChoice?.kind === 'allowed' ? new Set(toolChoice.names) : undefined
  const offered = turn.tools.filter(({ name }) => chosen?.has(name) ?? true)
  const tools = offered.map((tool) => toolOf(tool, family))
  const choice = choiceOf(turn, family, dropped)
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  const parallel = turn.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  if (format?.kind === 'json_schema' && !family.schemas) {
    const { schema, description } = format
    const name = answerToolName(turn)
    const answer = { name, description: description ?? ANSWER, input_schema: { type: 'object', ...schema } }
    const isAlone = offered.length === 0 || choice?.type === 'none'
    const one = isAlone ? { type: 'tool', name } : { type: 'any', disable_parallel_tool_use: true }
    // A tool that the client forces comes first. The answer follows after the tool's result.
    if (!isForced) return { fields: { tools: [...tools, answer], tool_choice: one }, isForced: true }
    dropped.add('response_format')
  }
  const output = format?.kind === 'json_schema' && family.schemas ? { format: formatOf(format.schema) } : {}
  if (tools.length === 0) return { fields: {}, output, isForced: false }
  const stated = choice ?? (turn.parallelToolCalls === false ? { type: 'auto' } : undefined)
  const tool_choice = stated && (stated.type === 'none' ? stated : { ...stated, ...parallel })
  return { fields: { tools, ...(tool_choice ? { tool_choice } : {}) }, output, isForced }
}

const ANSWER = 'Gives the answer. Call it once, with the whole answer.'
const formatOf = (schema: object): object => ({ type: 'json_schema', schema: enforceable(schema) })

type Choice = { readonly type: 'auto' | 'any' | 'none' } | { readonly type: 'tool'; readonly name: string }

function choiceOf({ toolChoice, tools }: Turn, family: ClaudeFamily, dropped: Set<string>): Choice | undefined {
  if (!toolChoice || tools.length === 0) return undefined
  const mode = toolChoice.kind === 'allowed' ? toolChoice.mode : toolChoice.kind
  if (mode === 'auto' || mode === 'none') return { type: mode }
  if (!family.forcedTool) {
    dropped.add('tool_choice')
    return { type: 'auto' }
  }
  return toolChoice.kind === 'tool' ? { type: 'tool', name: toolChoice.name } : { type: 'any' }
}

function toolOf(tool: Tool, family: ClaudeFamily): object {
  const { name, description } = tool
  // Custom tools became functions earlier: see free-text.ts.
  const { parameters, strict } = tool.kind === 'function' ? tool : {}
  const isStrict = strict === true && family.schemas
  const schema = { type: 'object', ...parameters }
  const input_schema = isStrict ? enforceable({ properties: {}, ...schema }) : schema
  return { name, description, input_schema, ...(isStrict ? { strict: true } : {}) }
}

const garbage = (message: string) => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } }) as const

function readReply(
  text: string,
  turn: Turn,
): { kind: 'reply'; reply: Reply } | { kind: 'failed'; failure: UpstreamFailure } {
  const parsed = parseExactFields(text)
  if (!parsed) return garbage('the reply is not a JSON object')
  if (parsed['error']) return { kind: 'failed', failure: readMessagesError(undefined, parsed) }
  const content = fieldListIn(parsed['content'])
  if (!content) return garbage('the reply has no content')
  const reader = new AnswerReader(turn)
  const parts = content.flatMap((block) => reader.part(block))
  const choice = reader.choice(parts, parsed)
  return { kind: 'reply', reply: { choices: [choice], usage: readMessagesUsage(parsed['usage']) } }
}
