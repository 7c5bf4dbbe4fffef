/** Ends a stream that sends more than an answer can need. */
import type { UpstreamFailure } from '../domain/failure.ts'
import type { AdaptedStream } from '../formats/core/contract.ts'
import { charsOf } from '../formats/core/generated-text.ts'
import type { AttemptLimits } from '../upstream/attempt.ts'
import type { EventReader, ReadEvents } from '../upstream/event-reader.ts'
import { streamBounds } from '../modalities/stream-max.ts'
import type { Admission } from './admit.ts'
import type { UpstreamEvents } from './events.ts'

const EXCESS: UpstreamFailure = {
  kind: 'garbage',
  status: 200,
  message: 'the upstream sent more events than an answer can need',
  isExcess: true,
}

const EXCEEDED: ReadEvents = { kind: 'broken', failure: EXCESS }

type StreamBound = {
  readonly admission: Admission
  readonly limits: Pick<AttemptLimits, 'eventCharsMax'>
  /** Set for a stream of bytes, such as audio. Its length does not follow from its tokens, and it has no events. */
  readonly bytesMax?: number
}

/** The events of an upstream, until there are too many. */
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
    // The events before this point have been read by now.
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
    const { admission, limits, bytesMax } = this.bound
    if (bytesMax !== undefined) return bytes > bytesMax
    const events = Math.max(givenEvents, this.stream.pieces ?? 0)
    // Nearly every stream stays below what any stream may have.
    if (events <= streamBounds.events && bytes <= streamBounds.bytes) return false
    const { eventCharsMax } = limits
    // All choices together.
    const tokens = admission.quoted.outputTokensMax
    const max = admission.modality.streamMax({ tokens, chars: wordChars(this.stream), eventCharsMax })
    return events > max.events || bytes > max.bytes
  }
}

/** The number of characters of text that arrived. */
const wordChars = ({ produced, thoughts = '' }: AdaptedStream): number => charsOf(produced) + charsOf(thoughts)
