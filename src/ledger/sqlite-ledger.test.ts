import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '../store/statement.ts'
import { mustWrite, openStore, type Store } from '../store/store.ts'
import { describeLedgerContract, type BooksUnderTest } from './ledger-contract.ts'
import type { Hold, Ledger } from './ledger.ts'
import { openSqlLedgerQueries } from './sql-ledger-queries.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'
import { verifyLedger } from './verify.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const insertRecord = statement(
  `INSERT INTO request_record (account_id, id, key_id, endpoint, model, stream, status, outcome, input_fresh, input_cached,
    cache_write_5m, cache_write_1h, output_text, output_reasoning, price_card_id, held, charged, written_off,
    upstream_cost, attempts, created_at, total_ms)
   VALUES (?, ?, 'k', 'e', 'm', 0, 200, 'completed', 0, 0, 0, 0, 0, 0, 1, 0, ?, ?, 0, '[]', 0, 0)`,
)
const record = (accountId: string, id: string, charged: bigint, writtenOff = 0n) => ({
  run: insertRecord,
  bind: [accountId, id, charged, writtenOff],
})

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

async function openFresh(deferMs?: number): Promise<{ store: Store; ledger: Ledger; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  folders.push(folder)
  return { folder, ...(await openFolder(folder, deferMs)) }
}

const fatal = (message: string): never => {
  throw new Error(message)
}

async function openFolder(folder: string, deferMs?: number): Promise<{ store: Store; ledger: Ledger }> {
  const store = await openStore(folder, fatal, { deferMs })
  const { ledger } = await openSqliteLedger(store, { instance: 'test', onBroken: fatal })
  return { store, ledger }
}

async function account(store: Store, ledger: Ledger, id: string, amount: bigint): Promise<void> {
  await mustWrite(store, [{ run: insertAccount, bind: [id] }])
  ledger.register(id)
  if (amount > 0n) await ledger.adjust({ accountId: id, amount, kind: 'credit', ref: `open:${id}`, reason: 'test' })
}

type DurableHold = { hold: Hold; durable: Promise<unknown> }

function held(ledger: Ledger, id: string, accountId: string, amount: bigint, written?: 'now' | 'soon'): DurableHold {
  const result = ledger.hold({ id, accountId, amount, written })
  if (result.kind !== 'held') throw new Error('insufficient')
  return result
}

const settle = (ledger: Ledger, hold: Hold, cost: bigint): Promise<void> =>
  ledger.settle(hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) => [
    record(hold.accountId, hold.id, charged, writtenOff),
  ])

const touchAccount = statement('UPDATE account SET name = name WHERE id = ?')

async function openBooks(folder: string): Promise<{ readonly books: BooksUnderTest; readonly expired: number }> {
  const store = await openStore(folder, fatal, { deferMs: 1 })
  const { ledger, expired } = await openSqliteLedger(store, { instance: 'test', onBroken: fatal })
  const [someAccount] = await store.query('SELECT id FROM account')
  let metBy = (someAccount?.['id'] as string | undefined) ?? ''
  const books: BooksUnderTest = {
    ledger,
    queries: openSqlLedgerQueries(store),
    async addAccount(id) {
      await account(store, ledger, id, 0n)
      metBy = id
    },
    recordStep: ({ id, accountId }, { charged, writtenOff }) => record(accountId, id, charged, writtenOff),
    conditionStep: (isMet) => ({ run: touchAccount, bind: [isMet ? metBy : 'nobody'], changes: 1 }),
    async restart() {
      await store.close()
      return openBooks(folder)
    },
    findings: () => verifyLedger(store),
    close: () => store.close(),
  }
  return { books, expired }
}

describeLedgerContract('SqliteLedger', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  folders.push(folder)
  return (await openBooks(folder)).books
})

test('the database refuses a hold that shrinks, and one that grows after its end', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold, durable } = held(ledger, 'r1', 'a', 10n)
  await durable
  const change = statement('UPDATE hold SET amount = ?2 WHERE id = ?1')
  expect(await store.write([{ run: change, bind: ['r1', 9n] }])).toMatchObject({ kind: 'refused' })
  await settle(ledger, hold, 5n)
  expect(await store.write([{ run: change, bind: ['r1', 11n] }])).toMatchObject({ kind: 'refused' })
  await store.close()
})

