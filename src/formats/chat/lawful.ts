/**
 * Makes answers of servers that nearly follow this format follow it exactly. Its clients and the code here know only
 * the exact format. An answer that needs no change stays the same object.
 */
import { toolOfCall, wordsOfCall } from '../core/call-arguments.ts'
import {
  asFields,
  asList,
  asText,
  fieldsIn,
  numberIn,
  ownIn,
  parseExactFields,
  parseFields,
  textIn,
  type Fields,
} from '../core/fields.ts'
import type { UpstreamFailure } from '../../domain/failure.ts'
import { randomId } from '../../lib/primitives/ids.ts'
import type { FittedNames } from '../core/tool-names.ts'
import { readUpstreamError } from '../core/openai-failure.ts'
import { StreamCalls } from './stream-calls.ts'
import { withOwnNames } from './direct-names.ts'

/** Words of other dialects that servers also use here (2026-11). */
const finishWords: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  STOP: 'stop',
  completed: 'stop',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  MAX_TOKENS: 'length',
  tool_use: 'tool_calls',
  tool_call: 'tool_calls',
  refusal: 'content_filter',
  safety: 'content_filter',
  SAFETY: 'content_filter',
  sensitive: 'content_filter',
}

/**
 * Finish reasons that mean that the server gave up. DeepSeek (api-docs.deepseek.com, finish_reason), Zhipu
 * (docs.bigmodel.cn), OpenRouter (openrouter.ai/docs, errors while streaming), SGLang and vLLM (2026-11).
 */
const brokenWords = new Set(['error', 'insufficient_system_resource', 'network_error', 'abort', 'cancelled'])

/** The failure that ends a choice of an answer. Undefined if there is none. */
export function failureOfEnd({ choices }: Fields): UpstreamFailure | undefined {
  for (const choice of asList(choices)) {
    const { finish_reason: reason, error } = asFields(choice)
    if ((reason ?? null) === null && error === undefined) continue
    if (fieldsIn(error)) return readUpstreamError(undefined, { error })
    const word = asText(reason)
    if (brokenWords.has(word))
      return { kind: 'server', status: 200, code: word, message: `the answer ended with ${word}` }
  }
  return undefined
}

/** What a choice has called: tools, the one function of the format's first version, or nothing. */
type CallField = 'tools' | 'function' | 'nothing'

/** The finish reason of the format, which follows from the content. Null: the choice has not ended. */
function finishOf(reason: unknown, called: CallField): unknown {
  if (typeof reason !== 'string' || reason === '') return null
  const word = ownIn(finishWords, reason) ?? reason
  if (word === 'length' || word === 'content_filter') return word
  if (called === 'tools') return 'tool_calls'
  const isCall = word === 'tool_calls' || word === 'function_call'
  if (called === 'function') return isCall ? 'function_call' : word
  return isCall ? 'stop' : word
}

const hasFunctionCall = ({ function_call: call }: Fields): boolean => asText(asFields(call)['name']) !== ''

/** Mistral's reasoning models answer with a list of thoughts and texts (docs.mistral.ai, Reasoning, 2026-11). */
function withPlainContent(message: Fields): Fields {
  if (!Array.isArray(message['content'])) return message
  const { content, reasoning_content: thought, ...rest } = message
  const words = { text: '', thoughts: asText(thought) }
  for (const part of asList(content).map(asFields)) {
    if (part['type'] === 'thinking' || part['type'] === 'reasoning') words.thoughts += textOfThought(part)
    else words.text += asText(part['text'])
  }
  return {
    ...rest,
    content: words.text,
    ...(words.thoughts === '' ? {} : { reasoning_content: words.thoughts }),
  }
}

const textOfThought = ({ thinking, text }: Fields): string =>
  typeof thinking === 'string'
    ? thinking
    : asText(text) +
      asList(thinking)
        .map((one) => asText(asFields(one)['text']))
        .join('')

/** The reasoning in a message or a delta. Some servers have both fields, and either may be empty. */
export function thoughtIn({ reasoning_content: one, reasoning: other, reasoning_details: details }: Fields): string {
  const [a, b] = [asText(one), asText(other)]
  const words = a.length >= b.length ? a : b
  return words === '' ? asList(details).map(asFields).map(detailText).join('') : words
}

/** MiniMax and OpenRouter list reasoning separately (platform.minimax.io, openrouter.ai/docs, 2026-11). */
const detailText = ({ type, text, summary }: Fields): string =>
  type === 'reasoning.text' ? asText(text) : type === 'reasoning.summary' ? asText(summary) : ''

type State = { readonly calls: StreamCalls; hasFunctionCall: boolean }

/** Whether a choice has only text and continues, as nearly all do. */
function isPlain(choice: unknown): boolean {
  const { delta, finish_reason: reason } = asFields(choice)
  const { content, tool_calls: calls, function_call: call } = asFields(delta)
  return (reason ?? null) === null && (calls ?? null) === null && (call ?? null) === null && !Array.isArray(content)
}

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/

