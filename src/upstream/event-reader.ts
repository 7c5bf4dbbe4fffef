/**
 * Reads an upstream's event stream. Bytes are decoded in the read that brought them, without a copy. Events that nobody
 * waits for are kept and handed over together. It is an object with `next`, not a generator: one promise for each read.
 */
import type { UpstreamFailure } from '../domain/failure.ts'
import type { UpstreamEvent } from '../formats/core/contract.ts'
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { leaveBehind } from '../lib/runtime/gc-hint.ts'
import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import { DamagedFrame } from '../lib/http/aws-event-stream.ts'
import { SseDecoder, type SseEvent } from '../lib/http/sse.ts'
import type { IncomingResponse, Sink } from '../outbound/exchange.ts'
import type { InFlightAttempt } from './in-flight-attempt.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type ReaderLimits = { readonly eventGapTimeoutMs: number; readonly eventCharsMax: number }

export type ReadEvents =
  | { readonly kind: 'events'; readonly events: readonly UpstreamEvent[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken'; readonly failure: UpstreamFailure }

const END: ReadEvents = { kind: 'end' }
/** How many bytes may be unread before the upstream has to wait. */
const QUEUED_BYTES_MAX = limit(
  'streamQueuedBytesMax',
  32 * KIB,
  'The gateway stops reading from the upstream until the client has caught up.',
)
/** An answer of single tokens never has reads this large. */
const LARGE_READ_BYTES = 64 * KIB
/** A longer event gets a tick of its own. Several long events in one tick would hold up the others. */
const SMALL_CHARS_MAX = 32 * KIB
/** From this size on an event takes memory from the share for long replies, block by block. */
const BLOCK_CHARS = MIB
type EventDecoder = {
  push(bytes: Uint8Array): UpstreamEvent[]
  end(): UpstreamEvent[]
  readonly unfinishedChars: number
}

/** Only the end of the body follows, and waiting for it keeps the connection. Recognised by its data or its name. */
const isTerminator = ({ name, data }: SseEvent): boolean => data === '[DONE]' || name === 'message_stop'

/** What a decoder complains of. */
function wrongIn(error: unknown): string {
  if (error instanceof RangeError) return 'an event that is too large'
  return error instanceof DamagedFrame ? 'a damaged frame' : 'bytes that are not UTF-8'
}

export class EventReader implements Sink {
  /** Everything that `next` has returned so far: events, and bytes including those of comments. */
  givenEvents = 0
  givenBytes = 0
  private readonly response: IncomingResponse
  private readonly decoder: EventDecoder
  private readonly flight: InFlightAttempt
  private readonly gapMs: number
  private readonly eventCharsMax: number
  private events: UpstreamEvent[] = []
  private queuedBytes = 0
  private arrivedBytes = 0
  private hasLarge = false
  private waiting: ((read: ReadEvents) => void) | undefined
  /** What `next` returns after the last events. */
  private last: ReadEvents | undefined
  private begun = false
  private isTerminated = false
  private isResting = false
  /** The memory of a long event, until the event is handed over. */
  private memory: MemoryShare | undefined
  private takenChars = 0

  /** `decoder`: the way to read the body, if it is no stream of server-sent events. */
  constructor(response: IncomingResponse, flight: InFlightAttempt, limits: ReaderLimits, decoder?: EventDecoder) {
    const { eventGapTimeoutMs, eventCharsMax } = limits
    this.response = response
    this.decoder = decoder ?? new SseDecoder(eventCharsMax)
    this.flight = flight
    this.gapMs = eventGapTimeoutMs
    this.eventCharsMax = eventCharsMax
    response.deliver(this)
  }

  /** The events that have arrived, or that the next read completes. Nothing follows `end` and `broken`. */
  next(): Promise<ReadEvents> {
    if (this.events.length > 0) {
      return this.hasLarge ? nextTurn().then(() => this.handOver()) : Promise.resolve(this.handOver())
    }
    if (this.last) {
      const { last } = this
      this.last = END
      return Promise.resolve(last)
    }
    // The first event has a limit of its own, which is already running.
    if (this.begun) this.flight.watchdog.beat(this.gapMs)
    if (this.isResting) {
      this.isResting = false
      this.response.resume()
    }
    return new Promise((resolve) => (this.waiting = resolve))
  }

  /** Makes the upstream wait until the next `next`. One read of a fast upstream is half a megabyte. */
  rest(): void {
    if (this.waiting || this.last) return
    this.isResting = true
    this.response.pause()
  }

  /** Stops reading, and stops the upstream if it is still working. */
  close(): void {
    this.events = []
    if (this.last) {
      this.last = END
      return
    }
    this.conclude(END)
    if (this.isTerminated) this.response.release()
    else this.flight.abort()
  }

  part(bytes: Buffer): void {
    if (bytes.length >= LARGE_READ_BYTES) leaveBehind(bytes.length, this)
    const events = this.decoded(bytes)
    if (!events) return
    this.take(events, bytes.length)
    this.memory?.moves()
    if (this.decoder.unfinishedChars - this.takenChars >= BLOCK_CHARS) this.takeRoom()
  }

  /** Long events wait for memory as long replies do, and their vendor waits with them. */
  private takeRoom(): void {
    const { unfinishedChars } = this.decoder
    const more = unfinishedChars - this.takenChars
    this.takenChars = unfinishedChars
    this.memory ??= this.flight.memoryShare()
    if (this.memory?.grow(more, this.eventCharsMax - unfinishedChars, () => this.setWaiting(false)) === false) {
      this.setWaiting(true)
    }
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting) this.response.pause()
    else this.response.resume()
    this.flight.waits(isWaiting)
  }

  private giveRoom(): void {
    this.memory?.forget()
    this.memory = undefined
    this.takenChars = 0
  }

  end(last: Buffer): void {
    const events = this.decoded(last)
    const final = events && this.decoded(undefined)
    if (!final) return
    this.take([...events, ...final], last.length)
    this.conclude(END)
  }

  broken(message: string): void {
    if (!this.last) this.conclude({ kind: 'broken', failure: this.flight.failure({ message, reached: true }) })
  }

  /** The events that the bytes complete, or the end of the stream. Undefined if it is no event stream. */
  private decoded(bytes: Buffer | undefined): UpstreamEvent[] | undefined {
    if (this.last) return undefined
    this.arrivedBytes += bytes?.length ?? 0
    try {
      return bytes ? this.decoder.push(bytes) : this.decoder.end()
    } catch (error) {
      this.conclude({ kind: 'broken', failure: { kind: 'garbage', message: `the upstream sent ${wrongIn(error)}` } })
      this.response.cancel()
      return undefined
    }
  }

  private take(events: UpstreamEvent[], bytes: number): void {
    if (events.length === 0) return
    this.begun = true
    const last = events.at(-1)
    this.isTerminated = last !== undefined && isTerminator(last)
    this.flight.watchdog.rest()
    this.events = this.events.length === 0 ? events : [...this.events, ...events]
    for (const { data } of events) this.hasLarge ||= data.length > SMALL_CHARS_MAX
    if (this.waiting && !this.hasLarge) return this.answer(this.handOver())
    if (this.waiting) void nextTurn().then(() => this.waiting && this.events.length > 0 && this.answer(this.handOver()))
    this.queuedBytes += bytes
    if (this.queuedBytes > QUEUED_BYTES_MAX) this.response.pause()
  }

  private handOver(): ReadEvents {
    const { events } = this
    this.givenEvents += events.length
    this.givenBytes = this.arrivedBytes
    this.events = []
    this.queuedBytes = 0
    this.hasLarge = false
    this.isResting = false
    this.giveRoom()
    this.response.resume()
    return { kind: 'events', events }
  }

  private answer(read: ReadEvents): void {
    const { waiting } = this
    this.waiting = undefined
    waiting?.(read)
  }

  private conclude(last: ReadEvents): void {
    this.giveRoom()
    this.last = last
    this.flight.land()
    if (!this.waiting || this.events.length > 0) return
    this.last = END
    this.answer(last)
  }
}
