/** Plays random conversations until one fails, and then shortens it. */
import { play } from './play.ts'
import { planOf } from './plan.ts'
import { shortest } from './shrink.ts'
import { Violation } from './truth.ts'
import { kindsOfVendors } from './vendor.ts'

export type PlayedRun =
  | { readonly kind: 'kept'; readonly turns: number; readonly results: number }
  | { readonly kind: 'violated'; readonly message: string; readonly seed: number; readonly plan: string }

/** Each conversation has a seed of its own: the first one's is `seed`. */
export async function playMany(count: number, seed: number): Promise<PlayedRun> {
  let [turns, results] = [0, 0]
  for (let i = 0; i < count; i++) {
    const plan = planOf((seed + i) | 0, kindsOfVendors)
    try {
      results += await play(plan)
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      const found = await shortest(plan, error)
      const { message } = found.violation
      return { kind: 'violated', message, seed: seed + i, plan: Bun.inspect(found.plan, { depth: 9 }) }
    }
    turns += plan.turns.length
  }
  return { kind: 'kept', turns, results }
}
