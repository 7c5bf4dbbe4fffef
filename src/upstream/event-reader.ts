/** Reads an upstream's event stream. A plain object with `next`, not a generator: a hop less for each event. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { SseDecoder, type SseEvent } from '../lib/sse.ts'
import { describe } from '../outbound/send.ts'
import type { Flight } from './flight.ts'

export type ReaderLimits = { readonly eventGapTimeoutMs: number; readonly eventCharsMax: number }

export type ReadEvents =
  | { readonly kind: 'events'; readonly events: readonly SseEvent[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken'; readonly failure: UpstreamFailure }

const END: ReadEvents = { kind: 'end' }

export class EventReader {
  private readonly reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }
  private readonly decoder: SseDecoder
  private readonly flight: Flight
  private readonly gapMs: number
  private ended = false
  private begun = false

  constructor(body: ReadableStream<Uint8Array>, flight: Flight, { eventGapTimeoutMs, eventCharsMax }: ReaderLimits) {
    this.reader = body.getReader()
    this.decoder = new SseDecoder(eventCharsMax)
    this.flight = flight
    this.gapMs = eventGapTimeoutMs
  }

  /** The events that the next read completes. After `end` and `broken` nothing more comes. */
  async next(): Promise<ReadEvents> {
    if (this.ended) return END
    // The first event has a limit of its own, which is running already.
    if (this.begun) this.flight.watchdog.beat(this.gapMs)
    try {
      for (;;) {
        const { done, value } = await this.reader.read()
        const events = value ? this.decoder.push(value) : done ? this.decoder.end() : []
        if (done) this.close()
        if (events.length > 0) {
          this.begun = true
          this.flight.watchdog.rest()
          return { kind: 'events', events }
        }
        if (done) return END
      }
    } catch (error) {
      const failure = this.failureOf(error)
      this.close()
      return { kind: 'broken', failure }
    }
  }

  /** Stops the upstream, if it is still at work. */
  close(): void {
    if (this.ended) return
    this.ended = true
    this.flight.land()
    this.flight.abort()
  }

  private failureOf(error: unknown): UpstreamFailure {
    if (error instanceof RangeError) return { kind: 'garbage', message: 'an event of the upstream is too large' }
    if (error instanceof TypeError && !this.flight.aborted) {
      return { kind: 'garbage', message: 'the upstream sent bytes that are not UTF-8' }
    }
    return this.flight.failure(describe(error))
  }
}
