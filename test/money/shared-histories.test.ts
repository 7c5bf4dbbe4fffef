/** The random histories on PostgreSQL, where the store decides: by one ledger, and by several that live at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { playHistories } from './histories/run.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const ROOT = resolve(import.meta.dir, '../..')
const HISTORIES = countOf('shared-histories')
/** Each history waits for a hundred commits. */
const HISTORY_MS_MAX = 1_000

let server: PostgresServer

beforeAll(async () => {
  // Batches that wait for each other are found at once.
  server = await PostgresServer.create(['deadlock_timeout=100ms'])
}, 60_000)
afterAll(() => server.close())

test.each([1, 2, 4])(
  `${HISTORIES} histories by %d ledgers agree with the model, and their books verify`,
  async (ledgers) => {
    const seed = seedOfRun()
    const { exitCode, played, output } = await playHistories(ROOT, {
      histories: HISTORIES,
      seed,
      shared: { server: server.url(), ledgers },
    })
    expect(played?.kind, output).toBe('kept')
    expect(exitCode).toBe(0)
    if (played?.kind !== 'kept') return
    reportFigure(
      `${played.histories} histories by ${ledgers} ledgers, ${played.holds} holds, ${played.restarts} restarts (seed ${seed})`,
    )
    expect(played.histories).toBeGreaterThanOrEqual(HISTORIES)
    expect(played.holds).toBeGreaterThan(played.histories * 5)
  },
  60_000 + HISTORIES * HISTORY_MS_MAX,
)
