/** Reads an upstream's stream of the Converse format as deltas. */
import type { Delta } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { OPEN_BLOCKS_MAX, TOO_MANY_BLOCKS } from '../core/answer-bounds.ts'
import type { DecodedEvent, StreamDecoder } from '../core/contract.ts'
import { asFields, asText, parseFields, textIn, type Fields } from '../core/fields.ts'
import { runningUsage } from '../core/running-usage.ts'
import { brokenEnd, finishOf, noAnswer, hiddenSeal, signedSeal } from './answer-reader.ts'
import { readConverseError } from './failure.ts'
import { readConverseUsage } from './usage.ts'

/** An open block: a call with its number among the calls, or a thought with what has come of its signature. */
type Open =
  | { readonly kind: 'call'; readonly call: number; hasInput: boolean }
  | { readonly kind: 'thought'; signature: string }

const choice = 0
const NO_DELTAS: DecodedEvent = { kind: 'deltas', deltas: [] }

/** Whether an event is an exception of the service, or an error of the protocol. */
const isException = (name: string): boolean => name === 'error' || /exception$/i.test(name)

/**
 * The usage comes in `metadata`, behind the end of the message. The format has no terminator: the stream ends with its
 * body.
 */
export class ConverseDecoder implements StreamDecoder {
  usage: Usage | undefined
  finished = false
  private calls = 0
  private readonly blocks = new Map<unknown, Open>()

  decode({ name = '', data }: SseEvent): DecodedEvent {
    const event = parseFields(data)
    if (isException(name)) {
      const type = name === 'error' ? textIn(event?.['code']) : name
      return { kind: 'failed', failure: readConverseError({ type }, event ?? {}) }
    }
    if (data === '') return NO_DELTAS
    if (!event) return noAnswer('an event is not a JSON object')
    if (name === 'messageStop') return this.finish(event['stopReason'])
    const deltas = this.deltas(name, event)
    if (this.blocks.size > OPEN_BLOCKS_MAX) return TOO_MANY_BLOCKS
    return deltas.length === 0 ? NO_DELTAS : { kind: 'deltas', deltas }
  }

  private deltas(name: string, event: Fields): Delta[] {
    const { contentBlockIndex: index } = event
    switch (name) {
      case 'contentBlockStart':
        return this.begin(index, asFields(event['start']))
      case 'contentBlockDelta':
        return this.go(index, asFields(event['delta']))
      case 'contentBlockStop':
        return this.end(index)
      case 'metadata':
        this.usage = runningUsage(this.usage, readConverseUsage(event['usage']))
        return []
      default:
        return [] // The start of the message, and future events of the format.
    }
  }

  /** Only calls begin with an event. */
  private begin(index: unknown, { toolUse }: Fields): Delta[] {
    if (toolUse === undefined) return []
    const { toolUseId, name } = asFields(toolUse)
    const call = this.calls++
    this.blocks.set(index, { kind: 'call', call, hasInput: false })
    return [{ kind: 'call', choice, call, id: asText(toolUseId), name: asText(name), tool: 'function' }]
  }

  private go(index: unknown, { text, toolUse, reasoningContent }: Fields): Delta[] {
    if (typeof text === 'string') return text === '' ? [] : [{ kind: 'text', choice, text }]
    if (toolUse !== undefined) return this.input(index, asText(asFields(toolUse)['input']))
    return reasoningContent === undefined ? [] : this.thought(index, asFields(reasoningContent))
  }

  private input(index: unknown, text: string): Delta[] {
    const open = this.blocks.get(index)
    if (open?.kind !== 'call' || text === '') return []
    open.hasInput = true
    return [{ kind: 'arguments', choice, call: open.call, text }]
  }

  private thought(index: unknown, { text, signature, redactedContent }: Fields): Delta[] {
    if (typeof redactedContent === 'string') {
      return [{ kind: 'sealed', choice, sealed: hiddenSeal(redactedContent) }]
    }
    if (typeof signature === 'string') {
      const open = this.blocks.get(index)
      if (open?.kind === 'thought') open.signature += signature
      else this.blocks.set(index, { kind: 'thought', signature })
    }
    return typeof text === 'string' && text !== '' ? [{ kind: 'reasoning', choice, text }] : []
  }

  private end(index: unknown): Delta[] {
    const open = this.blocks.get(index)
    this.blocks.delete(index)
    if (open?.kind === 'call') {
      // A call without arguments may get no pieces of them.
      return open.hasInput ? [] : [{ kind: 'arguments', choice, call: open.call, text: '{}' }]
    }
    const sealed = open && signedSeal(open.signature)
    return sealed ? [{ kind: 'sealed', choice, sealed }] : []
  }

  private finish(reason: unknown): DecodedEvent {
    if (this.finished) return NO_DELTAS
    const broken = brokenEnd(reason)
    if (broken) return broken
    this.finished = true
    return { kind: 'deltas', deltas: [{ kind: 'finish', choice, reason: finishOf(reason, this.calls > 0) }] }
  }
}
