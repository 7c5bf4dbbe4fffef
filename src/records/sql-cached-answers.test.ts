import { expect, test } from 'bun:test'
import { withPort } from '../store/port-contract.ts'
import { onInstances, onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { describeCachedAnswersContract, describeCachedAnswersOfInstances } from './cached-answers-contract.ts'
import type { CachedAnswers, CachedAnswersOptions } from './cached-answers.ts'
import { openSqlCachedAnswers } from './sql-cached-answers.ts'

const optionsOf = (more: Partial<CachedAnswersOptions> = {}): CachedAnswersOptions => ({
  masterKey: new Uint8Array(32).fill(7),
  bytesMax: 1e9,
  room: { isShort: false },
  log: () => undefined,
  ...more,
})

for (const [name, on] of Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres })) {
  describeCachedAnswersContract(name, (bounds) => on((store) => openSqlCachedAnswers(store, optionsOf(bounds)))())
}
describeCachedAnswersOfInstances(
  'PostgreSQL',
  onInstances((store) => openSqlCachedAnswers(store, optionsOf())),
)

const kept = { text: 'a SECRET answer', offerId: 'm@p/u', dropped: [] }
async function keepOne(port: CachedAnswers, accountId: string, key: string): Promise<void> {
  port.keep({ accountId, key, keptMs: 60_000, bytes: 20, make: () => Promise.resolve(kept) })
  await port.settled()
}
const move = statement('UPDATE cached_answer SET account_id = ?, key = ?')
const onStore = (use: (store: Store, port: CachedAnswers) => Promise<void>) => () =>
  withPort(
    onSqlite((store) => openSqlCachedAnswers(store, optionsOf())),
    ({ store, port }) => use(store, port),
  )

test(
  'a stolen database reveals neither question nor answer, and another master key opens nothing',
  onStore(async (store, port) => {
    const key = port.keyOf('a', 'a SECRET question')
    await keepOne(port, 'a', key)
    const [row = {}] = await store.query('SELECT * FROM cached_answer')
    const bytes = Object.values(row).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    )
    expect(bytes.length).toBeGreaterThan(5)
    expect(bytes.join('\n')).not.toContain('SECRET')
    const thief = await openSqlCachedAnswers(store, optionsOf({ masterKey: new Uint8Array(32).fill(8) }))
    expect(thief.keyOf('a', 'a SECRET question')).not.toBe(key)
    expect(await thief.find('a', key)).toBeUndefined()
    expect(await port.find('a', key)).toMatchObject(kept)
  }),
)

test(
  'a row that was moved to another account or question is not opened',
  onStore(async (store, port) => {
    await keepOne(port, 'a', 'k')
    for (const [accountId, key] of [
      ['b', 'k'],
      ['a', 'other'],
    ] as const) {
      await store.write([{ run: move, bind: [accountId, key] }])
      expect(await port.find(accountId, key)).toBeUndefined()
    }
    await store.write([{ run: move, bind: ['a', 'k'] }])
    expect(await port.find('a', 'k')).toMatchObject(kept)
  }),
)

test(
  'nothing is kept while the disk is short of space',
  onStore(async (store) => {
    const port = await openSqlCachedAnswers(store, optionsOf({ room: { isShort: true } }))
    await keepOne(port, 'a', 'k')
    expect(await port.find('a', 'k')).toBeUndefined()
  }),
)
