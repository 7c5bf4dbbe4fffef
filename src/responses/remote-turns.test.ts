import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import { makePostgresDatabase, type SharedDatabase } from '../store/postgres-contract.ts'
import { insertAccount } from '../store/sqlite-contract.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { openRemoteTurns } from './remote-turns.ts'
import { openSqlTurns } from './sql-turns.ts'
import type { RemoteTurns, TurnScope } from './turns.ts'

const scope: TurnScope = { accountId: 'a' }
const running = {
  id: 'resp_1',
  parentId: undefined,
  state: 'running',
  head: '{}',
  standing: '{}',
  trace: undefined,
} as const

let database: SharedDatabase
let stores: readonly [Store, Store]
/** Ends the turn that the first instance makes. */
let end: () => Promise<void>
/** What each instance is asked to cancel. */
let asked: readonly [string[], string[]]
let second: RemoteTurns

beforeEach(async () => {
  database = await makePostgresDatabase()
  stores = [await database.open(), await database.open()]
  const [store] = stores
  const onBroken = (message: string): never => {
    throw new Error(message)
  }
  await mustWrite(store, [{ run: insertAccount, bind: ['a', Date.now()], changes: 1 }])
  const turns = await openSqlTurns(store, { bytesPerAccountMax: Number.POSITIVE_INFINITY, room: { isShort: false } })
  const { ledger } = await openSqliteLedger(store, { instance: 'run_1', onBroken })
  const turn = { ...running, input: '[]', output: '[]' }
  const held = ledger.hold({ id: 'req_1', accountId: 'a', amount: 0n, also: turns.keep(scope, turn) })
  if (held.kind !== 'held') throw new Error(held.kind)
  await held.durable
  end = () =>
    ledger.settle(held.hold, { cost: 0n, priceCardId: 1 }, () => turns.keep(scope, { ...turn, state: 'ended' }))
  asked = [[], []]
  const remotes = await Promise.all(stores.map(openRemoteTurns))
  remotes.forEach((remote, i) => remote.onCancel(({ accountId }, id) => asked[i as 0 | 1].push(`${accountId} ${id}`)))
  second = remotes[1] as RemoteTurns
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await database.remove()
})

test('the instance that makes a turn is asked once, and those who asked wait for its end', async () => {
  // Behind a pooler that swallows notifications, it hears of it by polling.
  await database.silence()
  const cancelled = Promise.all([1, 2, 3].map(() => second.cancel(scope, 'resp_1')))
  const startedMs = performance.now()
  while (asked[0].length === 0) await Bun.sleep(5)
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  await end()
  await cancelled
  await second.cancel(scope, 'resp_1')
  await Bun.sleep(600)
  expect(asked[0]).toEqual(['a resp_1'])
})

test('nobody is asked to cancel a turn that is unknown or of another account', async () => {
  await Promise.all([second.cancel({ accountId: 'b' }, 'resp_1'), second.cancel(scope, 'resp_2')])
  await stores[0].changes.catchUp()
  expect(asked).toEqual([[], []])
})

test('who asks an instance that does not act gets an answer after seconds', async () => {
  const startedMs = performance.now()
  await second.cancel(scope, 'resp_1')
  expect(performance.now() - startedMs).toBeWithin(4_900, 7_000)
}, 10_000)

test('listeners hear of the end once, except those that have left; and nothing is read when nobody listens', async () => {
  const heard: string[] = []
  let queries = 0
  const [store] = stores
  const counting = await openRemoteTurns({
    ...store,
    query: (...args) => {
      // The database is away for a moment.
      if (++queries === 1) return Promise.reject(new Error('the server does not answer'))
      return store.query(...args)
    },
  })
  const leave = counting.onEnd('resp_1', () => heard.push('left'))
  counting.onEnd('resp_1', () => heard.push('one'))
  counting.onEnd('resp_1', () => heard.push('two'))
  leave()
  await Bun.sleep(500)
  expect([heard, queries > 1]).toEqual([[], true])
  await end()
  while (heard.length < 2) await Bun.sleep(5)
  await Bun.sleep(300)
  const before = queries
  await Bun.sleep(500)
  expect([heard, queries]).toEqual([['one', 'two'], before])
  counting.onEnd('resp_1', () => heard.push('late'))
  while (heard.length < 3) await Bun.sleep(5)
})
