import type { Stoppable } from '../upstream/flight.ts'

/** One stop for everything that is under way. */
export class Halt implements Stoppable {
  upstreamStopped = false
  private readonly stops = new Set<() => void>()

  onUpstreamStop(stop: () => void): () => void {
    this.stops.add(stop)
    return () => void this.stops.delete(stop)
  }

  stop(): void {
    this.upstreamStopped = true
    for (const stop of this.stops) stop()
  }
}
