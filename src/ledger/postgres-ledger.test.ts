import { describe, expect, test } from 'bun:test'
import { makePostgresDatabase, type SharedDatabase } from '../store/postgres-contract.ts'
import { statement } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { describeLedgerContract, type BooksUnderTest } from './ledger-contract.ts'
import type { Hold, HoldOutcome, Ledger } from './ledger.ts'
import { expireHoldsOf } from './dead-instance.ts'
import { openPostgresLedger } from './postgres-ledger.ts'
import { openSqlLedgerQueries } from './sql-ledger-queries.ts'
import { verifyLedger } from './verify.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const insertRecord = statement(
  `INSERT INTO request_record (account_id, id, key_id, endpoint, model, stream, status, outcome, input_fresh, input_cached,
    cache_write_5m, cache_write_1h, output_text, output_reasoning, price_card_id, held, charged, written_off,
    upstream_cost, attempts, created_at, total_ms)
   VALUES (?, ?, 'k', 'e', 'm', 0, 200, 'completed', 0, 0, 0, 0, 0, 0, 1, 0, ?, ?, 0, '[]', 0, 0)`,
)
const touchAccount = statement('UPDATE account SET name = name WHERE id = ?')
const record = (accountId: string, id: string, charged: bigint, writtenOff = 0n) => ({
  run: insertRecord,
  bind: [accountId, id, charged, writtenOff],
})

const fatal = (message: string): never => {
  throw new Error(message)
}

async function openLedger(store: Store, knownMs?: number): Promise<Ledger> {
  const { instance } = store
  if (instance === undefined) throw new Error('the store has no instances')
  return openPostgresLedger(store, { instance, onBroken: fatal, ...(knownMs !== undefined && { knownMs }) })
}

/** Declares every other instance dead, as if each had been silent for long. */
async function reap(store: Store): Promise<number> {
  const dead = await store.query(
    "SELECT id, CAST(beat AS text) AS beat FROM instance WHERE id <> ? AND state IN ('alive', 'draining')",
    [store.instance ?? ''],
  )
  let expired = 0
  for (const { id, beat } of dead) {
    expired += (await expireHoldsOf(store, { id: String(id), beat: String(beat) })) ?? 0
  }
  return expired
}

async function openBooks(database: SharedDatabase): Promise<{ books: BooksUnderTest; expired: number }> {
  const store = await database.open()
  const expired = await reap(store)
  // One process knows its balances exactly, however long ago it saw them.
  const ledger = await openLedger(store, Number.POSITIVE_INFINITY)
  const [someAccount] = await store.query('SELECT id FROM account')
  let metBy = (someAccount?.['id'] as string | undefined) ?? ''
  const books: BooksUnderTest = {
    ledger,
    queries: openSqlLedgerQueries(store),
    async addAccount(id) {
      await mustWrite(store, [{ run: insertAccount, bind: [id] }])
      ledger.register(id)
      metBy = id
    },
    recordStep: ({ id, accountId }, { charged, writtenOff }) => record(accountId, id, charged, writtenOff),
    conditionStep: (isMet) => ({ run: touchAccount, bind: [isMet ? metBy : 'nobody'], changes: 1 }),
    async restart() {
      await store.close()
      return openBooks(database)
    },
    findings: () => verifyLedger(store),
    close: () => store.close(),
  }
  return { books, expired }
}

describeLedgerContract('PostgresLedger', async () => {
  const { books } = await openBooks(await makePostgresDatabase())
  return books
})

