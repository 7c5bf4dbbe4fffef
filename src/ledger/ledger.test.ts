import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '../store/statement.ts'
import { mustWrite, openStore, type Store } from '../store/store.ts'
import { openLedger, type Hold, type Ledger } from './ledger.ts'
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
  const { ledger } = await openLedger(store, { owner: 'test', onBroken: fatal })
  return { store, ledger }
}

async function account(store: Store, ledger: Ledger, id: string, amount: bigint): Promise<void> {
  await mustWrite(store, [{ run: insertAccount, bind: [id] }])
  ledger.register(id)
  if (amount > 0n) await ledger.adjust({ accountId: id, amount, kind: 'credit', ref: `open:${id}`, reason: 'test' })
}

type DurableHold = { hold: Hold; durable: Promise<void> }

function held(ledger: Ledger, id: string, accountId: string, amount: bigint, written?: 'now' | 'soon'): DurableHold {
  const result = ledger.hold({ id, accountId, amount, written })
  if (result.kind !== 'held') throw new Error('insufficient')
  return result
}

const settle = (ledger: Ledger, hold: Hold, cost: bigint): Promise<void> =>
  ledger.settle(hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) => [
    record(hold.accountId, hold.id, charged, writtenOff),
  ])

test('a hold is taken from what is available, and a settlement charges what it cost', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold, durable } = held(ledger, 'r1', 'a', 60n)
  expect(ledger.balance('a')).toEqual({ posted: 100n, held: 60n, available: 40n })
  expect(ledger.hold({ id: 'r2', accountId: 'a', amount: 41n }).kind).toBe('insufficient')
  await durable
  await settle(ledger, hold, 25n)
  expect(ledger.balance('a')).toEqual({ posted: 75n, held: 0n, available: 75n })
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('a hold grows by what is available, and is charged, given back or expires as a whole', async () => {
  const { store, ledger, folder } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold } = held(ledger, 'r1', 'a', 10n)
  const other = held(ledger, 'r2', 'a', 40n)
  expect(ledger.extend(hold, 51n)).toEqual({ kind: 'insufficient' })
  const extended = ledger.extend(hold, 50n)
  expect(ledger.balance('a')).toEqual({ posted: 100n, held: 100n, available: 0n })
  await (extended.kind === 'held' && extended.durable)
  expect(await verifyLedger(store)).toEqual([])
  await settle(ledger, hold, 60n)
  expect(ledger.extend(hold, 0n)).toEqual({ kind: 'insufficient' })
  ledger.extend(other.hold, 0n)
  await ledger.release(other.hold, [])
  expect(ledger.balance('a')).toEqual({ posted: 40n, held: 0n, available: 40n })
  const last = held(ledger, 'r3', 'a', 10n)
  ledger.extend(last.hold, 30n)
  await store.close()
  const again = await openFolder(folder)
  expect(again.ledger.balance('a')).toEqual({ posted: 40n, held: 0n, available: 40n })
  await again.store.close()
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

test('cost above the hold takes the rest from what is available and writes off what is lacking', async () => {
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

test('a hold that is resolved while it waits to be written is one transaction, and the books are the same', async () => {
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

test('a booking keeps the balance of its moment, also between charges of the same commit', async () => {
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

test('a hold that waits is written when its time is up, and settled on its own then', async () => {
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

test('closing the store writes the holds that wait', async () => {
  const { store, ledger, folder } = await openFresh(60_000)
  await account(store, ledger, 'a', 100n)
  held(ledger, 'r1', 'a', 60n, 'soon')
  await store.close()
  const next = await openFolder(folder)
  expect(await next.store.query('SELECT state FROM hold')).toEqual([{ state: 'expired' }])
  expect(next.ledger.balance('a').available).toBe(100n)
  await next.store.close()
})

test('a hold resolves once: a second settlement or release is a programmer error and moves nothing', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold } = held(ledger, 'r1', 'a', 10n)
  await settle(ledger, hold, 5n)
  expect(settle(ledger, hold, 5n)).rejects.toThrow('not open')
  expect(ledger.release(hold, [])).rejects.toThrow('not open')
  expect(ledger.balance('a').posted).toBe(95n)
  await store.close()
})

test('the same reference is booked once, and a debit stops at zero', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const credit = { accountId: 'a', amount: 5n, kind: 'credit', ref: 'x', reason: 'test' } as const
  expect(await ledger.adjust(credit)).toEqual({ kind: 'booked' })
  expect(await ledger.adjust(credit)).toEqual({ kind: 'duplicate_ref' })
  expect(await ledger.adjust({ ...credit, kind: 'debit', ref: 'y', amount: 106n })).toEqual({ kind: 'insufficient' })
  expect(await ledger.adjust({ ...credit, kind: 'debit', ref: 'z', amount: 105n })).toEqual({ kind: 'booked' })
  expect(ledger.balance('a').posted).toBe(0n)
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('holds left open by a former life expire at the next start, in the customer’s favour', async () => {
  const { store, ledger, folder } = await openFresh()
  await account(store, ledger, 'a', 100n)
  await held(ledger, 'r1', 'a', 60n).durable
  await store.close()
  const next = await openFolder(folder)
  expect(next.ledger.balance('a')).toEqual({ posted: 100n, held: 0n, available: 100n })
  expect(await verifyLedger(next.store)).toEqual([])
  await next.store.close()
})

test('journals, their entries and resolved holds can be neither changed nor deleted', async () => {
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

type Command =
  | { kind: 'hold'; account: number; amount: bigint; written: 'now' | 'soon' }
  | { kind: 'resolve'; as: 'settle' | 'release'; pick: number; cost: bigint }
  | { kind: 'adjust'; as: 'credit' | 'debit'; account: number; amount: bigint }

const amount = fc.bigInt({ min: 0n, max: 50n })
const positive = fc.bigInt({ min: 1n, max: 50n })
const written = fc.constantFrom('now' as const, 'soon' as const)
const hold = fc.record({ kind: fc.constant('hold' as const), account: fc.nat(1), amount, written })
const resolve = fc.record({
  kind: fc.constant('resolve' as const),
  as: fc.constantFrom('settle' as const, 'release' as const),
  pick: fc.nat(),
  cost: amount,
})
const adjust = fc.record({
  kind: fc.constant('adjust' as const),
  as: fc.constantFrom('credit' as const, 'debit' as const),
  account: fc.nat(1),
  amount: positive,
})
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: hold },
  { weight: 3, arbitrary: resolve },
  { weight: 1, arbitrary: adjust },
)

/** The ledger as arithmetic: what every history must agree with, whatever the interleaving of commits. */
class Model {
  posted = [0n, 0n]
  open = new Map<string, { account: number; amount: bigint; hold: Hold }>()

  post(index: number, amount: bigint): void {
    this.posted[index] = (this.posted[index] ?? 0n) + amount
  }

  available(index: number): bigint {
    let held = 0n
    for (const hold of this.open.values()) if (hold.account === index) held += hold.amount
    return (this.posted[index] ?? 0n) - held
  }
}

let serial = 0

/** One history on two fresh accounts: each command is done to the ledger and to the model, and both must agree. */
class History {
  private readonly ids = [`a${serial++}`, `b${serial++}`]
  private readonly model = new Model()
  private readonly writes: Promise<unknown>[] = []
  private readonly store: Store
  private readonly ledger: Ledger

  constructor(store: Store, ledger: Ledger) {
    this.store = store
    this.ledger = ledger
  }

  async play(commands: readonly Command[]): Promise<void> {
    for (const id of this.ids) await account(this.store, this.ledger, id, 0n)
    for (const step of commands) {
      if (step.kind === 'hold') this.hold(step)
      else if (step.kind === 'resolve') this.resolve(step)
      else await this.adjust(step)
      this.ids.forEach((id, i) => expect(this.ledger.balance(id).available).toBe(this.model.available(i)))
    }
    await Promise.all(this.writes)
    // What stays open is given back, so that the next history can share the store.
    for (const [id, { hold }] of this.model.open) await this.ledger.release(hold, [record(hold.accountId, id, 0n)])
  }

  private hold(step: Command & { kind: 'hold' }): void {
    const id = `h${serial++}`
    const expected = this.model.available(step.account) >= step.amount
    const { amount, written } = step
    const result = this.ledger.hold({ id, accountId: this.ids[step.account] ?? '', amount, written })
    expect(result.kind === 'held').toBe(expected)
    if (result.kind !== 'held') return
    this.model.open.set(id, { account: step.account, amount: step.amount, hold: result.hold })
    this.writes.push(result.durable)
  }

  private resolve(step: Command & { kind: 'resolve' }): void {
    const { model, ledger } = this
    const [id, open] = [...model.open][step.pick % Math.max(1, model.open.size)] ?? []
    if (!id || !open) return
    model.open.delete(id)
    if (step.as === 'release') {
      this.writes.push(ledger.release(open.hold, [record(open.hold.accountId, id, 0n)]))
      return
    }
    const free = model.available(open.account)
    model.post(open.account, -(step.cost < free ? step.cost : free))
    this.writes.push(settle(ledger, open.hold, step.cost))
  }

  private async adjust({ as: kind, account: index, amount: size }: Command & { kind: 'adjust' }): Promise<void> {
    const booking = { accountId: this.ids[index] ?? '', amount: size, kind, ref: `j${serial++}`, reason: 'test' }
    const result = await this.ledger.adjust(booking)
    const possible = kind === 'credit' || this.model.available(index) >= size
    expect(result.kind).toBe(possible ? 'booked' : 'insufficient')
    if (possible) this.model.post(index, kind === 'credit' ? size : -size)
  }
}

test('any history agrees with the model, and the books verify', async () => {
  const { store, ledger } = await openFresh(1)
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60 }), (commands) =>
      new History(store, ledger).play(commands),
    ),
    { numRuns: 300 },
  )
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
}, 60_000)

test('a hold that lives with its task outlives the process, and is settled by the next', async () => {
  const first = await openFresh()
  await account(first.store, first.ledger, 'a', 100n)
  for (const id of ['r1', 'r2']) {
    const result = first.ledger.hold({ id, accountId: 'a', amount: 40n, livesWith: 'task' })
    if (result.kind === 'held') await result.durable
  }
  await first.store.close()
  const { store, ledger } = await openFolder(first.folder)
  expect(ledger.balance('a')).toEqual({ posted: 100n, held: 80n, available: 20n })
  const taken = (id: string): Hold => ({ id, accountId: 'a', amount: 40n, createdAtMs: 0, waiting: undefined })
  await settle(ledger, taken('r1'), 30n)
  await ledger.release(taken('r2'), [record('a', 'r2', 0n)])
  expect(ledger.balance('a')).toEqual({ posted: 70n, held: 0n, available: 70n })
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('a second line of a charge has a hold and a record to itself, in the same transaction', async () => {
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

test('what a second line lacks is written off, as with the first', async () => {
  const { store, ledger } = await openFresh()
  await account(store, ledger, 'a', 100n)
  const { hold } = held(ledger, 'r1', 'a', 60n)
  await ledger.settle(hold, { cost: 90n, priceCardId: 1 }, ({ charged }) => {
    const line = ledger.line({ id: 'r1.2', accountId: 'a', cost: 30n, priceCardId: 1, createdAtMs: 1 })
    expect(line).toMatchObject({ charged: 10n, writtenOff: 20n })
    return [record('a', 'r1', charged), ...line.steps, record('a', 'r1.2', line.charged, line.writtenOff)]
  })
  expect(ledger.balance('a')).toEqual({ posted: 0n, held: 0n, available: 0n })
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
})

test('books of more than nine billion dollars are verified to the nano-dollar', async () => {
  const { store, ledger } = await openFresh()
  const rich = 3_900_000_000_000_000_001n
  for (const id of ['a', 'b', 'c', 'd', 'e']) await account(store, ledger, id, rich)
  // What one account was ever given is more than that, too.
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
