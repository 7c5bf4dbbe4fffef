/** Streams of the Messages format. Each event is metered and passes byte for byte, except for the model's name. */
import type { Failure } from '../../domain/failure.ts'
import { sameUsage, type Usage } from '../../domain/usage.ts'
import { answerLimits, scanJson } from '../../lib/json/json-scan.ts'
import { reviseJson, type Edit } from '../../lib/json/json-edit.ts'
import { namedEvent, type SseEvent } from '../../lib/http/sse.ts'
import { asFields, asText, numberIn, parseFields, type Fields } from '../core/fields.ts'
import type { AnswerFacts, AdaptedStream, ReadEvent } from '../core/contract.ts'
import { GeneratedTextBuffer } from '../core/generated-text.ts'
import { readMessagesError, writeMessagesFailure } from './failure.ts'
import { endingDelta, isToolUse, stopReasonIn, withReason } from './lawful-answer.ts'
import { producedBy } from './reply.ts'
import { mergeUsage, readMessagesUsage, writeMessagesUsage } from './usage.ts'

const NOTHING: ReadEvent = { kind: 'chunk', text: '', meaningful: false }

/**
 * An ordinary event as vendors write it. An event that matches needs no parsing, since it can have no other meaning.
 */
const TEXT_DELTA =
  /^\{"type":"content_block_delta","index":\d{1,6},"delta":\{"type":"text_delta","text":"([^"\\\p{Cc}]+)"\} *\}$/u

/** The text of an ordinary event. Undefined if the event has to be read in full. */
export const plainTextOf = (data: string): string | undefined => TEXT_DELTA.exec(data)?.[1]

/** Reads one upstream stream, event by event, and keeps what the bill needs. */
export class MessagesStream implements AdaptedStream {
  readonly produced = new GeneratedTextBuffer()
  finished = false
  private stated: Fields | undefined
  /** The `message_delta` that states the usage, held back until the settlement, and the upstream's own terminator. */
  private owed: string | undefined
  private owedUsage: Fields = {}
  private hasCalls = false
  private terminator = namedEvent('message_stop', '{"type":"message_stop"}')
  private readonly answer: AnswerFacts

  constructor(answer: AnswerFacts) {
    this.answer = answer
  }

  get usage(): Usage | undefined {
    return this.stated && readMessagesUsage(this.stated)
  }

  read({ data }: SseEvent): ReadEvent {
    const plain = plainTextOf(data)
    if (plain !== undefined) {
      this.produced.add(plain)
      return { kind: 'chunk', text: namedEvent('content_block_delta', data), meaningful: true }
    }
    if (data === '') return NOTHING
    // Not part of this format, but vendors that serve several formats send it (vLLM, 2026-08).
    if (data === '[DONE]') return { kind: 'done' }
    const event = parseFields(data)
    const type = asText(event?.['type'])
    if (!event || type === '') {
      return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not of the format' } }
    }
    return this.readInFull(type, event, data)
  }

  private readInFull(type: string, event: Fields, data: string): ReadEvent {
    const pass = (meaningful: boolean): ReadEvent => ({ kind: 'chunk', text: namedEvent(type, data), meaningful })
    switch (type) {
      case 'message_start':
        this.stated = mergeUsage(this.stated, asFields(event['message'])['usage'])
        return { kind: 'chunk', text: namedEvent(type, this.renamed(event, data)), meaningful: false }
      case 'content_block_start': {
        const block = asFields(event['content_block'])
        const words = isToolUse(block) ? asText(block['name']) : producedBy(block)
        this.hasCalls ||= isToolUse(block)
        this.produced.add(words)
        // An empty text can still be taken back, because it shows nothing.
        return pass(words !== '' || (block['type'] !== 'text' && block['type'] !== 'thinking'))
      }
      case 'content_block_delta': {
        const { text, thinking, partial_json: json, signature } = asFields(event['delta'])
        const words = asText(text) + asText(thinking) + asText(json)
        this.produced.add(words)
        return pass(words !== '' || asText(signature) !== '')
      }
      case 'message_delta':
        return this.delta(event, data)
      case 'message_stop':
        this.terminator = namedEvent(type, data)
        return { kind: 'done' }
      case 'error':
        return { kind: 'failed', failure: readMessagesError(undefined, event) }
      default:
        return pass(false) // Ends of blocks, pings, and future events of the format.
    }
  }

  private delta({ delta, usage }: Fields, came: string): ReadEvent {
    this.stated = mergeUsage(this.stated, usage)
    const { stop_reason: given } = asFields(delta)
    const reason = stopReasonIn(given, this.hasCalls)
    const edit = { key: 'delta', value: withReason(delta, reason) }
    const data = reason === (given ?? null) ? came : reviseJson(came, [edit], answerLimits)
    if (reason !== null) this.finished = true
    if (!this.finished) return { kind: 'chunk', text: namedEvent('message_delta', data), meaningful: true }
    const before = this.owed === undefined ? '' : namedEvent('message_delta', this.owed)
    this.owed = data
    this.owedUsage = asFields(usage)
    return { kind: 'chunk', text: before, meaningful: true }
  }

  /** The start event with the public model's name. It gets a usage if it has none, because clients add to it. */
  private renamed({ message }: Fields, data: string): string {
    const fields = asFields(message)
    const edits: Edit[] = []
    const { publicModel } = this.answer
    if (fields['model'] !== publicModel) edits.push({ key: 'model', value: JSON.stringify(publicModel) })
    if ((fields['usage'] ?? null) === null) edits.push({ key: 'usage', value: '{"input_tokens":0,"output_tokens":0}' })
    if (edits.length === 0) return data
    const scan = scanJson(data, answerLimits)
    const place = scan.kind === 'scanned' ? scan.members.get('message') : undefined
    const inner = place ? data.slice(place.start, place.end) : JSON.stringify(fields)
    return reviseJson(data, [{ key: 'message', value: reviseJson(inner, edits, answerLimits) }], answerLimits)
  }

  /** Whether the last event states the same counts as the usage so far. It does not if it gives the input as zero. */
  private statesAll(): boolean {
    const { stated = {} } = this
    return Object.entries(this.owedUsage).every(([name, value]) => numberIn(value) === numberIn(stated[name]))
  }

  /** The end of the stream for the client: the billed usage, then the terminator. */
  end(billed: Usage): string {
    const { owed, usage, hasCalls } = this
    const edit = { key: 'usage', value: JSON.stringify(writeMessagesUsage(billed)) }
    const isTold = owed !== undefined && usage !== undefined && sameUsage(usage, billed) && this.statesAll()
    const event = isTold ? owed : reviseJson(owed ?? endingDelta(hasCalls), [edit], answerLimits)
    return namedEvent('message_delta', event) + this.terminator
  }

  fail(failure: Failure): string {
    return namedEvent('error', writeMessagesFailure(failure, this.answer.requestId).body)
  }
}
