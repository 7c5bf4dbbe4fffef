/** Which call a result is of, in a dialect where ids may be left out. */
import { asText, type Fields } from '../core/fields.ts'

/** Places of calls that have one id, or one name. */
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
 * For each result the place of its call: by id where it has one that a call has, else the next call of its name.
 * Undefined for a result of no call. A request may have thousands of both.
 */
export function callsOfResults(calls: readonly Fields[], results: readonly Fields[]): (number | undefined)[] {
  const [ids, names] = [queuesBy(calls, 'id'), queuesBy(calls, 'name')]
  const taken = new Set<number>()
  const named = results.map(({ id }) => (asText(id) === '' ? undefined : ids.get(id)?.next(taken)))
  return results.map(({ name }, i) => named[i] ?? names.get(name)?.next(taken))
}
