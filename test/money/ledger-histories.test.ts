/** Random histories of at least 50 commands on the real ledger and the real store. See test/money/histories. */
import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { playHistories } from './histories/run.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const ROOT = resolve(import.meta.dir, '../..')
const HISTORIES = countOf('histories')
/** A process is a thread that plays and one that writes; two of them fill two cores. */
const PROCESSES = 2
/** Measured: 2.5 ms with two cores for it alone, 9 with four other jobs on them. */
const HISTORY_MS_MAX = 40

test(
  `${HISTORIES} histories agree with the model, and their books verify`,
  async () => {
    const seed = seedOfRun()
    const histories = Math.ceil(HISTORIES / PROCESSES)
    const runs = await Promise.all(
      Array.from({ length: PROCESSES }, (_, i) => playHistories(ROOT, { histories, seed: (seed + i) | 0 })),
    )
    let [played, holds, restarts] = [0, 0, 0]
    for (const run of runs) {
      expect(run.played?.kind, run.output).toBe('kept')
      expect(run.exitCode).toBe(0)
      if (run.played?.kind !== 'kept') continue
      played += run.played.histories
      holds += run.played.holds
      restarts += run.played.restarts
    }
    reportFigure(`${played} histories, ${holds} holds, ${restarts} restarts, 0 violations (seed ${seed})`)
    expect(played).toBeGreaterThanOrEqual(HISTORIES)
    // Histories that hold nothing, or never restart, would agree with any model.
    expect(holds).toBeGreaterThan(played * 5)
    expect(restarts).toBeGreaterThan(played / 100)
  },
  60_000 + HISTORIES * HISTORY_MS_MAX,
)
