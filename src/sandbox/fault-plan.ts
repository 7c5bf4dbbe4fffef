import type { Knobs } from './faults.ts'

/** Distinct sets of knobs whose `failTimes` are counted; the oldest is forgotten beyond that. */
const COUNTED_MAX = 10_000

/** Decides which knobs work on a request: the defaults, those of its own, and what `failTimes` leaves of them. */
export class FaultPlan {
  #defaults: Knobs
  readonly #timesByKnobs = new Map<string, number>()

  constructor(defaults: Knobs) {
    this.#defaults = defaults
  }

  /** New defaults start with fresh counts. */
  replace(defaults: Knobs): void {
    this.#defaults = defaults
    this.#timesByKnobs.clear()
  }

  draw(own: Knobs): Knobs {
    const knobs = { ...this.#defaults, ...own }
    if (knobs.failTimes === undefined || this.#count(JSON.stringify(knobs)) <= knobs.failTimes) return knobs
    return knobs.paceMs === undefined ? {} : { paceMs: knobs.paceMs }
  }

  #count(key: string): number {
    const times = (this.#timesByKnobs.get(key) ?? 0) + 1
    if (times === 1 && this.#timesByKnobs.size >= COUNTED_MAX) {
      for (const oldest of this.#timesByKnobs.keys()) {
        this.#timesByKnobs.delete(oldest)
        break
      }
    }
    this.#timesByKnobs.set(key, times)
    return times
  }
}
