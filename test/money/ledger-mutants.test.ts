/** The histories must find each known bug in a copy of the sources. */
import { expect, test } from 'bun:test'
import { mutants } from './histories/mutants.ts'
import { playHistories, type PlayRun } from './histories/run.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { copySources, type Edit } from '../support/sources.ts'

const HISTORIES = countOf('mutants')
/** Most are found in a tenth of a second; one that is not takes 4 ms a history. */
const TIMEOUT_MS = 30_000 + HISTORIES * 40

let caught = 0

/** Plays histories on a copy of the sources with these edits. */
async function playWith(edits: readonly Edit[]): Promise<PlayRun> {
  const copy = copySources(edits)
  try {
    return await playHistories(copy.folder, { histories: HISTORIES, seed: seedOfRun() })
  } finally {
    copy.remove()
  }
}

test(
  'a copy without a bug keeps every promise',
  async () => {
    const { exitCode, played, output } = await playWith([])
    expect(played?.kind, output).toBe('kept')
    expect(exitCode).toBe(0)
  },
  TIMEOUT_MS,
)

// A crash of the copy, a syntax error for one, is no violation: it would say nothing about the histories.
test.each(mutants)(
  'the histories notice when $name',
  async ({ edits }) => {
    const { exitCode, played, output } = await playWith(edits)
    expect(played?.kind, output).toBe('violated')
    expect(exitCode).toBe(1)
    caught++
  },
  TIMEOUT_MS,
)

test('ten bugs and more are seeded, and each is caught', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(10)
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  reportFigure(`${caught} of ${mutants.length} seeded bugs caught`)
})
