/** How many requests may be under way at a provider at once. Who finds no seat asks elsewhere, or waits a moment. */
import type { Provider } from '../domain/catalog.ts'

export const seatBounds = {
  /** Of a provider that says nothing of its own. */
  requestsMax: 4_096,
  /** Where there is nobody else to ask. */
  waitMs: 1_000,
}

type Limited = Pick<Provider, 'id' | 'concurrentRequests'>

/** The right to have one request under way, until `leave`. */
export class Seat {
  private row: Row | undefined

  constructor(row: Row) {
    this.row = row
  }

  /** Safe to call again. */
  leave(): void {
    const { row } = this
    this.row = undefined
    row?.left()
  }
}

/** The seats of one provider. */
class Row {
  taken = 0
  max = 0
  /** In the order in which they came. Whoever gave up is passed over. */
  readonly waiting = new Set<(seat: Seat) => void>()

  left(): void {
    this.taken--
    for (const sit of this.waiting) {
      if (this.taken >= this.max) return
      this.waiting.delete(sit)
      sit(this.seat())
    }
  }

  seat(): Seat {
    this.taken++
    return new Seat(this)
  }
}

export class Seats {
  private readonly rows = new Map<string, Row>()

  /** A seat, where one is free and nobody waits for it. */
  take(provider: Limited): Seat | undefined {
    const row = this.rowOf(provider)
    return row.taken < row.max && row.waiting.size === 0 ? row.seat() : undefined
  }

  /** The same, for whoever has nobody else to ask: waits a moment, unless as many as there are seats do so already. */
  async wait(provider: Limited): Promise<Seat | undefined> {
    const row = this.rowOf(provider)
    const seat = this.take(provider)
    if (seat || row.waiting.size >= row.max) return seat
    const { promise, resolve } = Promise.withResolvers<Seat | undefined>()
    row.waiting.add(resolve)
    const timer = setTimeout(() => {
      row.waiting.delete(resolve)
      resolve(undefined)
    }, seatBounds.waitMs)
    const got = await promise
    clearTimeout(timer)
    return got
  }

  /** With the limit as it is now: an operator may have changed it. */
  private rowOf({ id, concurrentRequests = seatBounds.requestsMax }: Limited): Row {
    let row = this.rows.get(id)
    if (!row) this.rows.set(id, (row = new Row()))
    row.max = concurrentRequests
    return row
  }
}