describe('two ledgers on one database', () => {
  type Instance = { readonly store: Store; readonly ledger: Ledger }

  async function onTwo(posted: bigint, use: (first: Instance, second: Instance) => Promise<void>): Promise<void> {
    const database = await makePostgresDatabase()
    const stores = [await database.open(), await database.open()] as const
    try {
      await mustWrite(stores[0], [{ run: insertAccount, bind: ['a'] }])
      const first = { store: stores[0], ledger: await openLedger(stores[0]) }
      const credit = { accountId: 'a', amount: posted, kind: 'credit', ref: 'opening', reason: 'test' } as const
      expect(await first.ledger.adjust(credit)).toEqual({ kind: 'booked' })
      await use(first, { store: stores[1], ledger: await openLedger(stores[1]) })
      expect(await verifyLedger(stores[0])).toEqual([])
    } finally {
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    }
  }

  const settle = (ledger: Ledger, hold: Hold, cost: bigint): Promise<void> =>
    ledger.settle(hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) => [
      record(hold.accountId, hold.id, charged, writtenOff),
    ])

  type Ended = { readonly hold?: Hold; readonly outcome: HoldOutcome['kind'] | 'insufficient' }

  async function hold(ledger: Ledger, id: string, amount: bigint): Promise<Ended> {
    const result = ledger.hold({ id, accountId: 'a', amount })
    if (result.kind === 'insufficient') return { outcome: 'insufficient' }
    const { kind } = await result.durable
    return { hold: result.hold, outcome: kind }
  }

  const fundsOf = async ({ store }: Instance): Promise<unknown> =>
    (await store.query("SELECT posted, held FROM account WHERE id = 'a'"))[0]

  test('funds for exactly k of n requests serve k, at once and to the last unit', async () => {
    await onTwo(7n * 60n + 59n, async (first, second) => {
      const tries = Array.from({ length: 200 }, (_, i) => {
        const { ledger } = i % 2 === 0 ? first : second
        return hold(ledger, `r${i}`, 60n).then((ended) => ({ ...ended, ledger }))
      })
      const held = (await Promise.all(tries)).filter(({ outcome }) => outcome === 'durable')
      expect(held).toHaveLength(7)
      expect(await fundsOf(first)).toEqual({ posted: 479n, held: 420n })
      for (const { ledger, hold: made } of held) if (made) await settle(ledger, made, 60n)
      expect(await fundsOf(second)).toEqual({ posted: 59n, held: 0n })
    })
  })

  test('holds that are given back serve others, until everything is spent', async () => {
    await onTwo(10_000n, async (first, second) => {
      let spent = 0n
      const client = async ({ ledger }: Instance, name: string): Promise<void> => {
        for (let i = 0, misses = 0; misses < 200; i++) {
          const { hold: made, outcome } = await hold(ledger, `${name}.${i}`, 60n)
          if (outcome !== 'durable' || !made) {
            misses++
            await Bun.sleep(1)
            continue
          }
          misses = 0
          spent += 25n
          await settle(ledger, made, 25n)
        }
      }
      const clients = [first, second].flatMap((instance, i) =>
        Array.from({ length: 8 }, (_, k) => client(instance, `c${i}.${k}`)),
      )
      await Promise.all(clients)
      // Below 60 no hold fits any more.
      expect(await fundsOf(first)).toEqual({ posted: 10_000n - spent, held: 0n })
      expect(10_000n - spent).toBeLessThan(60n)
    })
  }, 60_000)

  test('a cost above its hold takes what the other has left, and writes off the rest', async () => {
    await onTwo(100n, async (first, second) => {
      const mine = await hold(first.ledger, 'mine', 10n)
      const other = await hold(second.ledger, 'other', 70n)
      if (!mine.hold || !other.hold) throw new Error('not held')
      await settle(first.ledger, mine.hold, 90n)
      expect(await fundsOf(first)).toEqual({ posted: 70n, held: 70n })
      await second.ledger.release(other.hold, [record('a', 'other', 0n)])
      const [row] = await first.store.query("SELECT settled, written_off FROM hold WHERE id = 'mine'")
      expect(row).toEqual({ settled: 30n, written_off: 60n })
    })
  })

  test('further lines above their hold take what the other has left, and write off the rest', async () => {
    await onTwo(100n, async (first, second) => {
      const mine = await hold(first.ledger, 'mine', 10n)
      await hold(second.ledger, 'other', 85n)
      if (!mine.hold) throw new Error('not held')
      const { id, accountId } = mine.hold
      await first.ledger.settle(mine.hold, { cost: 8n, furtherCost: 50n, priceCardId: 1 }, (made) => {
        const further = { id: `${id}.2`, accountId, cost: 50n, priceCardId: 1, createdAtMs: 1 }
        const line = first.ledger.line(further)
        expect([made.charged, line.charged, line.writtenOff]).toEqual([8n, 7n, 43n])
        const { charged, writtenOff } = line
        return [record(accountId, id, 8n), ...line.steps, record(accountId, further.id, charged, writtenOff)]
      })
      expect(await fundsOf(first)).toEqual({ posted: 85n, held: 85n })
      const [row] = await first.store.query("SELECT settled, written_off FROM hold WHERE id = 'mine.2'")
      expect(row).toEqual({ settled: 7n, written_off: 43n })
      expect(await reap(first.store)).toBe(1)
    })
  })

  test('an account that another instance has filled is not refused by what was known before', async () => {
    await onTwo(1n, async (first, second) => {
      await Bun.sleep(150)
      const credit = { accountId: 'a', amount: 99n, kind: 'credit', ref: 'more', reason: 'test' } as const
      expect(await first.ledger.adjust(credit)).toEqual({ kind: 'booked' })
      expect(await hold(second.ledger, 'r', 100n)).toMatchObject({ outcome: 'durable' })
      // By the store, or by memory if it has heard of its own credit meanwhile.
      expect((await hold(first.ledger, 's', 1n)).outcome).toMatch(/^(?:refused|insufficient)$/)
      expect(await first.ledger.adjust({ ...credit, ref: 'less', kind: 'debit', amount: 1n })).toEqual({
        kind: 'insufficient',
      })
      expect(await reap(first.store)).toBe(1)
    })
  })

  test('an instance that has just refused an account hears of its filling', async () => {
    await onTwo(1n, async (first, second) => {
      expect(await hold(second.ledger, 'again', 100n)).toMatchObject({ outcome: 'insufficient' })
      const credit = { accountId: 'a', amount: 99n, kind: 'credit', ref: 'more', reason: 'test' } as const
      expect(await first.ledger.adjust(credit)).toEqual({ kind: 'booked' })
      await second.store.changes.catchUp()
      expect(second.ledger.balance('a').available).toBe(100n)
      expect(await hold(second.ledger, 'late', 100n)).toMatchObject({ outcome: 'durable' })
      expect(await reap(first.store)).toBe(1)
    })
  })

  test('a balance is what the other instance has left of it, once it is read', async () => {
    await onTwo(100n, async (first, second) => {
      const mine = await hold(first.ledger, 'mine', 100n)
      if (!mine.hold) throw new Error('not held')
      expect(await hold(second.ledger, 'r', 1n)).toMatchObject({ outcome: 'refused' })
      await settle(first.ledger, mine.hold, 30n)
      expect(second.ledger.isOutdated('a')).toBe(false)
      await Bun.sleep(150)
      expect(second.ledger.isOutdated('a')).toBe(true)
      await second.ledger.refresh(['a'])
      expect(second.ledger.balance('a')).toEqual({ posted: 70n, held: 0n, available: 70n })
      expect(second.ledger.isOutdated('a')).toBe(false)
      await settle(first.ledger, (await hold(first.ledger, 'next', 10n)).hold as Hold, 10n)
      await second.ledger.refresh(['a'])
      expect(second.ledger.balance('a').posted).toBe(60n)
    })
  })

  test('a balance is outdated while the store may refuse holds that it lacks, and is read once it has decided', async () => {
    await onTwo(100n, async (first, second) => {
      await hold(first.ledger, 'known', 1n)
      await hold(second.ledger, 'other', 69n)
      const refused = first.ledger.hold({ id: 'refused', accountId: 'a', amount: 60n })
      const held = first.ledger.hold({ id: 'held', accountId: 'a', amount: 20n })
      if (refused.kind !== 'held' || held.kind !== 'held') throw new Error('refused by memory')
      expect(first.ledger.balance('a').available).toBe(19n)
      expect(first.ledger.isOutdated('a')).toBe(true)
      await first.ledger.whenDecided('a')
      expect(first.ledger.isOutdated('a')).toBe(false)
      expect(first.ledger.balance('a').available).toBe(10n)
      expect([(await refused.durable).kind, (await held.durable).kind]).toEqual(['refused', 'durable'])
      expect(await reap(first.store)).toBe(1)
    })
  })

  test('an instance that gives a sign of life is not declared dead, and its holds stay', async () => {
    await onTwo(100n, async (first, second) => {
      const { hold: made } = await hold(second.ledger, 'r', 60n)
      const id = second.store.instance ?? ''
      const [row] = await first.store.query('SELECT CAST(beat AS text) AS beat FROM instance WHERE id = ?', [id])
      expect(await hold(second.ledger, 's', 10n)).toMatchObject({ outcome: 'durable' })
      const silent = { id, beat: String(row?.['beat']) }
      expect(await expireHoldsOf(first.store, silent)).toBeUndefined()
      expect(await fundsOf(first)).toEqual({ posted: 100n, held: 70n })
      if (made) await settle(second.ledger, made, 60n)
      expect(await reap(first.store)).toBe(1)
      expect(await fundsOf(first)).toEqual({ posted: 40n, held: 0n })
    })
  })
})
