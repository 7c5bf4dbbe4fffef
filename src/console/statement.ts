/**
 * The lines of a statement. Bookings stand one by one, each with the balance that the ledger wrote down with it.
 * Charges stand by the day, and where a booking falls into a day, in parts around it: what was charged until then is
 * what the balance before it lacks. So each balance is the one before it and the amount, and none is a guess.
 *
 * A request counts on the day on which it began. One that began before midnight and ended after a booking of the next
 * day was not charged yet at that booking: it stands there as given back, and as charged again behind it.
 */
import type { Booking } from '../ledger/bookings.ts'

/** What was charged on a day (UTC), and for how many requests. */
export type DayOfCharges = { readonly startMs: number; readonly amount: bigint; readonly requests: number }

/** All that moved a balance from the start of a day on. */
export type Moves = { readonly bookings: readonly Booking[]; readonly charges: readonly DayOfCharges[] }

export type StatementLine = {
  readonly atMs: number
  readonly kind: 'credit' | 'debit' | 'refund' | 'charges'
  readonly amount: bigint
  /** After it. */
  readonly balance: bigint
  readonly ref: string | null
  readonly reason: string | null
  readonly requests: number | null
}

const DAY_MS = 86_400_000
const dayOf = (ms: number): number => ms - (ms % DAY_MS)

const total = (amounts: readonly { readonly amount: bigint }[]): bigint =>
  amounts.reduce((sum, { amount }) => sum + amount, 0n)

/** The lines of moves, oldest first, and the balance before the first; `posted` is what there was after the last. */
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
  /** At its start. */
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
