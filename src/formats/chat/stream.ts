/**
 * Streams of the chat format. Each event is metered and passes byte for byte, except for fields that the specification
 * sets.
 */
import type { Failure } from '../../domain/failure.ts'
import { sameUsage, type Usage } from '../../domain/usage.ts'
import { answerLimits } from '../../lib/json/json-scan.ts'
import { reviseJson, type Edit } from '../../lib/json/json-edit.ts'
import { dataEvent, type SseEvent } from '../../lib/http/sse.ts'
import { fieldListIn, type Fields } from '../core/fields.ts'
import { SPARE_CHOICES, TOO_MANY_CHOICES } from '../core/answer-bounds.ts'
import type { AdaptedStream, ReadEvent } from '../core/contract.ts'
import { hiddenError, writeFailure } from '../core/openai-failure.ts'
import { GeneratedTextBuffer } from '../core/generated-text.ts'
import type { FittedNames } from '../core/tool-names.ts'
import { runningUsage } from '../core/running-usage.ts'
import { failureOfEnd, LawfulChunks, parseChunk } from './lawful.ts'
import { isThought, textOfDelta } from './generated-text.ts'
import { contentInTemplate, learnTemplate, type Template } from './template.ts'
import type { UsageDialect } from '../../vendors/preset.ts'
import { correctedUsage, readChatUsage, statedUsage, writeChatUsage } from '../core/openai-usage.ts'

type Delta = Readonly<Record<string, unknown>>
type Choice = { readonly index?: unknown; readonly delta?: Delta | null; readonly finish_reason?: unknown }
type Chunk = Fields & { readonly choices: readonly Choice[] }

const NOTHING: ReadEvent = { kind: 'chunk', text: '', meaningful: false }

export type ChatStreamOptions = {
  readonly publicModel: string
  /** How many choices the client requested. */
  readonly choices: number
  readonly usageAsked: boolean
  readonly usageDialect: UsageDialect
  /** The tool names that were changed for the upstream. */
  readonly names?: FittedNames | undefined
}

const DONE_EVENT = dataEvent('[DONE]')

/** Reads one upstream stream, event by event, and keeps what the bill needs. */
export class ChatStream implements AdaptedStream {
  /** The last usage that the upstream reported. Running totals overwrite each other; they do not add up. */
  usage: Usage | undefined
  /** The text that arrived so far, for an estimate if the stream ends without usage. Reasoning is separate. */
  readonly produced = new GeneratedTextBuffer()
  readonly thoughts = new GeneratedTextBuffer()
  /** The usage chunk for the client. It is held back until the settlement. */
  private usageChunk: string | undefined
  /** The usage that the client was sent last, in a chunk with text, which cannot be held back. */
  private sentUsage: Usage | undefined
  private readonly running = new Set<unknown>()
  private readonly ended = new Set<unknown>()
  /**
   * `events` counts the events of each choice that were read in full. `endedLast` has the choices that ended with the
   * last event, if it was read in full.
   */
  private readonly events = new Map<unknown, number>()
  private readonly endedLast = new Set<unknown>()
  private isLastInFull = false
  private head: { id: unknown; created: unknown } = { id: '', created: 0 }
  private readonly lawful: LawfulChunks
  private readonly options: ChatStreamOptions
  private template: Template | undefined

  constructor(options: ChatStreamOptions) {
    this.options = options
    this.lawful = new LawfulChunks(options.names)
  }

  /**
   * Whether every requested choice has its finish_reason, so that the stream may end here. Some vendors send choices
   * one after the other, so it is not enough that none is open.
   */
  get finished(): boolean {
    return this.ended.size >= this.options.choices && this.running.size === 0
  }

  read({ data }: SseEvent): ReadEvent {
    const plain = this.template && contentInTemplate(data, this.template)
    if (plain !== undefined && this.template) {
      this.isLastInFull = false
      this.produced.add(plain)
      return { kind: 'chunk', text: this.template.sentBefore + plain + this.template.sentAfter, meaningful: true }
    }
    if (data === '[DONE]') return { kind: 'done' }
    return data === '' ? NOTHING : this.readInFull(data)
  }

  private readInFull(data: string): ReadEvent {
    this.isLastInFull = true
    if (this.endedLast.size > 0) this.endedLast.clear()
    const came = parseChunk(data)
    if (!came) return { kind: 'failed', failure: { kind: 'garbage', message: 'an event is not a JSON object' } }
    const failure = hiddenError(came) ?? failureOfEnd(came)
    if (failure) return { kind: 'failed', failure }
    const reported = readChatUsage(statedUsage(came), this.options.usageDialect)
    this.usage = runningUsage(this.usage, reported)
    // A usage alone, a ping, or an extension of the vendor. The format has no such event, and `end` states the usage.
    if ((came['choices'] ?? null) === null) {
      if (reported) this.usageChunk = undefined
      return NOTHING
    }
    if (!fieldListIn(came['choices'])) {
      return { kind: 'failed', failure: { kind: 'garbage', message: 'the choices of an event are not objects' } }
    }
    const chunk = this.lawful.read(came) as Chunk
    const sent = chunk === came ? data : JSON.stringify(chunk)
    this.head = { id: chunk['id'], created: chunk['created'] }
    let meaningful = false
    for (const choice of chunk.choices) meaningful = this.meter(choice) || meaningful
    if (this.running.size + this.ended.size > this.options.choices + SPARE_CHOICES) return TOO_MANY_CHOICES
    const text = this.write(sent, chunk, reported && this.usage)
    const content = reported ? undefined : soleContent(chunk.choices)
    if (content !== undefined) this.template = learnTemplate(data, text, content) ?? this.template
    return { kind: 'chunk', text, meaningful }
  }

