/** Sources of events other than an upstream's plain stream. */
import type { AdaptedStream } from '../formats/core/contract.ts'
import type { SseEvent } from '../lib/http/sse.ts'
import type { EventReader, ReadEvents } from '../upstream/event-reader.ts'

export type UpstreamEvents = Pick<EventReader, 'next' | 'rest' | 'close'>

/** Events that are already there. */
export class GivenEvents implements UpstreamEvents {
  private events: readonly SseEvent[]

  constructor(events: readonly SseEvent[]) {
    this.events = events
  }

  next(): Promise<ReadEvents> {
    const { events } = this
    this.events = []
    return Promise.resolve(events.length === 0 ? { kind: 'end' } : { kind: 'events', events })
  }

  rest(): void {
    // There is no source that could be made to wait.
  }

  close(): void {
    this.events = []
  }
}

/** Events that are prepared one after the other before they are read. */
export class PreparedEvents implements UpstreamEvents {
  private readonly events: UpstreamEvents
  private readonly stream: AdaptedStream

  constructor(events: UpstreamEvents, stream: AdaptedStream) {
    this.events = events
    this.stream = stream
  }

  async next(): Promise<ReadEvents> {
    const next = await this.events.next()
    if (next.kind === 'events') for (const event of next.events) await this.stream.prepare?.(event)
    return next
  }

  rest(): void {
    this.events.rest()
  }

  close(): void {
    this.events.close()
  }
}