test('a cost above the hold takes the rest from what is available, and writes off what is missing', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const first = held(ledger, 'r1', 'a', 10n)
  const other = held(ledger, 'r2', 'a', 50n)
  await settle(ledger, first.hold, 80n)
  expect(ledger.balance('a')).toEqual({ posted: 50n, held: 50n, available: 0n })
  await ledger.release(other.hold, [record('a', 'r2', 0n)])
  const [writeOff] = await store.query("SELECT sum(amount) AS sum FROM books WHERE account_id = 'system:write-off'")
  expect(writeOff?.['sum']).toBe(-30n)
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('a hold that is resolved before it is written becomes one transaction, and the books are the same', async () => {
  const { store, ledger } = await openFresh(60_000)
  await account(store, ledger, 'a', 100n)
  const [settled, released] = [held(ledger, 'r1', 'a', 60n, 'soon'), held(ledger, 'r2', 'a', 30n, 'soon')]
  expect(ledger.balance('a')).toEqual({ posted: 100n, held: 90n, available: 10n })
  expect(ledger.hold({ id: 'r3', accountId: 'a', amount: 11n }).kind).toBe('insufficient')
  expect(await store.query('SELECT id FROM hold')).toEqual([])
  await settle(ledger, settled.hold, 70n)
  await ledger.release(released.hold, [record('a', 'r2', 0n)])
  await Promise.all([settled.durable, released.durable])
  expect(await store.query('SELECT id, state, amount, settled FROM hold ORDER BY id')).toEqual([
    { id: 'r1', state: 'settled', amount: 60n, settled: 70n },
    { id: 'r2', state: 'released', amount: 30n, settled: null },
  ])
  expect(ledger.balance('a')).toEqual({ posted: 30n, held: 0n, available: 30n })
  expect(await verifyLedger(store)).toEqual([])
  expect(settle(ledger, settled.hold, 5n)).rejects.toThrow('not open')
  await store.close()
})

test('a booking stores the balance of its moment, even between charges of the same commit', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 1_000n)
  const holds = ['1', '2', '3', '4', '5', '6'].map((id) => held(ledger, id, 'a', 50n, 'soon').hold)
  const adjust = (kind: 'credit' | 'debit', amount: bigint): Promise<unknown> =>
    ledger.adjust({ accountId: 'a', amount, kind, ref: kind, reason: 'test' })
  const charge = (from: number, to: number): Promise<void>[] =>
    holds.slice(from, to).map((hold) => settle(ledger, hold, 7n))
  await Promise.all([...charge(0, 2), adjust('credit', 100n), ...charge(2, 4), adjust('debit', 30n), ...charge(4, 6)])
  const bookings = await store.query('SELECT balance_after FROM booking ORDER BY journal_id')
  expect(bookings.map((row) => row['balance_after'])).toEqual([1_000n, 1_086n, 1_042n])
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('a deferred hold is written when its time is up, and is then settled on its own', async () => {
  const { store, ledger } = await openFresh(5)
  await account(store, ledger, 'a', 100n)
  const { hold, durable } = held(ledger, 'r1', 'a', 60n, 'soon')
  await durable
  expect(await store.query('SELECT state FROM hold')).toEqual([{ state: 'open' }])
  expect(await verifyLedger(store)).toEqual([])
  await settle(ledger, hold, 25n)
  expect(await store.query('SELECT state FROM hold')).toEqual([{ state: 'settled' }])
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('closing the store writes the deferred holds', async () => {
  const { store, ledger, folder } = await openFresh(60_000)
  await account(store, ledger, 'a', 100n)
  held(ledger, 'r1', 'a', 60n, 'soon')
  await store.close()
  const next = await openFolder(folder)
  expect(await next.store.query('SELECT state FROM hold')).toEqual([{ state: 'expired' }])
  expect(next.ledger.balance('a').available).toBe(100n)
  await next.store.close()
})

test('journals, their entries and resolved holds can neither be changed nor deleted', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  await settle(ledger, held(ledger, 'r1', 'a', 60n).hold, 40n)
  for (const sql of [
    'UPDATE entry SET amount = 1',
    'DELETE FROM entry',
    "UPDATE journal SET reason = ''",
    'DELETE FROM journal',
    'UPDATE hold SET settled = 1',
    "UPDATE hold SET state = 'released', settled = NULL, written_off = NULL, price_card_id = NULL",
    'DELETE FROM hold',
  ]) {
    expect((await store.write([{ run: statement(sql), bind: [] }])).kind).toBe('refused')
  }
  await store.close()
})

test('a second process cannot open the folder', async () => {
  const { store, folder } = await openFresh()
  expect(openFolder(folder)).rejects.toThrow('in use')
  await store.close()
})

test('a second line of a charge has its own hold and record, in the same transaction', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold } = held(ledger, 'r1', 'a', 60n)
  await ledger.settle(hold, { cost: 25n, priceCardId: 1 }, ({ charged }) => {
    const { charged: more, steps } = ledger.line({
      id: 'r1.2',
      accountId: 'a',
      cost: 12n,
      priceCardId: 1,
      createdAtMs: 1,
    })
    return [record('a', 'r1', charged), ...steps, record('a', 'r1.2', more)]
  })
  expect(ledger.balance('a')).toEqual({ posted: 63n, held: 0n, available: 63n })
  expect(await store.query("SELECT * FROM books WHERE kind = 'charge' ORDER BY subject, account_id")).toEqual([
    { kind: 'charge', subject: 'r1', account_id: 'a', amount: -25n },
    { kind: 'charge', subject: 'r1', account_id: 'system:revenue', amount: 25n },
    { kind: 'charge', subject: 'r1.2', account_id: 'a', amount: -12n },
    { kind: 'charge', subject: 'r1.2', account_id: 'system:revenue', amount: 12n },
  ])
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('books of more than nine billion dollars are verified to the nano-dollar', async () => {
  const { store, ledger } = await openFresh()
  const rich = 3_900_000_000_000_000_001n
  for (const id of ['a', 'b', 'c', 'd', 'e']) await account(store, ledger, id, rich)
  // One account alone has received more than that.
  for (let at = 0; at < 3; at++) {
    await ledger.adjust({ accountId: 'a', amount: rich, kind: 'debit', ref: `out ${at}`, reason: 'test' })
    await ledger.adjust({ accountId: 'a', amount: rich, kind: 'credit', ref: `in ${at}`, reason: 'test' })
  }
  expect(await verifyLedger(store)).toEqual([])
  await mustWrite(store, [{ run: statement("UPDATE account SET posted = posted - 1 WHERE id = 'c'"), bind: [] }])
  const findings = await verifyLedger(store)
  expect(findings.map(({ code }) => code).toSorted()).toEqual(['funds', 'posted'])
  expect(findings.find(({ code }) => code === 'posted')?.facts).toEqual({
    posted: (rich - 1n).toString(),
    entries: rich.toString(),
  })
  await store.close()
})
