/**
 * Streams of Gemini's API. Each response is metered and passes byte for byte, except for fields that the specification
 * sets.
 */
import type { Failure } from '../../domain/failure.ts'
import { sameUsage, type Usage } from '../../domain/usage.ts'
import { answerLimits } from '../../lib/json/json-scan.ts'
import { reviseJson } from '../../lib/json/json-edit.ts'
import { dataEvent, type SseEvent } from '../../lib/http/sse.ts'
import { asFields, asList, numberIn, parseFields, parseLongFields, type Fields } from '../core/fields.ts'
import { BEHIND_CHARS_MAX, CANDIDATES_MAX, TOO_MANY_CHOICES, TOO_MUCH_BEHIND } from '../core/answer-bounds.ts'
import type { ImageService, InlineImages, AdaptedStream, ReadEvent } from '../core/contract.ts'
import { GeneratedTextBuffer } from '../core/generated-text.ts'
import { runningUsage } from '../core/running-usage.ts'
import { editsOf, textOfCandidates } from './direct-edits.ts'
import { failureOfFinish, hasContent, isEnd, silentEnd, type Silence } from './ends.ts'
import { readGeminiError, writeGeminiFailure } from '../core/google-failure.ts'
import { paintedIn, SPOILED } from './paintings.ts'
import { readParts } from './parts.ts'
import { readGeminiUsage, writeGeminiUsage } from './usage.ts'

const garbage = (message: string): ReadEvent => ({ kind: 'failed', failure: { kind: 'garbage', message } })
const NOTHING: ReadEvent = { kind: 'chunk', text: '', meaningful: false }

/**
 * Reads one upstream stream. The dialect has no terminator, so a client takes the answer as complete at the last finish
 * reason. This response and everything after it are held back until the answer is settled.
 */
export class GeminiStream implements AdaptedStream {
  usage: Usage | undefined
  readonly produced = new GeneratedTextBuffer()
  /** The number of images, if the answer may have any. */
  painted?: InlineImages
  readonly prepare?: NonNullable<AdaptedStream['prepare']>
  private readonly looked = new WeakMap<
    SseEvent,
    { readonly response: Fields | undefined; readonly painted: InlineImages }
  >()
  /** The last responses, from the last finish reason on. */
  private readonly held: string[] = []
  private behindChars = 0
  /** The usage that the last response states. */
  private stated: Usage | undefined
  private readonly running = new Set<number>()
  private ended = 0
  /** Candidates that ended with the response that was read last, and whether that response is held back. */
  private endedLast: readonly number[] = []
  private isLastHeld = false
  private isBlocked = false
  /** Candidates that have sent anything but thoughts. */
  private readonly answered = new Set<number>()
  private readonly silence: Silence
  private readonly publicModel: string

  /** With an image service, images in the answer are decoded. */
  constructor(
    publicModel: string,
    { silence, imageService }: { silence: Silence; imageService?: Pick<ImageService, 'inspect'> },
  ) {
    this.publicModel = publicModel
    this.silence = silence
    if (!imageService) return
    this.painted = { images: 0, spoiled: 0, endedBy: 'vendor' }
    this.prepare = async (event) => {
      const response = await parseLongFields(event.data)
      this.looked.set(event, { response, painted: await paintedIn(response ?? {}, imageService) })
    }
  }

  get finished(): boolean {
    return this.isBlocked || (this.ended > 0 && this.running.size === 0)
  }

