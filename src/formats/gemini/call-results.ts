/** Matches results to calls in a dialect in which ids are optional. */
import { asText, type Fields } from '../core/fields.ts'

/** The places of calls that share an id or a name. */
class Queue {
  private readonly places: number[] = []
  private at = 0

  add(place: number): void {
    this.places.push(place)
  }

  next(taken: Set<number>): number | undefined {
    while (this.at < this.places.length) {
      const place = this.places[this.at++]
      if (place === undefined || taken.has(place)) continue
      taken.add(place)
      return place
    }
    return undefined
  }
}

function queuesBy(calls: readonly Fields[], member: 'id' | 'name'): ReadonlyMap<unknown, Queue> {
  const queues = new Map<unknown, Queue>()
  for (const [place, call] of calls.entries()) {
    const queue = queues.get(call[member]) ?? new Queue()
    queues.set(call[member], queue)
    queue.add(place)
  }
  return queues
}

/**
 * The place of the call for each result. It is found by id if a call has that id, otherwise by the next call of the
 * same name. Undefined for a result without a call. A request may have thousands of both.
 */
export function callsOfResults(calls: readonly Fields[], results: readonly Fields[]): (number | undefined)[] {
  const [ids, names] = [queuesBy(calls, 'id'), queuesBy(calls, 'name')]
  const taken = new Set<number>()
  const named = results.map(({ id }) => (asText(id) === '' ? undefined : ids.get(id)?.next(taken)))
  return results.map(({ name }, i) => named[i] ?? names.get(name)?.next(taken))
}
