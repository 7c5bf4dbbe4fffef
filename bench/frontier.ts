/** The most requests per second, and the latency at that rate. The number of clients rises until more add nothing. */
import type { Crew } from './crew.ts'
import { measure, type Target } from './measure.ts'
import type { Sample } from './sample.ts'
import { frontierCase } from './workload.ts'

const CLIENTS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** Less growth than this is noise. */
const GROWTH_MIN = 1.03
/** A noisy second must not end the search too early. */
const CLIENTS_MIN = 64

const rateOf = ({ report }: Sample): number => report.requests / report.tookMs

/** Adds clients until two steps in a row bring nothing, or until there are no more clients. */
export async function climb(crew: Crew, target: Target): Promise<Sample[]> {
  const samples: Sample[] = []
  let [best, flat] = [0, 0]
  for (const clients of CLIENTS) {
    if (clients > CLIENTS_MIN && flat >= 2) break
    const sample = await measure(crew, target, frontierCase(clients))
    samples.push(sample)
    flat = rateOf(sample) < best * GROWTH_MIN ? flat + 1 : 0
    best = Math.max(best, rateOf(sample))
  }
  return samples
}
