/**
 * Random conversations, whose turns go to random vendors: none refuses what it gets, each is told what was said, and
 * every answer arrives. See test/moves.
 */
import { expect, test } from 'bun:test'
import { play } from './moves/play.ts'
import { planOf } from './moves/plan.ts'
import { shortest } from './moves/shrink.ts'
import { Violation } from './moves/truth.ts'
import { vendors } from './moves/vendor.ts'
import { countOf, reportFigure, seedOfRun } from './support/soaks.ts'

const COUNT = countOf('moves')

test(
  `${COUNT} conversations go on, whoever answers next`,
  async () => {
    const seed = seedOfRun()
    let turns = 0
    let results = 0
    for (let i = 0; i < COUNT; i++) {
      const plan = planOf((seed + i) | 0, vendors.length)
      try {
        results += await play(plan)
      } catch (error) {
        if (!(error instanceof Violation)) throw error
        const found = await shortest(plan, error)
        throw new Error(
          `TOLLGATE_SEED=${seed + i}: ${found.violation.message}\n${Bun.inspect(found.plan, { depth: 9 })}`,
        )
      }
      turns += plan.turns.length
    }
    reportFigure(`${COUNT} conversations, ${turns} turns, ${results} results, 0 violations (seed ${seed})`)
    expect(results).toBeGreaterThan(COUNT)
  },
  60_000 + COUNT * 20,
)