  cutAtLength(): string {
    const open: object[] = []
    for (let index = 0; index < this.options.choices; index++) {
      if (this.ended.has(index) && !(this.isLastInFull && this.endedLast.has(index))) continue
      const isBegun = (this.events.get(index) ?? 0) > (this.isLastInFull ? 1 : 0)
      open.push({ index, delta: isBegun ? {} : { role: 'assistant', content: '' }, finish_reason: 'length' })
    }
    this.running.clear()
    // A usage that came with text belonged to an earlier end.
    this.sentUsage = this.usageChunk = undefined
    return this.choicesEvent(open)
  }

  private choicesEvent(choices: readonly object[]): string {
    const { id, created } = this.head
    const model = this.options.publicModel
    return dataEvent(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices }))
  }

  /** Some servers end a stream without a finish reason for its choices. Clients wait for one. */
  private openEnds(): string {
    const open = [...this.running].map((index) => {
      return { index, delta: {}, finish_reason: this.lawful.finishOf(index) }
    })
    return open.length === 0 ? '' : this.choicesEvent(open)
  }

  /** The end of the stream for the client: the billed usage, unless it was already sent, then the terminator. */
  end(billed: Usage): string {
    const { usageChunk, usage, sentUsage } = this
    const ends = this.openEnds()
    if (!this.options.usageAsked) return ends + DONE_EVENT
    if (usageChunk !== undefined && usage && sameUsage(usage, billed)) return ends + usageChunk + DONE_EVENT
    const isSent = sentUsage !== undefined && sameUsage(sentUsage, billed)
    return ends + (isSent ? '' : this.usageEvent(billed)) + DONE_EVENT
  }

  fail(failure: Failure): string {
    return dataEvent(writeFailure(failure).body)
  }

  /** Counts the content of a choice. Returns true if a client could not take it back. */
  private meter({ index, delta, finish_reason: finish }: Choice): boolean {
    let meaningful = false
    this.events.set(index, (this.events.get(index) ?? 0) + 1)
    for (const name in delta) {
      const value = delta[name]
      if (name === 'role' || isNothing(value)) continue
      meaningful = true
      if (isThought(name)) this.thoughts.add(textOfDelta(name, value))
      else this.produced.add(textOfDelta(name, value))
    }
    if (meaningful) this.running.add(index)
    if (finish === null || finish === undefined) return meaningful
    this.running.delete(index)
    this.ended.add(index)
    this.endedLast.add(index)
    return true
  }

  private write(data: string, chunk: Chunk, reported: Usage | undefined): string {
    const { publicModel, usageAsked } = this.options
    // An empty choice list without usage is a vendor's extension (Azure's prompt filter). It breaks simple clients.
    if (chunk.choices.length === 0 && !(usageAsked && reported)) return ''
    let text = data
    const edits: Edit[] = []
    if (chunk['model'] !== publicModel) edits.push({ key: 'model', value: JSON.stringify(publicModel) })
    if (chunk['usage'] !== undefined && !usageAsked) {
      // In practice the field is the last one. What closes the object after it can only be the outermost brace.
      if (data.endsWith(USAGE_NULL_END)) text = `${data.slice(0, -USAGE_NULL_END.length)}}`
      else edits.push({ key: 'usage', value: undefined })
    }
    const statesUsage = usageAsked && reported !== undefined && Boolean(chunk['usage'])
    if (statesUsage) {
      const fixed = correctedUsage(chunk['usage'], reported)
      if (fixed !== undefined) edits.push({ key: 'usage', value: fixed })
    }
    const event = dataEvent(edits.length === 0 ? text : reviseJson(text, edits, answerLimits))
    if (!statesUsage) return event
    if (chunk.choices.length === 0) {
      this.usageChunk = event
      return ''
    }
    this.sentUsage = reported
    this.usageChunk = undefined
    return event
  }

  private usageEvent(billed: Usage): string {
    const { id, created } = this.head
    const model = this.options.publicModel
    const chunk = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [] })
    return dataEvent(`${chunk.slice(0, -1)},"usage":${writeChatUsage(billed)}}`)
  }
}

/** Some servers send every field of a delta every time, empty. */
const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** The content of a chunk that has nothing else. */
function soleContent(choices: readonly Choice[]): string | undefined {
  const [choice] = choices
  if (choices.length !== 1 || !choice?.delta || (choice.finish_reason ?? null) !== null) return undefined
  const { content, ...rest } = choice.delta
  return typeof content === 'string' && content !== '' && Object.keys(rest).length === 0 ? content : undefined
}

const USAGE_NULL_END = ',"usage":null}'
