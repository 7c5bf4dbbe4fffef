import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'

/** Stops everything in the group at once. */
export class AbortGroup implements Stoppable {
  upstreamStopped = false
  private readonly flights = new Set<Abortable>()

  took(flight: Abortable): void {
    this.flights.add(flight)
  }

  landed(flight: Abortable): void {
    this.flights.delete(flight)
  }

  stop(): void {
    this.upstreamStopped = true
    for (const flight of this.flights) flight.abort()
  }
}