  read(event: SseEvent): ReadEvent {
    const { data } = event
    if (data === '') return NOTHING
    this.isLastHeld = false
    const looked = this.looked.get(event)
    const response = looked ? looked.response : parseFields(data)
    if (!response) return garbage('an event is not a JSON object')
    if (response['error']) return { kind: 'failed', failure: readGeminiError(undefined, response) }
    if (looked && looked.painted.spoiled > 0) return garbage(SPOILED)
    if (looked) this.painted = { ...looked.painted, images: looked.painted.images + (this.painted?.images ?? 0) }
    const candidates = asList(response['candidates']).map(asFields)
    const noEnd = this.noEndIn(candidates)
    if (noEnd) return noEnd
    const usage = readGeminiUsage(response['usageMetadata'])
    this.usage = runningUsage(this.usage, usage)
    this.stated = usage
    const meaningful = this.meter(response, candidates)
    if (this.running.size > CANDIDATES_MAX) return TOO_MANY_CHOICES
    const edits = editsOf(response, this.publicModel, usage)
    const json = edits.length === 0 ? data : reviseJson(data, edits, answerLimits)
    if (this.finished) {
      // Images have a much larger bound of their own.
      if (this.held.length > 0 && !this.painted) this.behindChars += json.length
      this.held.push(json)
      this.isLastHeld = true
      if (this.behindChars > BEHIND_CHARS_MAX) return TOO_MUCH_BEHIND
      return { kind: 'chunk', text: '', meaningful }
    }
    return { kind: 'chunk', text: dataEvent(json), meaningful }
  }

  /** Once a candidate has content, its client sees the finish reason: the vendor ends such an answer properly. */
  private noEndIn(candidates: readonly Fields[]): ReadEvent | undefined {
    for (const one of candidates) if (hasContent(one)) this.answered.add(numberIn(one['index']) ?? 0)
    for (const { index, finishReason: reason } of candidates) {
      if (!isEnd(reason) || this.answered.has(numberIn(index) ?? 0)) continue
      const end = failureOfFinish(reason) ?? (this.answered.size > 0 ? undefined : silentEnd(reason, this.silence))
      if (end) return end
    }
    return undefined
  }

  /** Counts the content. Returns true if a client could not take it back. */
  private meter(response: Fields, candidates: readonly Fields[]): boolean {
    if (asFields(response['promptFeedback'])['blockReason'] !== undefined && candidates.length === 0) {
      this.isBlocked = true
      return true
    }
    this.produced.add(textOfCandidates(candidates))
    let meaningful = false
    const ended: number[] = []
    for (const candidate of candidates) {
      const index = numberIn(candidate['index']) ?? 0
      const isFinished = isEnd(candidate['finishReason'])
      if (hasWords(candidate) || otherParts(candidate)) {
        this.running.add(index)
        meaningful = true
      }
      if (!isFinished) continue
      this.running.delete(index)
      ended.push(index)
      meaningful = true
    }
    this.ended += ended.length
    this.endedLast = ended
    return meaningful
  }

  cutAtLength(): string {
    if (this.isLastHeld) this.held.pop()
    const open = new Set([...this.running, ...this.endedLast])
    const indexes = open.size === 0 ? [0] : [...open]
    const candidates = indexes.map((index) => ({ index, finishReason: 'MAX_TOKENS' }))
    this.held.push(JSON.stringify({ candidates, modelVersion: this.publicModel }))
    // The usage so far belonged to an earlier end. The last response states what is billed.
    this.usage = this.stated = undefined
    return ''
  }

  end(billed: Usage): string {
    const last = this.held.pop()
    if (last === undefined) return ''
    const metadata = { key: 'usageMetadata', value: writeGeminiUsage(billed) }
    const isTold = this.usage !== undefined && sameUsage(this.stated ?? this.usage, billed)
    const json = isTold ? last : reviseJson(last, [metadata], answerLimits)
    return [...this.held, json].map(dataEvent).join('')
  }

  fail(failure: Failure): string {
    return dataEvent(writeGeminiFailure(failure).body)
  }
}

/** Whether a candidate has text or calls. A signature alone does not commit to an answer. */
const hasWords = (candidate: Fields): boolean =>
  readParts(candidate).some((part) => part.kind !== 'reasoning' || part.text !== '')

/** Parts of kinds that only the vendor and its client know. */
const otherParts = (candidate: Fields): boolean =>
  asList(asFields(candidate['content'])['parts']).some((part) => {
    const { text, thought: _, thoughtSignature: __, ...rest } = asFields(part)
    return (typeof text === 'string' && text !== '') || Object.keys(rest).length > 0
  })
