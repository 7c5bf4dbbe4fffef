/**
 * Random conversations whose turns go to random vendors. No vendor refuses its request, each gets the whole
 * conversation, and every answer arrives. See test/vendors/moves.
 */
import { expect, test } from 'bun:test'
import { playMany } from './moves/many.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const COUNT = countOf('moves')

test(
  `${COUNT} conversations go on, whoever answers next`,
  async () => {
    const seed = seedOfRun()
    const played = await playMany(COUNT, seed)
    if (played.kind === 'violated') throw new Error(`TOLLGATE_SEED=${played.seed}: ${played.message}\n${played.plan}`)
    const { turns, results } = played
    reportFigure(`${COUNT} conversations, ${turns} turns, ${results} results, 0 violations (seed ${seed})`)
    // Conversations without results would prove little.
    expect(results).toBeGreaterThan(COUNT)
  },
  60_000 + COUNT * 20,
)
