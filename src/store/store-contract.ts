/**
 * The contract of `Store` as tests for any store. Transactions are data, and each one is written or refused by itself,
 * whatever else its commit holds. The suite uses tables that every schema has.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { violates } from './constraint.ts'
import { Dice } from './port-contract.ts'
import { addingStatement, readingStatement, rowStatement, statement, updatingStatement } from './statement.ts'
import type { SqlValue, WriteOutcome, WriteStep } from './statement.ts'
import type { Store } from './store.ts'
import type { DeferredWrite } from './write-queue.ts'

/** A store on its own, empty database. */
export type StoreUnderTest = {
  readonly store: Store
  /** Closes the store and opens the same database again. */
  reopen(): Promise<Store>
  close(): Promise<void>
}

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?2, 'active', ?3)")
const renameAccount = statement('UPDATE account SET name = ?2 WHERE id = ?1')
const activate = updatingStatement('UPDATE account SET status = ?2 WHERE id = ?1 AND status <> ?2', ['text', 'text'])
const fund = statement('UPDATE account SET posted = posted + ?2 WHERE id = ?1')
const take = statement('UPDATE account SET held = held + ?2 WHERE id = ?1 AND posted - held >= ?2')
const add = addingStatement('UPDATE account SET posted = posted + ?2 WHERE id = ?1 AND posted + ?2 - held >= 0', 1)
const note = readingStatement(
  `INSERT INTO booking (account_id, created_at, journal_id, balance_after)
   SELECT id, 0, ?2, posted FROM account WHERE id = ?1`,
)
const insertJournal = rowStatement('journal', 'id, ref, reason, created_at', { kind: "'credit'" })
const insertKey = statement(
  `INSERT INTO api_key (id, account_id, name, digest, last4, created_at) VALUES (?1, ?2, ?1, ?3, '', 0)`,
)
const insertPerson = statement(`INSERT INTO "user" (id, name, role, created_at) VALUES (?, ?, 'operator', 0)`)
const insertView = statement('INSERT INTO saved_view (user_id, id, name, query, created_at) VALUES (?1, ?2, ?3, ?4, 0)')

const account = (id: string, name = id): WriteStep => ({ run: insertAccount, bind: [id, name, 0] })
const changing = (run: WriteStep['run'], ...bind: readonly SqlValue[]): WriteStep => ({ run, bind, changes: 1 })

