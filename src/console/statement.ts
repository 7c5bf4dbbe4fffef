/**
 * The lines of a statement. Each booking is a line, with the balance that the ledger recorded for it. The charges of a
 * day are one line. A booking within a day divides them, and its recorded balance shows how much was charged before it.
 * So every balance is the one before it plus the amount, and none is estimated.
 *
 * A request counts on the day on which it began. A request that began before midnight and ended after a booking of the
 * next day was not charged yet at that booking. So its amount stands as returned before the booking, and as charged
 * again after it.
 */
import type { Booking } from '../ledger/ledger-queries.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

/** The charges of a day (UTC), and the number of their requests. */
export type DayOfCharges = { readonly startMs: number; readonly amount: bigint; readonly requests: number }

/** Everything that moved a balance from the start of a day on. */
export type Moves = { readonly bookings: readonly Booking[]; readonly charges: readonly DayOfCharges[] }

export type StatementLine = {
  readonly atMs: number
  readonly kind: 'credit' | 'debit' | 'refund' | 'charges'
  readonly amount: bigint
  /** The balance after the line. */
  readonly balance: bigint
  readonly ref: string | null
  readonly reason: string | null
  readonly requests: number | null
}

const dayOf = (ms: number): number => ms - (ms % DAY_MS)

const total = (amounts: readonly { readonly amount: bigint }[]): bigint =>
  amounts.reduce((sum, { amount }) => sum + amount, 0n)

/** The lines of moves, oldest first, and the balance before the first. `posted` is the balance after the last. */
export function linesOf(
  moves: Moves,
  posted: bigint,
): { readonly opening: bigint; readonly lines: readonly StatementLine[] } {
  const opening = posted - total(moves.bookings) + total(moves.charges)
  const bookings = Map.groupBy(moves.bookings, ({ createdAtMs }) => dayOf(createdAtMs))
  const charges = new Map(moves.charges.map((day) => [day.startMs, day]))
  const lines: StatementLine[] = []
  let balance = opening
  for (const startMs of [...new Set([...bookings.keys(), ...charges.keys()])].toSorted((a, b) => a - b)) {
    const own = linesOfDay({ startMs, balance, bookings: bookings.get(startMs) ?? [], charges: charges.get(startMs) })
    lines.push(...own)
    balance = own.at(-1)?.balance ?? balance
  }
  return { opening, lines }
}

type Day = {
  readonly startMs: number
  /** The balance at the start of the day. */
  readonly balance: bigint
  /** Newest first. */
  readonly bookings: readonly Booking[]
  readonly charges: DayOfCharges | undefined
}

function linesOfDay({ startMs, balance: before, bookings, charges }: Day): readonly StatementLine[] {
  const lines: StatementLine[] = []
  let balance = before
  const charge = (atMs: number, until: bigint, requests: number | null): void => {
    if (until === balance) return
    lines.push({ atMs, kind: 'charges', amount: until - balance, balance: until, ref: null, reason: null, requests })
    balance = until
  }
  let end = before - (charges?.amount ?? 0n)
  for (const { createdAtMs: atMs, kind, amount, balanceAfter, ref, reason } of bookings.toReversed()) {
    charge(atMs, balanceAfter - amount, null)
    lines.push({
      atMs,
      kind: kind as StatementLine['kind'],
      amount,
      balance: balanceAfter,
      ref,
      reason,
      requests: null,
    })
    balance = balanceAfter
    end += amount
  }
  const isWhole = lines.every(({ kind }) => kind !== 'charges')
  charge(startMs + DAY_MS - 1, end, isWhole ? (charges?.requests ?? null) : null)
  return lines
}
