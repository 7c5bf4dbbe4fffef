/** The end of a request: fully answered, left by the client, or broken off by a fault. */
export type RequestOutcome = 'completed' | 'aborted' | 'cut'

/** Counters of one route, as `GET /sandbox/stats` names them. requests = in_flight + completed + aborted + cut. */
export type Tally = {
  requests: number
  in_flight: number
  completed: number
  aborted: number
  cut: number
  /** Output tokens that were written to streams, and the part that went to clients that hung up later. */
  tokens_streamed: number
  tokens_streamed_aborted: number
}

/** The bound of counted model ids. Knobs are part of an id, so clients can make any number of them. */
const MODELS_MAX = 1_000

/** Counts the requests of the sandbox. Tests prove fail-over and hang-ups with it. */
export class Stats {
  readonly #tallies = new Map<string, Tally>()
  readonly #requestsByModel = new Map<string, number>()

  begin(route: string): Visit {
    let tally = this.#tallies.get(route)
    if (!tally) this.#tallies.set(route, (tally = emptyTally()))
    return new Visit(tally)
  }

  /** Counts by the requested id with its knobs, so that one sandbox can serve both ends of a fail-over. */
  countModel(id: string): void {
    const requests = this.#requestsByModel.get(id)
    if (requests === undefined && this.#requestsByModel.size >= MODELS_MAX) return
    this.#requestsByModel.set(id, (requests ?? 0) + 1)
  }

  read(): object {
    const total = emptyTally()
    for (const tally of this.#tallies.values()) {
      for (const name of Object.keys(total) as (keyof Tally)[]) total[name] += tally[name]
    }
    const models = Object.fromEntries(this.#requestsByModel)
    return { ...total, routes: Object.fromEntries(this.#tallies), models }
  }
}

/** One request that is being answered. */
export class Visit {
  readonly #tally: Tally
  #tokens = 0

  constructor(tally: Tally) {
    this.#tally = tally
    tally.requests += 1
    tally.in_flight += 1
  }

  sent(tokens: number): void {
    this.#tokens += tokens
    this.#tally.tokens_streamed += tokens
  }

  end(outcome: RequestOutcome): void {
    this.#tally.in_flight -= 1
    this.#tally[outcome] += 1
    if (outcome === 'aborted') this.#tally.tokens_streamed_aborted += this.#tokens
  }
}

function emptyTally(): Tally {
  return {
    requests: 0,
    in_flight: 0,
    completed: 0,
    aborted: 0,
    cut: 0,
    tokens_streamed: 0,
    tokens_streamed_aborted: 0,
  }
}
