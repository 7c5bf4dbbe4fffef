/**
 * The contract of `Ledger` and `LedgerQueries` as tests for any store. A test file of the implementation calls
 * `describeLedgerContract` with a function that opens empty books. The suite uses only the ports.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Finding } from '../lib/primitives/checks.ts'
import type { WriteStep } from '../store/statement.ts'
import type { LedgerQueries } from './ledger-queries.ts'
import { BALANCE_MAX, type Adjustment, type Hold, type HoldResult, type Ledger, type Settlement } from './ledger.ts'

/** Books that one process has open. */
export type BooksUnderTest = {
  readonly ledger: Ledger
  readonly queries: LedgerQueries
  /** Makes an account in the store and registers it. */
  addAccount(id: string): Promise<void>
  /** The step that writes a request's record. Verified books have one for every resolved hold. */
  recordStep(hold: Pick<Hold, 'id' | 'accountId'>, settlement: Settlement): WriteStep
  /** A step that the store refuses if `isMet` is false. */
  conditionStep(isMet: boolean): WriteStep
  /** Ends this instance and begins the next one on the same books. */
  restart(): Promise<{ readonly books: BooksUnderTest; readonly expired: number }>
  /** The findings of a verification of the books. */
  findings(): Promise<readonly Finding[]>
  close(): Promise<void>
}

const NOTHING: Settlement = { charged: 0n, writtenOff: 0n }
const PRICE_CARD = 1

/** One open set of books, and the actions of the tests on it. */
class Driver {
  books: BooksUnderTest
  private serial = 0

  constructor(books: BooksUnderTest) {
    this.books = books
  }

  get ledger(): Ledger {
    return this.books.ledger
  }

  nextId(prefix: string): string {
    return `${prefix}${this.serial++}`
  }

  async account(amount: bigint): Promise<string> {
    const id = this.nextId('acct_')
    await this.books.addAccount(id)
    if (amount > 0n) expect(await this.adjust(id, amount)).toBe('booked')
    return id
  }

  async adjust(accountId: string, amount: bigint, more: Partial<Adjustment> = {}): Promise<string> {
    const ref = this.nextId('ref_')
    return (await this.ledger.adjust({ accountId, amount, kind: 'credit', ref, reason: 'test', ...more })).kind
  }

  hold(accountId: string, amount: bigint, livesWith?: 'task'): HeldMoney {
    const result = this.ledger.hold({ id: this.nextId('req_'), accountId, amount, livesWith })
    if (result.kind !== 'held') throw new Error(`${amount} is not available`)
    return result
  }

  settle(hold: Hold, cost: bigint): Promise<void> {
    return this.ledger.settle(hold, { cost, priceCardId: PRICE_CARD }, (charge) => [
      this.books.recordStep(hold, charge),
    ])
  }

  release(hold: Hold): Promise<void> {
    return this.ledger.release(hold, [this.books.recordStep(hold, NOTHING)])
  }

  async restart(): Promise<number> {
    const { books, expired } = await this.books.restart()
    this.books = books
    return expired
  }
}

type HeldMoney = Extract<HoldResult, { kind: 'held' }>

const balanceOf = (posted: bigint, held = 0n) => ({ posted, held, available: posted - held })

/** The error with which a promise rejects. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

/** Runs the suite. `open` gives empty books. */
export function describeLedgerContract(name: string, open: () => Promise<BooksUnderTest>): void {
  describe(`${name} keeps the contract of the ledger`, () => {
    let driver: Driver
    beforeEach(async () => {
      driver = new Driver(await open())
    })
    afterEach(async () => {
      const findings = await driver.books.findings()
      await driver.books.close()
      expect(findings).toEqual([])
    })
    const context = { get: () => driver }
    testHolds(context)
    testEnds(context)
    testLines(context)
    testAdjustments(context)
    testRestarts(context)
    testQueries(context)
    testHistories(context)
  })
}

type SuiteContext = { readonly get: () => Driver }

