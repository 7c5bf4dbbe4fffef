import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'
import type { GatewayRequest } from './call.ts'

/** The owner of one attempt of a hedged request. It can be stopped without the others. */
export class Racer implements Stoppable {
  upstreamRequestId: string | undefined
  private readonly call: GatewayRequest
  private flights: readonly Abortable[] = []
  private isOutrun = false

  constructor(call: GatewayRequest) {
    this.call = call
  }

  get upstreamStopped(): boolean {
    return this.isOutrun || this.call.upstreamStopped
  }

  took(flight: Abortable): void {
    this.flights = [...this.flights, flight]
    this.call.took(flight)
  }

  landed(flight: Abortable): void {
    this.flights = this.flights.filter((one) => one !== flight)
    this.call.landed(flight)
  }

  heard(requestId: string | undefined): void {
    this.upstreamRequestId = requestId
  }

  memoryShare(): MemoryShare | undefined {
    return this.call.memoryShare()
  }

  /** Another attempt was faster. */
  outrun(): void {
    this.isOutrun = true
    for (const flight of this.flights) flight.abort()
  }
}
