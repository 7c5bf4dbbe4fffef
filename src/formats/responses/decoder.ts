import { wordsOfCall } from '../core/call-arguments.ts'
import type { Delta, FinishReason, OwnDelta } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { readUpstreamError } from '../core/openai-failure.ts'
import { asFields, asList, asText, numberIn, parseExactFields, textIn, type Fields } from '../core/fields.ts'
import type { DecodedEvent, StreamDecoder } from '../core/contract.ts'
import { isEmpty, own, restOf } from './own.ts'
import { readResponsesUsage } from './usage.ts'

/** Why a response ended. `whole` is the reason if nothing cut it off. */
export function finishOfResponse(response: Fields, whole: FinishReason): FinishReason {
  if (response['status'] !== 'incomplete') return whole
  return asFields(response['incomplete_details'])['reason'] === 'content_filter' ? 'content_filter' : 'length'
}

/** An open call, and whether its arguments came. */
type OpenCall = {
  readonly call: number
  readonly index: number
  readonly itemId: string
  readonly callId: string
  said: boolean
}

/** Reads the events of an upstream's response. */
export class ResponsesDecoder implements StreamDecoder {
  usage: Usage | undefined
  finished = false
  private readonly calls: OpenCall[] = []
  /** Output items whose text came piece by piece. */
  private readonly said = new Set<number>()
  /** By output index, the current part of a summary. Parts are paragraphs, and their text has no separator. */
  private readonly paragraphs = new Map<number, number>()
  /** The message that has begun, until it has content. */
  private begun: OwnDelta | undefined
  private messages = 0
  /** Whether any item has ended. */
  private hasItems = false

  decode({ data }: SseEvent): DecodedEvent {
    if (data === '[DONE]') return { kind: 'done' }
    if (data === '') return deltas()
    const event = parseExactFields(data)
    if (!event) return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not JSON' } }
    const index = numberIn(event['output_index']) ?? 0
    switch (event['type']) {
      case 'response.output_text.delta':
        return this.say('text', index, event['delta'])
      case 'response.refusal.delta':
        return this.say('refusal', index, event['delta'])
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return this.think(index, numberIn(event['summary_index'] ?? event['content_index']) ?? 0, event['delta'])
      case 'response.output_item.added':
        return deltas(...this.begin(index, asFields(event['item'])))
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return deltas(...this.argue(this.callOf(index, event['item_id']), event['delta']))
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return deltas(...this.argueWhole(this.callOf(index, event['item_id']), event))
      case 'response.output_item.done':
        this.hasItems = true
        return deltas(...this.end(index, asFields(event['item'])))
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.finish(asFields(event['response']), event['usage'])
      case 'response.failed':
        this.usage = readResponsesUsage(asFields(event['response'])['usage']) ?? this.usage
        return { kind: 'failed', failure: readUpstreamError(undefined, event['response']) }
      case 'error':
        return { kind: 'failed', failure: readUpstreamError(undefined, event) }
      default:
        return deltas()
    }
  }

  private say(kind: 'text' | 'refusal' | 'reasoning', index: number, text: unknown): DecodedEvent {
    if (typeof text !== 'string' || text === '') return deltas()
    this.said.add(index)
    return deltas(...(kind === 'reasoning' ? [] : this.opening()), { kind, choice: 0, text })
  }

  private think(index: number, paragraph: number, text: unknown): DecodedEvent {
    if (typeof text !== 'string' || text === '') return deltas()
    const before = this.paragraphs.get(index)
    this.paragraphs.set(index, paragraph)
    return this.say('reasoning', index, before === undefined || before === paragraph ? text : `\n${text}`)
  }

  /**
   * The start of a message that has fields of its own or is not the first. Without it, text would continue the message
   * before.
   */
  private opening(): OwnDelta[] {
    const { begun } = this
    this.begun = undefined
    return begun ? [begun] : []
  }

  private begin(index: number, item: Fields): Delta[] {
    const { type } = item
    if (type === 'message') {
      const fields = restOf('message_rest', { ...item, content: [] })
      this.begun = this.messages++ > 0 || !isEmpty(fields) ? own('message', fields) : undefined
      return []
    }
    if ((type !== 'function_call' && type !== 'custom_tool_call') || this.known(index, item)) return []
    const call = this.calls.length
    this.calls.push({ call, index, itemId: asText(item['id']), callId: asText(item['call_id']), said: false })
    const tool = type === 'custom_tool_call' ? 'custom' : 'function'
    const { namespace } = item
    const group = typeof namespace === 'string' && namespace !== '' ? { namespace } : {}
    return [{ kind: 'call', choice: 0, call, id: asText(item['call_id']), name: asText(item['name']), tool, ...group }]
  }