/** Parses a chunk. If arguments are an object, the chunk is written again and its numbers keep their digits. */
export const parseChunk = (data: string): Fields | undefined =>
  data.includes('"arguments":') && OBJECT_ARGUMENTS.test(data) ? parseExactFields(data) : parseFields(data)

/** The state of one stream. */
export class LawfulChunks {
  private readonly states = new Map<number, State>()
  private readonly names: FittedNames | undefined

  /** `names`: the tool names that were changed for the upstream. */
  constructor(names?: FittedNames) {
    this.names = names
  }

  /** A chunk as the format has it. Returns the same chunk if nothing changes. */
  read(chunk: Fields): Fields {
    const { choices } = chunk
    if (!Array.isArray(choices) || choices.every(isPlain)) return chunk
    let isOdd = false
    const read = choices.map((one: unknown) => {
      const choice = fieldsIn(one)
      const lawful = choice && this.choice(choice)
      isOdd ||= lawful !== choice
      return lawful ?? one
    })
    return isOdd ? { ...chunk, choices: read } : chunk
  }

  /** The finish reason of a choice whose server only said that it ended. */
  finishOf(index: unknown): 'stop' | 'tool_calls' {
    return (this.states.get(numberIn(index) ?? 0)?.calls.size ?? 0) > 0 ? 'tool_calls' : 'stop'
  }

  private choice(choice: Fields): Fields {
    const { index, delta: given, finish_reason: reason } = choice
    const state = this.stateOf(index)
    const plain = fieldsIn(given) && withPlainContent(asFields(given))
    const calls = plain?.['tool_calls']
    const read = Array.isArray(calls) ? withOwnNames(state.calls.read(calls), this.names) : calls
    if (plain && hasFunctionCall(plain)) state.hasFunctionCall = true
    const called = state.calls.size > 0 ? 'tools' : state.hasFunctionCall ? 'function' : 'nothing'
    const finish = finishOf(reason, called)
    const missing = finish === 'tool_calls' ? state.calls.withoutArguments() : []
    const isSame = plain === given && read === calls && missing.length === 0 && finish === (reason ?? null)
    if (isSame) return choice
    const all = missing.length === 0 ? read : [...asList(read), ...missing]
    const delta = all === undefined ? plain : { ...plain, tool_calls: all }
    return { ...choice, delta: delta ?? given, finish_reason: finish }
  }

  private stateOf(index: unknown): State {
    const place = numberIn(index) ?? 0
    const state = this.states.get(place) ?? { calls: new StreamCalls(), hasFunctionCall: false }
    this.states.set(place, state)
    return state
  }
}

/** A whole reply as the format has it. `names`: the tool names that were changed for the upstream. */
export function lawfulReply(reply: Fields, names?: FittedNames): Fields {
  const { choices } = reply
  if (!Array.isArray(choices)) return reply
  const read = choices.map((choice: unknown) => lawfulChoice(choice, names))
  return read.every((one, i) => one === choices[i]) ? reply : { ...reply, choices: read }
}

function lawfulChoice(given: unknown, names: FittedNames | undefined): unknown {
  const choice = fieldsIn(given)
  const message = choice && fieldsIn(choice['message'])
  if (!message) return given
  const plain = withPlainContent(message)
  const calls = plain['tool_calls']
  const isCut = finishOf(choice['finish_reason'], 'nothing') === 'length'
  const read = Array.isArray(calls) ? withOwnNames(lawfulCalls(calls, isCut), names) : calls
  const called = asList(read).length > 0 ? 'tools' : hasFunctionCall(plain) ? 'function' : 'nothing'
  const reason = choice['finish_reason']
  const finish = finishOf(reason, called) ?? (called === 'tools' ? 'tool_calls' : 'stop')
  if (plain === message && read === calls && finish === reason) return given
  const whole = read === calls ? plain : { ...plain, tool_calls: read }
  return { ...choice, message: whole, finish_reason: finish }
}

/** If an answer was cut, its last call may lack arguments. */
function lawfulCalls(calls: readonly unknown[], isCut: boolean): readonly unknown[] {
  const ids = new Set<string>()
  const read = calls.map((one, i) => {
    const call = fieldsIn(one)
    return call ? lawfulCall(call, ids, isCut && i === calls.length - 1 ? '' : '{}') : one
  })
  return read.every((one, i) => one === calls[i]) ? calls : read
}

function lawfulCall(call: Fields, ids: Set<string>, none: string): Fields {
  const tool = toolOfCall(call)
  const body = asFields(call[tool])
  const field = tool === 'custom' ? 'input' : 'arguments'
  const words = wordsOfCall(body[field])
  const said = tool === 'function' && words.trim() === '' ? none : words
  const given = textIn(call['id']) || undefined
  const id = given === undefined || ids.has(given) ? randomId('call_') : given
  ids.add(id)
  if (id === given && said === body[field] && call['type'] !== undefined) return call
  return { ...call, id, type: tool, [tool]: { ...body, [field]: said } }
}