function testHolds({ get }: SuiteContext): void {
  test('a hold takes what is available, to the last unit and not beyond', async () => {
    const accountId = await get().account(100n)
    const { ledger } = get()
    const { hold } = get().hold(accountId, 60n)
    expect(hold).toMatchObject({ accountId, amount: 60n })
    expect(ledger.balance(accountId)).toEqual(balanceOf(100n, 60n))
    expect(ledger.hold({ id: 'over', accountId, amount: 41n })).toEqual({
      kind: 'insufficient',
      balance: balanceOf(100n, 60n),
    })
    const last = get().hold(accountId, 40n)
    expect(ledger.balance(accountId)).toEqual(balanceOf(100n, 100n))
    expect([ledger.openHolds(), ledger.isOpen(hold), ledger.isEmpty(accountId)]).toEqual([2, true, false])
    await Promise.all([get().release(hold), get().release(last.hold)])
    expect([ledger.openHolds(), ledger.isOpen(hold)]).toEqual([0, false])
  })

  test('of concurrent holds, those that fit are held in their order, and no more', async () => {
    const amount = fc.bigInt({ min: 0n, max: 40n })
    const input = [fc.bigInt({ min: 0n, max: 100n }), fc.array(amount, { minLength: 1, maxLength: 12 })] as const
    const whenWritten = fc.constantFrom('now' as const, 'soon' as const)
    await fc.assert(
      fc.asyncProperty(...input, whenWritten, async (balance, amounts, written) => {
        const accountId = await get().account(balance)
        let left = balance
        const held: Hold[] = []
        for (const wanted of amounts) {
          const result = get().ledger.hold({ id: get().nextId('req_'), accountId, amount: wanted, written })
          expect(result.kind).toBe(wanted <= left ? 'held' : 'insufficient')
          if (result.kind !== 'held') continue
          left -= wanted
          held.push(result.hold)
        }
        expect(get().ledger.balance(accountId)).toEqual(balanceOf(balance, balance - left))
        await Promise.all(held.map((hold) => get().release(hold)))
        expect(get().ledger.balance(accountId)).toEqual(balanceOf(balance))
      }),
      { numRuns: 50 },
    )
  })

  test('a hold is never negative, and its account must be known', async () => {
    const accountId = await get().account(10n)
    expect(() => get().ledger.hold({ id: 'r', accountId, amount: -1n })).toThrow(RangeError)
    expect(() => get().ledger.hold({ id: 'r', accountId: 'nobody', amount: 1n })).toThrow('not registered')
    expect(() => get().ledger.balance('nobody')).toThrow('not registered')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(10n))
  })

  test('an account that is registered again keeps its balance', async () => {
    const accountId = await get().account(10n)
    get().ledger.register(accountId)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(10n))
    expect(get().ledger.isEmpty(accountId)).toBe(false)
    expect(get().ledger.isEmpty(await get().account(0n))).toBe(true)
  })

  test('a hold grows by what is available, and stays unchanged if that is too little', async () => {
    const accountId = await get().account(100n)
    const { hold } = get().hold(accountId, 10n)
    const other = get().hold(accountId, 40n)
    expect(get().ledger.extend(hold, 51n)).toEqual({ kind: 'insufficient' })
    expect(hold.amount).toBe(10n)
    const extended = get().ledger.extend(hold, 50n)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n, 100n))
    await (extended.kind === 'held' && extended.durable)
    expect(() => get().ledger.extend(hold, -1n)).toThrow(RangeError)
    await get().settle(hold, 60n)
    expect(get().ledger.extend(hold, 0n)).toEqual({ kind: 'insufficient' })
    await get().release(other.hold)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(40n))
  })

  test('a hold that is written soon has no other steps, and does not grow', async () => {
    const accountId = await get().account(100n)
    const request = { id: 'r', accountId, amount: 10n, written: 'soon' } as const
    expect(() => get().ledger.hold({ ...request, also: [get().books.conditionStep(true)] })).toThrow('written alone')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n))
    const result = get().ledger.hold(request)
    if (result.kind !== 'held') throw new Error('insufficient')
    expect(() => get().ledger.extend(result.hold, 1n)).toThrow('written with its end')
    await get().settle(result.hold, 3n)
    await result.durable
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(97n))
  })
}

