/**
 * How much a stream may bring besides words. Words have a bound of their own; what has none in it (empty deltas, pings,
 * comments, finishes of choices that nobody asked for) costs as much to read and to pass on, and no vendor charges it.
 */
import type { UpstreamFailure } from '../domain/failure.ts'
import type { AdaptedStream } from '../formats/core/contract.ts'
import { charsOf } from '../formats/core/generated-text.ts'
import type { AttemptLimits } from '../upstream/attempt.ts'
import type { EventReader, ReadEvents } from '../upstream/event-reader.ts'
import type { Admission } from './admit.ts'
import type { UpstreamEvents } from './events.ts'

/**
 * Of any stream, and more for each token that its answer may have. An event of a token takes 300 bytes, one with twenty
 * log probabilities 2,500; some servers send an event for each character, and one for each token that nobody sees.
 */
export const streamBounds = {
  events: 10_000,
  eventsPerToken: 8,
  bytes: 8 * 1024 * 1024,
  bytesPerToken: 4 * 1024,
  /** Of image models: a picture of 400 tokens can have 4 MB, and comes once for each preview. */
  imageBytesPerToken: 64 * 1024,
}

/** The part of it that a token has which brought no words. */
const WORDLESS_PART = 1 / 8

const EXCESS: UpstreamFailure = {
  kind: 'garbage',
  status: 200,
  message: 'the upstream sent more events than an answer can need',
  isExcess: true,
}

const EXCEEDED: ReadEvents = { kind: 'broken', failure: EXCESS }

type StreamBound = { readonly admission: Admission; readonly limits: Pick<AttemptLimits, 'eventCharsMax'> }

/** Events of an upstream, until there are too many of them. */
export class BoundedEvents implements UpstreamEvents {
  private readonly events: EventReader
  private readonly stream: AdaptedStream
  private readonly bound: StreamBound

  constructor(events: EventReader, stream: AdaptedStream, bound: StreamBound) {
    this.events = events
    this.stream = stream
    this.bound = bound
  }

  next(): Promise<ReadEvents> {
    // What came before has been read by now.
    return this.isExceeded ? Promise.resolve(EXCEEDED) : this.events.next()
  }

  rest(): void {
    this.events.rest()
  }

  close(): void {
    this.events.close()
  }

  private get isExceeded(): boolean {
    const { givenBytes: bytes, givenEvents } = this.events
    const events = Math.max(givenEvents, this.stream.pieces ?? 0)
    // Nearly every stream ends below what any may have.
    if (events <= streamBounds.events && bytes <= streamBounds.bytes) return false
    const { admission, limits } = this.bound
    // Of all choices together.
    const tokens = admission.quoted.outputTokensMax
    const isImage = admission.model.kind === 'image'
    const spoken = isImage ? tokens : Math.min(tokens, wordChars(this.stream))
    const allowance = tokens * WORDLESS_PART + spoken * (1 - WORDLESS_PART)
    const bytesMax = isImage
      ? Math.max(streamBounds.bytes, 2 * limits.eventCharsMax) + allowance * streamBounds.imageBytesPerToken
      : streamBounds.bytes + allowance * streamBounds.bytesPerToken
    const eventsMax = streamBounds.events + allowance * streamBounds.eventsPerToken
    return events > eventsMax || bytes > bytesMax
  }
}

/** A word has a character at least: so many tokens may have come in words. */
const wordChars = ({ produced, thoughts = '' }: AdaptedStream): number => charsOf(produced) + charsOf(thoughts)
