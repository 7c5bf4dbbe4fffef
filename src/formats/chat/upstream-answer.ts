/** Answers of the chat format from upstreams, for clients of another dialect. */
import { toolOfCall, wordsOfCall } from '../core/call-arguments.ts'
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { Delta, FinishReason, OutputPart, Reply } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
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
import type { DecodedEvent, StreamDecoder, WriterQuirks } from '../core/contract.ts'
import { longerName } from './call-name.ts'
import { hiddenError } from '../core/openai-failure.ts'
import { failureOfEnd, lawfulReply, LawfulChunks, parseChunk, thoughtIn } from './lawful.ts'
import { runningUsage } from '../core/running-usage.ts'
import type { UsageDialect } from '../../vendors/preset.ts'
import { readChatUsage, statedUsage } from '../core/openai-usage.ts'

const garbage = (message: string) => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } }) as const

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}
const finishOf = (reason: unknown): FinishReason => ownIn(finishes, asText(reason)) ?? 'stop'

export function readReply(
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

/** The calls of a message, including the single call of the format's first version. */
function callsIn({ tool_calls: calls, function_call: call }: Fields): Fields[] {
  const called = asList(calls)
    .map(fieldsIn)
    .filter((one) => one !== undefined)
  const { name, arguments: words } = asFields(call)
  if (called.length > 0 || asText(name) === '') return called
  return [{ id: randomId('call_'), type: 'function', function: { name, arguments: wordsOfCall(words) || '{}' } }]
}

/** A chunk in which a piece of a first-version call becomes a piece of a current one. */
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
export class ChatDecoder implements StreamDecoder {
  usage: Usage | undefined
  private readonly usageDialect: UsageDialect
  private readonly running = new Set<number>()
  private ended = 0
  private readonly calls = new Set<string>()
  private readonly lawful = new LawfulChunks()
  /** The call whose name may continue, because its arguments have not begun. */
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

  /** The call whose name is complete, before the next delta. */
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
