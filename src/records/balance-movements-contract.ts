/** The contract of `MovementQueries` as tests for any store. The suite uses only ports. */
import { describe, expect, test } from 'bun:test'
import type { Ledger } from '../ledger/ledger.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { DAY_MS, HOUR_MS } from '../lib/primitives/units.ts'
import { Dice, shifted, withPort, type PortUnderTest } from '../store/port-contract.ts'
import type { BalanceMovements, MovementQueries } from './balance-movements.ts'
import { randomRecord } from './records-contract.ts'
import type { Records } from './records.ts'

export type MovementsUnderTest = PortUnderTest<MovementQueries> & {
  /** Books the money that moves. */
  readonly ledger: Ledger
  /** Writes the requests that are charged. */
  readonly records: Records
}

let serial = 0

const credit = (under: MovementsUnderTest, accountId: string, amount: bigint): Promise<unknown> =>
  under.ledger.adjust({ accountId, amount, kind: 'credit', ref: `ref-${serial++}`, reason: 'test' })

const debit = (under: MovementsUnderTest, accountId: string, amount: bigint): Promise<unknown> =>
  under.ledger.adjust({ accountId, amount, kind: 'debit', ref: `ref-${serial++}`, reason: 'test' })

/** Charges a request, as the relay does. */
async function charge(under: MovementsUnderTest, accountId: string, cost: bigint, dice: Dice): Promise<void> {
  const createdAtMs = Date.now()
  const id = timeOrderedId('req_', createdAtMs)
  const held = under.ledger.hold({ id, accountId, amount: 0n, createdAtMs })
  if (held.kind !== 'held') throw new Error('a hold of nothing is refused')
  await under.ledger.settle(held.hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) =>
    under.records.steps({ ...randomRecord(dice, createdAtMs), id, accountId, createdAtMs, charged, writtenOff }),
  )
}

const booked = ({ bookings }: BalanceMovements): bigint => bookings.reduce((sum, { amount }) => sum + amount, 0n)
const charged = ({ days }: BalanceMovements): bigint => days.reduce((sum, { sums }) => sum + sums.charged, 0n)

/** Runs the suite. `open` gives an empty store, with accounts that are known to its ledger. */
export function describeMovementQueriesContract(
  name: string,
  open: (accounts: readonly string[]) => Promise<MovementsUnderTest>,
): void {
  describe(`${name} keeps the contract of the movements of a balance`, () => {
    const on = (use: (under: MovementsUnderTest) => Promise<void>) => () => withPort(() => open(['a', 'b']), use)

    test(
      'the movements of an account are its own, bookings newest first, charges by day',
      on(async (under) => {
        const dice = new Dice(31)
        await credit(under, 'a', 1_000n)
        await credit(under, 'b', 5_000n)
        await charge(under, 'a', 30n, dice)
        await charge(under, 'b', 400n, dice)
        await shifted(DAY_MS, async () => {
          await charge(under, 'a', 5n, dice)
          await charge(under, 'a', 6n, dice)
          await debit(under, 'a', 200n)
          const hour = Math.floor(Date.now() / HOUR_MS)
          const all = await under.port.since('a', 0)
          expect(all.posted).toBe(759n)
          expect(all.bookings.map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter])).toEqual([
            ['debit', -200n, 759n],
            ['credit', 1_000n, 1_000n],
          ])
          expect(all.days.map(({ sums }) => sums.charged)).toEqual([30n, 11n])
          const late = await under.port.since('a', hour)
          expect(late.posted).toBe(759n)
          expect(late.bookings.map(({ amount }) => amount)).toEqual([-200n])
          expect(charged(late)).toBe(11n)
          expect(await under.port.since('a', hour + 1)).toEqual({ posted: 759n, bookings: [], days: [] })
          expect(charged(await under.port.since('b', 0))).toBe(400n)
        })
      }),
    )

    test(
      'an account without movements has none, and neither has an unknown one',
      on(async (under) => {
        for (const id of ['a', 'none', "a' OR 1=1"]) {
          expect(await under.port.since(id, 0)).toEqual({ posted: 0n, bookings: [], days: [] })
        }
      }),
    )

    test(
      'whatever is booked and charged meanwhile, the movements add up to the balance',
      on(async (under) => {
        const dice = new Dice(32)
        await credit(under, 'a', 1_000_000n)
        const busy = Array.from({ length: 60 }, async () => {
          for (let i = 0; i < 3; i++) {
            const amount = BigInt(1 + dice.below(1_000))
            const move = dice.pick(credit, debit)
            await (dice.once(3) ? move(under, 'a', amount) : charge(under, 'a', amount, dice))
          }
        })
        const reading = (async () => {
          for (let i = 0; i < 25; i++) {
            const found = await under.port.since('a', 0)
            expect(found.posted).toBe(booked(found) - charged(found))
          }
        })()
        await Promise.all([...busy, reading])
        const end = await under.port.since('a', 0)
        expect(end.posted).toBe(under.ledger.balance('a').posted)
        expect(booked(end) - charged(end)).toBe(end.posted)
      }),
    )
  })
}
