import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Booking } from '../ledger/ledger-queries.ts'
import { linesOf, type Moves } from './statement.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

/** One event of a ledger, in the order in which it happened. */
type Event = { readonly atMs: number; readonly booked?: bigint; readonly charged?: bigint }

/** The store's data of a history: bookings with the balance after each, and charges by day. */
function movesOf(events: readonly Event[]): Moves {
  const bookings: Booking[] = []
  const days = new Map<number, { startMs: number; amount: bigint; requests: number }>()
  let balance = 0n
  for (const { atMs, booked, charged } of events) {
    balance += (booked ?? 0n) - (charged ?? 0n)
    if (booked !== undefined) {
      const kind = booked < 0n ? 'debit' : 'credit'
      const ref = `r${bookings.length}`
      bookings.unshift({ kind, amount: booked, balanceAfter: balance, ref, reason: '', createdAtMs: atMs })
      continue
    }
    const startMs = atMs - (atMs % DAY_MS)
    const day = days.get(startMs) ?? { startMs, amount: 0n, requests: 0 }
    days.set(startMs, { startMs, amount: day.amount + (charged ?? 0n), requests: day.requests + 1 })
  }
  return { bookings, charges: [...days.values()] }
}

const change = ({ booked = 0n, charged = 0n }: Event): bigint => booked - charged

const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })
const history = fc
  .array(
    fc.record({
      atMs: fc.integer({ min: 0, max: 6 * DAY_MS - 1 }),
      move: fc.oneof(
        amount.map((booked) => ({ booked })),
        amount.map((value) => ({ booked: -value })),
        amount.map((charged) => ({ charged })),
      ),
    }),
    { maxLength: 60 },
  )
  .map((made) => made.map(({ atMs, move }): Event => ({ atMs, ...move })).toSorted((a, b) => a.atMs - b.atMs))

test('every balance is the ledger’s at that moment, for any history', () => {
  fc.assert(
    fc.property(history, fc.integer({ min: 0, max: 6 }), (events, fromDay) => {
      const fromMs = fromDay * DAY_MS
      const { bookings: booked, charges } = movesOf(events)
      const own = {
        bookings: booked.filter(({ createdAtMs }) => createdAtMs >= fromMs),
        charges: charges.filter(({ startMs }) => startMs >= fromMs),
      }
      const posted = events.reduce((sum, event) => sum + change(event), 0n)
      const { opening, lines } = linesOf(own, posted)
      const balanceWhere = (isMeant: (event: Event) => boolean): bigint =>
        events.filter(isMeant).reduce((sum, event) => sum + change(event), 0n)
      expect(opening).toBe(balanceWhere(({ atMs }) => atMs < fromMs))
      let balance = opening
      for (const line of lines) {
        expect(line.balance).toBe(balance + line.amount)
        balance = line.balance
      }
      expect(balance).toBe(balanceWhere(() => true))
      const bookings = events.filter(({ booked, atMs }) => booked !== undefined && atMs >= fromMs)
      const shown = lines.filter(({ kind }) => kind !== 'charges')
      expect(shown.map((line) => line.amount)).toEqual(bookings.map(({ booked = 0n }) => booked))
      for (const [i, booking] of bookings.entries()) {
        const until = events.indexOf(booking)
        expect(shown[i]?.balance).toBe(events.slice(0, until + 1).reduce((sum, event) => sum + change(event), 0n))
      }
    }),
  )
})

test('a day without a booking has its number of requests, and a booking divides its day', () => {
  const events: Event[] = [
    { atMs: 1, booked: 100n },
    { atMs: DAY_MS + 1, charged: 5n },
    { atMs: DAY_MS + 2, charged: 6n },
    { atMs: 2 * DAY_MS + 1, charged: 7n },
    { atMs: 2 * DAY_MS + 5, booked: 50n },
    { atMs: 2 * DAY_MS + 9, charged: 8n },
  ]
  const { lines } = linesOf(movesOf(events), 124n)
  expect(lines.map(({ kind, amount: moved, balance, requests }) => [kind, moved, balance, requests])).toEqual([
    ['credit', 100n, 100n, null],
    ['charges', -11n, 89n, 2],
    ['charges', -7n, 82n, null],
    ['credit', 50n, 132n, null],
    ['charges', -8n, 124n, null],
  ])
})

test('a request that ended after a booking of the next day is given back before it and charged again behind it', () => {
  const credit = { kind: 'credit', ref: 'r', reason: '', createdAtMs: DAY_MS + 1 }
  const bookings = [{ ...credit, amount: 50n, balanceAfter: 150n }]
  const { opening, lines } = linesOf({ bookings, charges: [{ startMs: 0, amount: 10n, requests: 1 }] }, 140n)
  expect([opening, ...lines.map(({ kind, amount: moved, balance }) => [kind, moved, balance])]).toEqual([
    100n,
    ['charges', -10n, 90n],
    ['charges', 10n, 100n],
    ['credit', 50n, 150n],
    ['charges', -10n, 140n],
  ])
})
