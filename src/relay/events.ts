/** Where the events of an answer come from, where that is not an upstream's stream as it is. */
import type { PassedStream } from '../formats/format.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { EventReader, ReadEvents } from '../upstream/event-reader.ts'

export type EventSource = Pick<EventReader, 'next' | 'rest' | 'close'>

/** Events that are there already. */
export class GivenEvents implements EventSource {
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
    // Nobody is there to be made to wait.
  }

  close(): void {
    this.events = []
  }
}

/** Events that are looked into one after the other before they are read. */
export class PreparedEvents implements EventSource {
  private readonly events: EventSource
  private readonly stream: PassedStream

  constructor(events: EventSource, stream: PassedStream) {
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