function testEnds({ get }: SuiteContext): void {
  test('a settlement charges the cost, and what the balance does not cover is written off', async () => {
    const amount = fc.bigInt({ min: 0n, max: 100n })
    await fc.assert(
      fc.asyncProperty(amount, amount, amount, amount, async (balance, wanted, others, cost) => {
        const held = wanted < balance ? wanted : balance
        const beside = others < balance - held ? others : balance - held
        const accountId = await get().account(balance)
        const [own, other] = [get().hold(accountId, held), get().hold(accountId, beside)]
        const charged = cost < balance - beside ? cost : balance - beside
        let told: Settlement | undefined
        await get().ledger.settle(own.hold, { cost, priceCardId: PRICE_CARD }, (settlement) => {
          told = settlement
          return [get().books.recordStep(own.hold, settlement)]
        })
        expect(told).toMatchObject({ charged, writtenOff: cost - charged })
        expect(get().ledger.balance(accountId)).toEqual(balanceOf(balance - charged, beside))
        await get().release(other.hold)
      }),
      { numRuns: 50 },
    )
  })

  test('a hold is resolved once, even if two calls try in the same tick', async () => {
    const accountId = await get().account(100n)
    const ends = ['settle', 'release'] as const
    for (const first of ends) {
      for (const second of ends) {
        const { hold } = get().hold(accountId, 10n)
        const end = (how: 'settle' | 'release') => (how === 'settle' ? get().settle(hold, 5n) : get().release(hold))
        const before = get().ledger.balance(accountId).posted
        const results = await Promise.allSettled([end(first), end(second)])
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
        expect(String(await errorOf(end(second)))).toContain('not open')
        const charged = first === 'settle' ? 5n : 0n
        expect(get().ledger.balance(accountId)).toEqual(balanceOf(before - charged))
      }
    }
  })

  test('a hold that ends before it is written is charged like any other', async () => {
    const accountId = await get().account(100n)
    const request = { accountId, amount: 45n, written: 'soon' } as const
    const results = ['a', 'b'].map((id) => get().ledger.hold({ id, ...request }))
    const [first, second] = results.map((result) => {
      if (result.kind !== 'held') throw new Error('insufficient')
      return result
    })
    if (!first || !second) throw new Error('two were held')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n, 90n))
    await Promise.all([get().settle(first.hold, 50n), get().release(second.hold)])
    await Promise.all([first.durable, second.durable])
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(50n))
    expect(String(await errorOf(get().settle(first.hold, 1n)))).toContain('not open')
  })
}

function testLines({ get }: SuiteContext): void {
  test('a further line is charged in the same transaction, from what the first one left', async () => {
    const amount = fc.bigInt({ min: 0n, max: 100n })
    await fc.assert(
      fc.asyncProperty(amount, amount, amount, async (balance, cost, more) => {
        const { ledger, books } = get()
        const accountId = await get().account(balance)
        const { hold } = get().hold(accountId, balance / 2n)
        await ledger.settle(hold, { cost, furtherCost: more, priceCardId: PRICE_CARD }, (first) => {
          const further = { id: `${hold.id}.2`, accountId, cost: more, priceCardId: PRICE_CARD, createdAtMs: 1 }
          const { steps, ...line } = ledger.line(further)
          const left = balance - first.charged
          const charged = more < left ? more : left
          expect(line).toEqual({ charged, writtenOff: more - charged })
          return [books.recordStep(hold, first), ...steps, books.recordStep(further, line)]
        })
        const total = cost + more
        expect(ledger.balance(accountId)).toEqual(balanceOf(total < balance ? balance - total : 0n))
      }),
      { numRuns: 25 },
    )
  })
}

function testAdjustments({ get }: SuiteContext): void {
  test('credits and refunds add, debits take, and no debit takes what is held', async () => {
    const accountId = await get().account(100n)
    expect(await get().adjust(accountId, 5n, { kind: 'refund' })).toBe('booked')
    const { hold } = get().hold(accountId, 80n)
    expect(await get().adjust(accountId, 26n, { kind: 'debit' })).toBe('insufficient')
    expect(await get().adjust(accountId, 25n, { kind: 'debit' })).toBe('booked')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(80n, 80n))
    await get().settle(hold, 80n)
    expect(get().ledger.isEmpty(accountId)).toBe(true)
  })

  test('a reference is booked once, even by two concurrent calls', async () => {
    const accountId = await get().account(100n)
    const same = { ref: 'invoice 7' }
    const kinds = await Promise.all([1, 2, 3].map(() => get().adjust(accountId, 5n, same)))
    expect(kinds.toSorted()).toEqual(['booked', 'duplicate_ref', 'duplicate_ref'])
    expect(await get().adjust(accountId, 5n, { ...same, kind: 'debit' })).toBe('duplicate_ref')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(105n))
  })

  test('of concurrent debits and holds for the last dollar, one gets it', async () => {
    const accountId = await get().account(10n)
    const debits = [get().adjust(accountId, 10n, { kind: 'debit' }), get().adjust(accountId, 10n, { kind: 'debit' })]
    expect(get().ledger.hold({ id: 'late', accountId, amount: 1n }).kind).toBe('insufficient')
    expect(await Promise.all(debits)).toEqual(['booked', 'insufficient'])
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(0n))
  })

  test('a condition that is not met keeps the booking out, and its reference stays free', async () => {
    const accountId = await get().account(100n)
    const booking = { ref: 'code 1', provided: get().books.conditionStep(false) }
    for (const kind of ['credit', 'debit'] as const) {
      expect(await get().adjust(accountId, 5n, { ...booking, kind })).toBe('not_provided')
      expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n))
    }
    const met = { ...booking, provided: get().books.conditionStep(true) }
    expect(await get().adjust(accountId, 5n, met)).toBe('booked')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(105n))
  })

  test('the edges: no amount below one, no balance beyond the bound, no account that is unknown', async () => {
    const accountId = await get().account(BALANCE_MAX - 1n)
    expect(await get().adjust(accountId, 2n)).toBe('too_large')
    expect(await get().adjust(accountId, 1n)).toBe('booked')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(BALANCE_MAX))
    expect(await get().adjust('nobody', 1n)).toBe('unknown_account')
    for (const amount of [0n, -1n]) expect(await errorOf(get().adjust(accountId, amount))).toBeInstanceOf(RangeError)
  })
}