  /** Calls have an id of their own. Some servers give all calls the same output index. */
  private known(index: number, { id, call_id: callId }: Fields): OpenCall | undefined {
    if (asText(callId) !== '') return this.calls.find((call) => call.callId === callId)
    return this.callOf(index, id)
  }

  /** Some servers give an item another id in each event. Then its index identifies it. */
  private callOf(index: number, itemId: unknown): OpenCall | undefined {
    const id = asText(itemId)
    const named = id === '' ? undefined : this.calls.find((call) => call.itemId === id)
    return named ?? this.calls.findLast((call) => call.index === index)
  }

  private argue(known: OpenCall | undefined, text: unknown): Delta[] {
    if (!known || typeof text !== 'string' || text === '') return []
    known.said = true
    return [{ kind: 'arguments', choice: 0, call: known.call, text }]
  }

  /** The arguments, if they did not come before. */
  private argueWhole(known: OpenCall | undefined, { arguments: words, input }: Fields): Delta[] {
    return known?.said === false ? this.argue(known, wordsOfCall(words ?? input)) : []
  }

  /** Some upstreams send an item whole instead of piece by piece. What did not come before is taken from here. */
  private end(index: number, item: Fields): Delta[] {
    switch (item['type']) {
      case 'function_call':
      case 'custom_tool_call': {
        const begun = this.begin(index, item)
        const known = this.known(index, item)
        if (!known) return begun
        const rest = restOf('call_rest', item)
        const told = isEmpty(rest) ? begun : [...begun, own('call_rest', rest, known.call)]
        return [...told, ...this.argueWhole(known, item)]
      }
      case 'message':
        return this.endMessage(index, item)
      case 'reasoning': {
        const sealed = textIn(item['encrypted_content'])
        const words = this.said.has(index) ? '' : summaryOf(item)
        const thought: Delta[] = words === '' ? [] : [{ kind: 'reasoning', choice: 0, text: words }]
        const rest = restOf('reasoning_rest', item)
        if (!isEmpty(rest)) thought.push(own('reasoning_rest', rest))
        if (sealed === undefined) return thought
        const form = textIn(item['id'])
        return [...thought, { kind: 'sealed', choice: 0, sealed: { origin: 'responses', data: sealed, form } }]
      }
      default:
        return item['type'] === undefined ? [] : [own('item', item)]
    }
  }

  private endMessage(index: number, item: Fields): Delta[] {
    const rest = restOf('message_rest', item)
    const told = isEmpty(rest) ? [] : [own('message_rest', rest)]
    if (this.said.has(index)) return told
    const words = asList(item['content']).flatMap((part): Delta[] => {
      const { type, text, refusal } = asFields(part)
      const said = asText(text ?? refusal)
      return said === '' ? [] : [{ kind: type === 'refusal' ? type : 'text', choice: 0, text: said }]
    })
    return words.length === 0 ? [] : [...this.opening(), ...words, ...told]
  }

  /** The deltas of items that came whole. */
  whole(items: readonly Fields[]): Delta[] {
    return items.flatMap((item, index) => [...this.begin(index, item), ...this.end(index, item)])
  }

  private finish(response: Fields, usage: unknown): DecodedEvent {
    this.usage = readResponsesUsage(response['usage'] ?? usage) ?? this.usage
    this.finished = true
    // Some servers send all output in the last event only.
    const isSilent = !this.hasItems && this.said.size === 0 && this.calls.length === 0
    const whole = isSilent ? this.whole(asList(response['output']).map(asFields)) : []
    const reason = finishOfResponse(response, this.calls.length > 0 ? 'tool_calls' : 'stop')
    return deltas(...whole, { kind: 'finish', choice: 0, reason })
  }
}

const deltas = (...list: Delta[]): DecodedEvent => ({ kind: 'deltas', deltas: list })

const summaryOf = (item: Fields): string =>
  asList(item['summary'])
    .map((part) => asText(asFields(part)['text']))
    .join('\n')

/** A whole answer as the deltas of its stream. */
export const deltasOfItems = (items: readonly Fields[], reason: FinishReason): Delta[] => [
  ...new ResponsesDecoder().whole(items),
  { kind: 'finish', choice: 0, reason },
]
