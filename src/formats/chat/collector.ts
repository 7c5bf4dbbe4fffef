/** A chat completion from the chunks of its stream. */
import type { SseEvent } from '../../lib/http/sse.ts'
import { isRawNumber } from '../../lib/json/exact-json.ts'
import { asFields, asList, numberIn, ownIn, parseExactFields, type Fields } from '../core/fields.ts'
import type { ReplyCollector } from '../core/contract.ts'
import { gather, withoutNulls } from '../core/gather.ts'
import { longerName } from './call-name.ts'
import { LawfulChunks } from './lawful.ts'

type CollectedFields = { [field: string]: unknown }
type Choice = { message: CollectedFields; finish_reason: unknown; [field: string]: unknown }

/** Fields that come whole. Other fields come piece by piece. Some servers send these in every chunk. */
const WHOLE = new Set(['role', 'id', 'type', 'format', 'signature'])

export class ChatCollector implements ReplyCollector {
  private readonly head: CollectedFields = {}
  private readonly choices = new Map<number, Choice>()
  private readonly lawful = new LawfulChunks()
  private isCut = false

  add({ data }: SseEvent): void {
    const chunk = parseExactFields(data)
    if (!chunk) return // '[DONE]', or not JSON.
    // Padding against eavesdroppers belongs to the stream.
    const { choices, obfuscation: _, ...head } = this.lawful.read(chunk)
    gather(this.head, withoutNulls(head))
    for (const choice of asList(choices)) this.addChoice(asFields(choice))
  }

  cutAtLength(): void {
    this.isCut = true
    if (this.choices.size === 0) this.choices.set(0, { message: {}, finish_reason: undefined })
  }

  text(): string {
    const choices = [...this.choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, { message, finish_reason: finish, ...rest }]) => ({
        index,
        message: { role: 'assistant', content: null, ...asInOnePiece(message) },
        ...rest,
        finish_reason: finish ?? (this.isCut ? 'length' : this.lawful.finishOf(index)),
      }))
    return JSON.stringify({ ...this.head, object: 'chat.completion', choices })
  }

  private addChoice({ index, delta, finish_reason: finish, logprobs, ...rest }: Fields): void {
    const place = numberIn(index) ?? 0
    const choice: Choice = this.choices.get(place) ?? { message: {}, finish_reason: undefined }
    this.choices.set(place, choice)
    merge(choice.message, asFields(delta))
    gather(choice, rest)
    if (logprobs === null) choice['logprobs'] ??= null
    else if (logprobs) merge((choice['logprobs'] ??= {}) as CollectedFields, asFields(logprobs))
    if (finish) choice.finish_reason = finish
  }
}

/** Adds a delta. Text is appended to text. Items are added to the item with their index, or at the end. */
function merge(target: CollectedFields, delta: Fields): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = ownIn(target, name) ?? null
    if (value === null || value === undefined) target[name] = before
    else if (before === null) target[name] = Array.isArray(value) ? merged([], value) : copied(value)
    else if (typeof value === 'string' && typeof before === 'string') {
      target[name] = joined(name, before, value)
    } else if (Array.isArray(value) && Array.isArray(before)) merged(before, value)
    else if (isObject(value) && isObject(before)) merge(before, value)
    else target[name] = value
  }
}

function joined(name: string, before: string, piece: string): string {
  if (name === 'name') return longerName(before, piece)
  return WHOLE.has(name) && before !== '' ? before : before + piece
}

const isObject = (value: unknown): value is CollectedFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)

function copied(value: unknown): unknown {
  if (!isObject(value)) return value
  const copy: CollectedFields = {}
  merge(copy, value)
  return copy
}

/** Items of a list by their index. A list can be long, and each event may name any item. */
const places = new WeakMap<object, Map<number, CollectedFields>>()

function placesIn(list: object): Map<number, CollectedFields> {
  const known = places.get(list) ?? new Map<number, CollectedFields>()
  places.set(list, known)
  return known
}

function merged(target: unknown[], items: readonly unknown[]): unknown[] {
  for (const item of items) {
    const index = isObject(item) ? numberIn(item['index']) : undefined
    const known = index === undefined ? undefined : placesIn(target).get(index)
    if (known) merge(known, asFields(item))
    else {
      const copy = copied(item)
      target.push(copy)
      if (index !== undefined) placesIn(target).set(index, copy as CollectedFields)
    }
  }
  return target
}

/** A whole reply's calls have no index. Empty content beside calls or a refusal is null. */
function asInOnePiece(message: CollectedFields): CollectedFields {
  const { tool_calls: calls, refusal, content } = message
  const isBeside = Array.isArray(calls) || (typeof refusal === 'string' && refusal !== '')
  const whole = isBeside && content === '' ? { ...message, content: null } : message
  if (!Array.isArray(calls)) return whole
  return { ...whole, tool_calls: calls.map((call) => ({ ...asFields(call), index: undefined })) }
}