export function describeStoreContract(storeName: string, open: () => Promise<StoreUnderTest>): void {
  describe(`the contract of a store: ${storeName}`, () => {
    let under: StoreUnderTest
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
    })
    afterEach(() => under.close())

    const written = async (...steps: readonly WriteStep[]): Promise<void> =>
      expect(await store.write(steps)).toEqual({ kind: 'written' })
    const column = async (sql: string, bind?: readonly SqlValue[]): Promise<readonly SqlValue[]> =>
      (await store.query(sql, bind)).map((row) => Object.values(row)[0] as SqlValue)
    const ids = (): Promise<readonly SqlValue[]> => column('SELECT id FROM account ORDER BY id')

    test('a written transaction is there for every query, and still after the store was closed', async () => {
      await written(account('a'), account('b'))
      expect(await ids()).toEqual(['a', 'b'])
      store = await under.reopen()
      expect(await ids()).toEqual(['a', 'b'])
    })

    test('a refused transaction leaves nothing, and the others of its commit stay', async () => {
      const outcomes = await Promise.all([
        store.write([account('a')]),
        store.write([account('b'), changing(renameAccount, 'nobody', 'x')]),
        store.write([account('c'), account('a')]),
        store.write([changing(renameAccount, 'nobody', 'x'), account('d')]),
        store.write([account('e')]),
      ])
      expect(outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.step : 'written'))).toEqual([
        'written',
        1,
        -1,
        0,
        'written',
      ])
      expect(await ids()).toEqual(['a', 'e'])
    })

    test('updates that run as one are each decided by themselves', async () => {
      await written(...['a', 'b', 'c,"d\\'].map((id) => account(id)))
      const suspending = (id: string): Promise<WriteOutcome> => store.write([changing(activate, id, 'suspended')])
      expect(await Promise.all(['a', 'b', 'c,"d\\'].map(suspending))).toEqual(Array(3).fill({ kind: 'written' }))
      expect(await column('SELECT status FROM account')).toEqual(Array(3).fill('suspended'))
      const outcomes = await Promise.all([
        store.write([changing(activate, 'a', 'active'), changing(activate, 'b', 'suspended')]),
        store.write([changing(activate, 'b', 'active')]),
        store.write([changing(activate, 'b', 'active')]),
        store.write([changing(activate, 'nobody', 'active')]),
      ])
      expect(outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.step : 'written'))).toEqual([
        1,
        'written',
        0,
        0,
      ])
      expect(await column('SELECT status FROM account ORDER BY id')).toEqual(['suspended', 'active', 'suspended'])
    })

    test('a broken unique key is named by its table and columns', async () => {
      await written(account('a'), { run: insertPerson, bind: ['u', 'Ada'] })
      await written({ run: insertView, bind: ['u', 'v', 'mine', ''] })
      const refusals: readonly [Parameters<typeof violates>[1], WriteStep][] = [
        ['account(id)', account('a', 'b')],
        ['account(name)', account('b', 'a')],
        ['user(name)', { run: insertPerson, bind: ['w', 'ADA'] }],
        ['saved_view(user_id, id)', { run: insertView, bind: ['u', 'v', 'other', ''] }],
        ['saved_view(user_id, name)', { run: insertView, bind: ['u', 'w', 'mine', ''] }],
      ]
      const outcomes = await Promise.all(refusals.map(([, step]) => store.write([step])))
      expect(outcomes.map((outcome, i) => violates(outcome, refusals[i]?.[0] ?? 'none()'))).toEqual(
        refusals.map(() => true),
      )
    })

    test('a rule of the schema that is no unique key refuses without a violation', async () => {
      await written(account('a'))
      const outcomes = await Promise.all([
        store.write([{ run: fund, bind: ['a', -1n] }]),
        store.write([{ run: insertAccount, bind: ['b', null, 0] }]),
        store.write([{ run: insertKey, bind: ['k', 'nobody', new Uint8Array([1])] }]),
        store.write([{ run: fund, bind: ['a', 9_223_372_036_854_775_807n] }]),
        store.write([{ run: fund, bind: ['a', 1n] }]),
      ])
      expect(outcomes.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'refused', 'written', 'refused'])
      for (const outcome of outcomes) if (outcome.kind === 'refused') expect(outcome.violation).toBeUndefined()
    })

    test('a value that does not fit into 64 bits refuses its transaction alone', async () => {
      await written(account('a'))
      const outcomes = await Promise.all([
        store.write([{ run: fund, bind: ['a', 1n] }]),
        store.write([account('b'), { run: insertAccount, bind: ['c', 'c', 2n ** 63n] }]),
        store.write([account('d')]),
      ])
      expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'written'])
      expect(await column('SELECT id FROM account ORDER BY id')).toEqual(['a', 'd'])
    })

    test('values come back as they were written: integers as bigint, bytes as bytes', async () => {
      const bytes = new Uint8Array([0, 255, 39, 0])
      const texts = ['', ' ', "it's", '"\\{}', '日本語 🙂', 'a\nb\tc', '?1 $1', '\uFFFD']
      await written(account('a'), { run: insertKey, bind: ['k', 'a', bytes] })
      await written(...texts.map((text, i) => account(`t${i}`, text)))
      expect(await store.query('SELECT digest, last4, revoked_at, created_at FROM api_key')).toEqual([
        { digest: bytes, last4: '', revoked_at: null, created_at: 0n },
      ])
      expect(await column("SELECT name FROM account WHERE id LIKE 't%' ORDER BY id")).toEqual(texts)
      const numbers = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n]
      await written(...numbers.map((n, i) => ({ run: insertAccount, bind: [`n${i}`, `n${i}`, n] })))
      await written({ run: insertAccount, bind: ['n4', 'n4', -0] }, { run: insertAccount, bind: ['n5', 'n5', 2 ** 52] })
      const stored = await column("SELECT created_at FROM account WHERE id LIKE 'n%' ORDER BY id")
      expect(stored).toEqual([...numbers, 0n, BigInt(2 ** 52)])
      expect(await store.query('SELECT count(*) AS n, max(created_at) AS most FROM account')).toEqual([
        { n: 15n, most: 2n ** 63n - 1n },
      ])
      expect(await column('SELECT id FROM account WHERE created_at = ? AND name = ?', [2 ** 52, 'n5'])).toEqual(['n5'])
    })

    test('texts are ordered by their bytes', async () => {
      const names = ['a', 'B', 'ab', 'a_b', 'a-b', 'é', 'Z', '0', 'req_1', 'req-1', 'REQ_1']
      await written(...names.map((id) => account(id)))
      expect(await ids()).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
      expect(await column("SELECT id FROM account WHERE id < 'a' ORDER BY id DESC")).toEqual(['Z', 'REQ_1', 'B', '0'])
    })

    test('of many transactions that want the last funds, exactly as many succeed as there is money for', async () => {
      await written(account('a'))
      await written(changing(fund, 'a', 100n))
      const outcomes = await Promise.all(
        Array.from({ length: 300 }, (_, i) => store.write([account(`r${i}`), changing(take, 'a', 7n)])),
      )
      expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(14)
      expect(await store.query("SELECT posted, held FROM account WHERE id = 'a'")).toEqual([
        { posted: 100n, held: 98n },
      ])
      expect(await ids()).toHaveLength(15)
    })

    test('additions to a row are summed, and a reading statement sees those before it', async () => {
      await written(account('a'), account('b'))
      const booked = (id: string, n: number): readonly WriteStep[] => [
        changing(add, id, BigInt(n)),
        { run: note, bind: [id, n], changes: 1 },
      ]
      await Promise.all([
        ...[1, 2, 3, 4].map((n) => store.write(booked('a', n))),
        ...Array.from({ length: 100 }, () => store.write([changing(add, 'b', 2n)])),
        store.write([changing(add, 'b', 2n ** 60n)]),
      ])
      expect(await column('SELECT balance_after FROM booking ORDER BY journal_id')).toEqual([1n, 3n, 6n, 10n])
      expect(await column('SELECT posted FROM account ORDER BY id')).toEqual([10n, 2n ** 60n + 200n])
    })

    test('an addition that does not fit refuses its own transaction alone', async () => {
      await written(account('a'))
      await written(changing(fund, 'a', 10n))
      const outcomes = await Promise.all([
        store.write([account('b'), changing(add, 'a', -6n)]),
        store.write([account('c'), changing(add, 'a', -6n)]),
        store.write([account('d'), changing(add, 'a', -4n)]),
        store.write([changing(add, 'nobody', 1n), account('e')]),
      ])
      expect(outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.step : 'written'))).toEqual([
        'written',
        1,
        'written',
        0,
      ])
      expect(await ids()).toEqual(['a', 'b', 'd'])
    })

    test('rows of one table go together, and one that breaks a key refuses its own transaction alone', async () => {
      const row = (id: number, ref = `r${id}`): WriteStep => ({ run: insertJournal, bind: [id, ref, null, 0] })
      const outcomes = await Promise.all([
        ...Array.from({ length: 150 }, (_, i) => store.write([row(i)])),
        store.write([row(1_000, 'r7'), account('a')]),
        store.write([row(1_001), account('b')]),
      ])
      expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(151)
      expect(violates(outcomes[150] as WriteOutcome, 'journal(ref)')).toBe(true)
      expect(await store.query('SELECT count(*) AS n, max(id) AS last FROM journal')).toEqual([
        { n: 151n, last: 1_001n },
      ])
      expect(await ids()).toEqual(['b'])
    })

    test('a random history ends as a model says', async () => {
      const dice = new Dice(1_729)
      const books = new Map<string, { posted: number; held: number }>()
      for (const id of ['a', 'b', 'c']) {
        await written(account(id))
        books.set(id, { posted: 0, held: 0 })
      }
      const play = async (): Promise<void> => {
        const id = dice.pick(...books.keys())
        const amount = dice.below(40)
        const of = books.get(id) ?? { posted: 0, held: 0 }
        const step = dice.below(3)
        const free = of.posted - of.held
        const fits = step === 0 || free >= amount
        if (fits && step === 0) of.posted += amount
        if (fits && step === 1) of.held += amount
        if (fits && step === 2) of.posted -= amount
        const steps = [
          changing(fund, id, BigInt(amount)),
          changing(take, id, BigInt(amount)),
          changing(add, id, BigInt(-amount)),
        ]
        const outcome = await store.write([steps[step] as WriteStep])
        expect({ fits, amount, step, kind: outcome.kind }).toMatchObject({ kind: fits ? 'written' : 'refused' })
      }
      for (let round = 0; round < 20; round++) {
        // Transactions of one tick are written in the order of their calls, with the same result as one by one.
        await Promise.all(Array.from({ length: dice.below(30) + 1 }, play))
      }
      const stored = await store.query('SELECT id, posted, held FROM account ORDER BY id')
      expect(stored).toEqual(
        [...books].map(([id, { posted, held }]) => ({ id, posted: BigInt(posted), held: BigInt(held) })),
      )
    })

    test('a deferred transaction is written in the end, or replaced before', async () => {
      const heard: WriteOutcome['kind'][] = []
      const defer = (id: string): DeferredWrite =>
        store.defer(
          () => [account(id)],
          ({ kind }) => {
            heard.push(kind)
            return kind === 'written' ? undefined : new Error('refused')
          },
        )
      const [late, replaced] = [defer('late'), defer('replaced')]
      expect(replaced.replace([account('end')])).toBe(true)
      await Promise.all([late.written, replaced.written])
      expect(late.replace([account('too late')])).toBe(false)
      const [ended] = await Promise.allSettled([defer('late').written])
      expect(ended?.status).toBe('rejected')
      expect(heard).toEqual(['written', 'written', 'refused'])
      expect(await ids()).toEqual(['end', 'late'])
    })

    test('queries of one call see one state, whatever is written meanwhile', async () => {
      const count = { sql: 'SELECT count(*) AS n FROM account', bind: [] }
      let isOver = false
      const writing = (async () => {
        for (let i = 0; i < 100; i++) await written(account(`a${i}`))
        isOver = true
      })()
      while (!isOver) {
        const results = await store.aside.together(Array.from({ length: 5 }, () => count))
        expect(new Set(results.map(([row]) => row?.['n'])).size).toBe(1)
      }
      await writing
      const seen = await store.apart((reader) => reader.query('SELECT count(*) AS n FROM account'))
      expect(seen).toEqual([{ n: 100n }])
      expect(store.query('SELECT nothing FROM account')).rejects.toThrow('nothing')
    })

    test('a store that closes writes what it has taken, and then refuses queries', async () => {
      const writes = Array.from({ length: 50 }, (_, i) => store.write([account(`a${i}`)]))
      const deferred = store.defer(
        () => [account('b')],
        () => undefined,
      )
      expect(store.queued()).toBe(51)
      const last = store
      store = await under.reopen()
      expect((await Promise.all(writes)).map(({ kind }) => kind)).toEqual(writes.map(() => 'written'))
      await deferred.written
      expect(await ids()).toHaveLength(51)
      expect(last.query('SELECT 1')).rejects.toThrow('the database is closed')
      expect([last.queued(), last.waitingMs()]).toEqual([0, 0])
    })
  })
}
