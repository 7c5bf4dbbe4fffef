import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'
import type { GatewayRequest } from './call.ts'
import type { AttemptResult } from './prepared-attempt.ts'

/** The owner of one attempt of a hedged request. It can be stopped without the others. */
export class Racer implements Stoppable {
  upstreamRequestId: string | undefined
  private readonly call: GatewayRequest
  private flights: readonly Abortable[] = []
  private state: 'racing' | 'won' | 'lost' = 'racing'
  /** Two replies that arrive at once cannot share one, because each waits for memory by itself. */
  private memory: MemoryShare | undefined

  constructor(call: GatewayRequest) {
    this.call = call
  }

  get upstreamStopped(): boolean {
    return this.state === 'lost' || this.call.upstreamStopped
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
    if (this.state === 'won') return this.call.memoryShare()
    return (this.memory ??= this.call.newMemoryShare())
  }

  /** If it has answered, its memory is that of the request from now on. A second call is safe. */
  ended(how: AttemptResult['kind']): void {
    if (how === 'failed') return this.lost()
    this.state = 'won'
    if (this.memory) this.call.takeMemory(this.memory)
    this.memory = undefined
  }

  /** It has failed, or another attempt was faster. */
  lost(): void {
    this.state = 'lost'
    for (const flight of this.flights) flight.abort()
    this.memory?.release()
  }
}