function testRestarts({ get }: SuiteContext): void {
  test('reported results survive the process, to the nano-dollar beyond 2^53', async () => {
    const amount = 2n ** 60n + 1n
    const accountId = await get().account(amount)
    await get().settle(get().hold(accountId, 7n).hold, 5n)
    expect(await get().adjust(accountId, 3n, { kind: 'debit', ref: 'once' })).toBe('booked')
    expect(await get().restart()).toBe(0)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(amount - 8n))
    expect(await get().adjust(accountId, 3n, { ref: 'once' })).toBe('duplicate_ref')
    expect(await get().adjust(accountId, 3n)).toBe('booked')
  })

  test('holds of a former process expire in the customer’s favour, and can no longer be ended', async () => {
    const accountId = await get().account(100n)
    const { hold, durable } = get().hold(accountId, 60n)
    await durable
    const extended = get().ledger.extend(hold, 30n)
    await (extended.kind === 'held' && extended.durable)
    expect(await get().restart()).toBe(1)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n))
    expect(get().ledger.openHolds()).toBe(0)
    expect(String(await errorOf(get().settle(hold, 1n)))).toContain('not open')
    expect(String(await errorOf(get().release(hold)))).toContain('not open')
  })

  test('the hold of a task outlives the process, and the next one ends it, once', async () => {
    const accountId = await get().account(100n)
    const made = [get().hold(accountId, 40n, 'task'), get().hold(accountId, 40n, 'task')]
    await Promise.all(made.map(({ durable }) => durable))
    expect(await get().restart()).toBe(0)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(100n, 80n))
    // The owner of the task rebuilds the object from its own row.
    const [settled, released] = made.map(({ hold: { id } }) => ({ id, accountId, amount: 40n, createdAtMs: 0 }))
    if (!settled || !released) throw new Error('two were held')
    expect(get().ledger.isOpen(settled)).toBe(true)
    await get().settle(settled, 30n)
    await get().release(released)
    expect(String(await errorOf(get().settle(settled, 30n)))).toContain('not open')
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(70n))
    expect(await get().restart()).toBe(0)
    expect(get().ledger.balance(accountId)).toEqual(balanceOf(70n))
  })
}

