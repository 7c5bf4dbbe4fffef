import { knobsAt, lastingKnobs, type Knobs, type FaultStep } from './faults.ts'

/** `scope`: requests with the same scope count `failTimes` together. */
type DrawOptions = { steps?: readonly FaultStep[] | undefined; scope?: string | undefined }

/** Distinct sets of knobs whose `failTimes` are counted. Beyond that, the oldest is forgotten. */
const COUNTED_MAX = 10_000

/** Decides which knobs work on a request: the defaults and its own, minus those whose `failTimes` are used up. */
export class FaultPlan {
  #defaults: Knobs
  readonly #timesByKnobs = new Map<string, number>()

  constructor(defaults: Knobs) {
    this.#defaults = defaults
  }

  /** Sets new defaults and resets all counts. */
  replace(defaults: Knobs): void {
    this.#defaults = defaults
    this.#timesByKnobs.clear()
  }

  draw(own: Knobs, { steps = [], scope = '' }: DrawOptions = {}): Knobs {
    const knobs = { ...knobsAt(this.#defaults, steps), ...knobsAt(own, steps) }
    const { failTimes } = knobs
    if (failTimes === undefined || this.#count(JSON.stringify([scope, steps, knobs])) <= failTimes) return knobs
    return lastingKnobs(knobs)
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
