/** Reads an upstream's stream of the Messages format as deltas. */
import type { Delta, Turn } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, asText, parseExactFields, type Fields } from '../core/fields.ts'
import { OPEN_BLOCKS_MAX, TOO_MANY_BLOCKS } from '../core/answer-bounds.ts'
import type { DecodedEvent, StreamDecoder } from '../core/contract.ts'
import { AnswerReader, redactedSeal, refusalOf, thoughtSeal, type CallKind } from './answer-reader.ts'
import { readMessagesError } from './failure.ts'
import { plainTextOf } from './stream.ts'
import { mergeUsage, readMessagesUsage } from './usage.ts'

/** An open block. A call has its number among the calls, and the arguments so far. */
type Block =
  | { readonly kind: 'text' | 'other' }
  | { readonly kind: 'thinking'; signature: string }
  | { readonly kind: CallKind; readonly call: number; input: string; json: string }

const NO_DELTAS: DecodedEvent = { kind: 'deltas', deltas: [] }
const choice = 0

export class MessagesDecoder implements StreamDecoder {
  finished = false
  private stated: Fields | undefined
  private calls = 0
  private readonly blocks = new Map<unknown, Block>()
  private readonly reader: AnswerReader

  constructor(turn: Turn) {
    this.reader = new AnswerReader(turn)
  }

  get usage(): Usage | undefined {
    return this.stated && readMessagesUsage(this.stated)
  }

  decode({ data }: SseEvent): DecodedEvent {
    const plain = plainTextOf(data)
    if (plain !== undefined) return { kind: 'deltas', deltas: [{ kind: 'text', choice, text: plain }] }
    if (data === '') return NO_DELTAS
    if (data === '[DONE]') return { kind: 'done' }
    const event = parseExactFields(data)
    const type = asText(event?.['type'])
    if (!event || type === '') {
      return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not of the format' } }
    }
    if (type === 'error') return { kind: 'failed', failure: readMessagesError(undefined, event) }
    if (type === 'message_stop') return { kind: 'done' }
    const deltas = this.deltas(type, event)
    return this.blocks.size > OPEN_BLOCKS_MAX ? TOO_MANY_BLOCKS : { kind: 'deltas', deltas }
  }

  private deltas(type: string, event: Fields): Delta[] {
    switch (type) {
      case 'message_start':
        this.stated = mergeUsage(this.stated, asFields(event['message'])['usage'])
        return []
      case 'content_block_start':
        return this.begin(event['index'], asFields(event['content_block']))
      case 'content_block_delta':
        return this.go(this.blocks.get(event['index']), asFields(event['delta']))
      case 'content_block_stop': {
        const block = this.blocks.get(event['index'])
        this.blocks.delete(event['index'])
        return block ? this.end(block) : []
      }
      case 'message_delta':
        return this.finish(event)
      default:
        return [] // Pings, and future events of the format.
    }
  }

  private begin(index: unknown, block: Fields): Delta[] {
    switch (block['type']) {
      case 'text':
        this.blocks.set(index, { kind: 'text' })
        return textDeltas(block['text'])
      case 'thinking':
        this.blocks.set(index, { kind: 'thinking', signature: asText(block['signature']) })
        return reasoningDeltas(block['thinking'])
      case 'redacted_thinking':
        return [{ kind: 'sealed', choice, sealed: redactedSeal(asText(block['data'])) }]
      case 'tool_use': {
        const name = asText(block['name'])
        const kind = this.reader.kindOf(name)
        const input = JSON.stringify(block['input'] ?? {})
        const call = kind === 'answer' ? -1 : this.calls++
        this.blocks.set(index, { kind, call, input, json: '' })
        return kind === 'answer' ? [] : [{ kind: 'call', choice, call, id: asText(block['id']), name, tool: kind }]
      }
      default:
        this.blocks.set(index, { kind: 'other' })
        return []
    }
  }

  private go(block: Block | undefined, delta: Fields): Delta[] {
    switch (delta['type']) {
      case 'text_delta':
        return textDeltas(delta['text'])
      case 'thinking_delta':
        return reasoningDeltas(delta['thinking'])
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature = asText(delta['signature'])
        return []
      case 'input_json_delta': {
        const text = asText(delta['partial_json'])
        if (!block || !('call' in block) || text === '') return []
        block.json += text
        return block.kind === 'answer' ? textDeltas(text) : [{ kind: 'arguments', choice, call: block.call, text }]
      }
      default:
        return [] // Citations. Other dialects place them in the whole text.
    }
  }

  private end(block: Block): Delta[] {
    if (block.kind === 'thinking') {
      const sealed = thoughtSeal(block.signature)
      return sealed ? [{ kind: 'sealed', choice, sealed }] : []
    }
    if (!('call' in block)) return []
    const { kind, call, input } = block
    // A call without arguments gets no pieces of them. Some servers send all arguments at the start.
    if (block.json !== '') return []
    return kind === 'answer' ? textDeltas(input) : [{ kind: 'arguments', choice, call, text: input }]
  }

  private finish({ delta, usage }: Fields): Delta[] {
    this.stated = mergeUsage(this.stated, usage)
    const fields = asFields(delta)
    const reason = fields['stop_reason']
    if (typeof reason !== 'string' || reason === '' || this.finished) return []
    this.finished = true
    const refusal = refusalOf(fields)
    const told: Delta[] = refusal === undefined ? [] : [{ kind: 'refusal', choice, text: refusal }]
    return [...told, { kind: 'finish', choice, reason: this.reader.finishOf(reason) }]
  }
}

const textDeltas = (text: unknown): Delta[] =>
  typeof text === 'string' && text !== '' ? [{ kind: 'text', choice, text }] : []

const reasoningDeltas = (text: unknown): Delta[] =>
  typeof text === 'string' && text !== '' ? [{ kind: 'reasoning', choice, text }] : []