function testQueries({ get }: SuiteContext): void {
  test('bookings are read newest first, a page at a time, with the balance after each, and of one account', async () => {
    const [accountId, other] = [await get().account(0n), await get().account(7n)]
    const changes = [10n, 3n, 25n, 4n, 1n]
    let balance = 0n
    const wanted = []
    for (const [i, amount] of changes.entries()) {
      const kind = i % 2 === 1 ? 'debit' : 'credit'
      expect(await get().adjust(accountId, amount, { kind, ref: `booking ${i}`, reason: `reason ${i}` })).toBe('booked')
      const change = kind === 'debit' ? -amount : amount
      balance += change
      wanted.unshift({ kind, amount: change, balanceAfter: balance, ref: `booking ${i}`, reason: `reason ${i}` })
    }
    const found = []
    for (let before: string | undefined; found.length < changes.length; before = found.at(-1)?.ref) {
      const page = await get().books.queries.bookings(accountId, { limit: 2, before })
      expect(page.length).toBeGreaterThan(0)
      found.push(...page)
    }
    expect(found).toMatchObject(wanted)
    const { queries } = get().books
    expect(await queries.bookings(accountId, { limit: 9, before: 'booking 0' })).toEqual([])
    expect(await queries.bookings(other, { limit: 9, before: 'booking 4' })).toEqual([])
    expect(await queries.bookings(other, { limit: 9 })).toMatchObject([{ amount: 7n }])
  })

  test('holds are read oldest first, of one account, and a resolved one is not open', async () => {
    const [accountId, other] = [await get().account(100n), await get().account(100n)]
    const { queries } = get().books
    expect([await queries.oldestHold(), await queries.countOpenHolds(accountId)]).toEqual([undefined, 0])
    const made = [1n, 2n, 3n].map((amount) => get().hold(accountId, amount))
    const foreign = get().hold(other, 50n)
    await Promise.all([...made, foreign].map(({ durable }) => durable))
    const ids = made.map(({ hold }) => hold.id)
    const [first, last] = [await queries.openHolds(accountId, { limit: 2 }), { after: ids[1], limit: 2 }]
    expect(first).toMatchObject([
      { id: ids[0], amount: 1n },
      { id: ids[1], amount: 2n },
    ])
    expect(await queries.openHolds(accountId, last)).toMatchObject([{ id: ids[2], amount: 3n }])
    expect(await queries.countOpenHolds(accountId)).toBe(3)
    expect(await queries.oldestHold()).toBe(made[0]?.hold.createdAtMs)
    const [settled, released] = made
    if (settled) await get().settle(settled.hold, 1n)
    if (released) await get().release(released.hold)
    const states = await Promise.all(ids.map(async (id) => (await queries.findHold(id))?.state))
    expect(states).toEqual(['settled', 'released', 'open'])
    expect(await queries.findHold(foreign.hold.id)).toEqual({ accountId: other, state: 'open', amount: 50n })
    expect(await queries.findHold('nobody')).toBeUndefined()
    expect(await queries.countOpenHolds(accountId)).toBe(1)
    for (const { hold } of [...made.slice(2), foreign]) await get().release(hold)
  })
}

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

/** The ledger as arithmetic. Every history must agree with it, whatever the interleaving of commits. */
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

/** One history on two fresh accounts. Each command runs on the ledger and on the model, and both must agree. */
class History {
  private ids: readonly string[] = []
  private readonly model = new Model()
  private readonly writes: Promise<unknown>[] = []
  private readonly driver: Driver

  constructor(driver: Driver) {
    this.driver = driver
  }

  async play(commands: readonly Command[]): Promise<void> {
    this.ids = [await this.driver.account(0n), await this.driver.account(0n)]
    for (const step of commands) {
      if (step.kind === 'hold') this.hold(step)
      else if (step.kind === 'resolve') this.resolve(step)
      else await this.adjust(step)
      this.ids.forEach((id, i) => expect(this.driver.ledger.balance(id).available).toBe(this.model.available(i)))
    }
    await Promise.all(this.writes)
    // Open holds are released, so that the next history can use the same books.
    for (const { hold } of this.model.open.values()) await this.driver.release(hold)
  }

  private hold(step: Command & { kind: 'hold' }): void {
    const id = this.driver.nextId('req_')
    const expected = this.model.available(step.account) >= step.amount
    const { amount, written } = step
    const result = this.driver.ledger.hold({ id, accountId: this.ids[step.account] ?? '', amount, written })
    expect(result.kind === 'held').toBe(expected)
    if (result.kind !== 'held') return
    this.model.open.set(id, { account: step.account, amount: step.amount, hold: result.hold })
    this.writes.push(result.durable)
  }

  private resolve(step: Command & { kind: 'resolve' }): void {
    const { model, driver } = this
    const [id, open] = [...model.open][step.pick % Math.max(1, model.open.size)] ?? []
    if (!id || !open) return
    model.open.delete(id)
    if (step.as === 'release') {
      this.writes.push(driver.release(open.hold))
      return
    }
    const free = model.available(open.account)
    model.post(open.account, -(step.cost < free ? step.cost : free))
    this.writes.push(driver.settle(open.hold, step.cost))
  }

  private async adjust({ as: kind, account: index, amount: size }: Command & { kind: 'adjust' }): Promise<void> {
    const result = await this.driver.adjust(this.ids[index] ?? '', size, { kind })
    const possible = kind === 'credit' || this.model.available(index) >= size
    expect(result).toBe(possible ? 'booked' : 'insufficient')
    if (possible) this.model.post(index, kind === 'credit' ? size : -size)
  }
}

function testHistories({ get }: SuiteContext): void {
  test('any history agrees with the model, and the next process has the same balances', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60 }), (commands) =>
        new History(get()).play(commands),
      ),
      { numRuns: 300 },
    )
    const ids = await Promise.all([1n, 2n, 3n].map((amount) => get().account(amount)))
    const before = ids.map((id) => get().ledger.balance(id))
    await get().restart()
    expect(ids.map((id) => get().ledger.balance(id))).toEqual(before)
  }, 60_000)
}
