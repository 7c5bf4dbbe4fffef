import { amountsOf, priceText } from './amounts.ts'
import { printable, type Terminal } from './terminal.ts'

type Cell = string | number | null | undefined

export type Column<Row> = {
  readonly title: string
  readonly of: (row: Row) => Cell
  /** Text is aligned left, all else right. Money is rounded: amounts to one precision, prices to their short form. */
  readonly kind?: 'text' | 'count' | 'money' | 'price'
}

const NONE = '—'

/** `2026-11-21T10:25:31.000Z` → `2026-11-21 10:25:31Z` */
export const shortTime = (iso: string): string => iso.replace('T', ' ').replace(/\.\d+/, '')

/** `1 account`, `2 accounts` */
export const countText = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

type Holdings = {
  readonly accounts: number
  readonly bookings: number
  readonly charges: number
  readonly open_holds: number
}

/** The contents of a copy of the database, in words. */
export const holdings = ({ accounts, bookings, charges, open_holds: holds }: Holdings): string =>
  [
    countText(accounts, 'account'),
    countText(bookings, 'booking'),
    countText(charges, 'charge'),
    countText(holds, 'open hold'),
  ].join(', ')

/** A decimal amount for people. */
export const usd = (amount: string): string => (amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`)

function cells<Row>({ of, kind = 'text' }: Column<Row>, rows: readonly Row[]): string[] {
  const values = rows.map((row) => of(row))
  const isThere = (value: Cell): value is string | number => value !== null && value !== undefined
  if (kind === 'price') return values.map((value) => (isThere(value) ? priceText(String(value)) : NONE))
  if (kind !== 'money') return values.map((value) => (isThere(value) ? printable(String(value)) : NONE) || NONE)
  const amounts = [...amountsOf(values.filter(isThere).map(String))]
  return values.map((value) => (isThere(value) ? (amounts.shift() ?? NONE) : NONE))
}

/** An aligned table with a line of titles. Empty if there are no rows. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint }: Pick<Terminal, 'paint'>,
): string {
  if (rows.length === 0) return ''
  const drawn = columns.map((column) => {
    const texts = [column.title.toUpperCase(), ...cells(column, rows)]
    const width = Math.max(...texts.map((text) => Bun.stringWidth(text)))
    return texts.map((text) => {
      const space = ' '.repeat(width - Bun.stringWidth(text))
      return column.kind === undefined || column.kind === 'text' ? text + space : space + text
    })
  })
  const lines = ['', ...rows].map((_, i) =>
    drawn
      .map((column) => column[i])
      .join('  ')
      .trimEnd(),
  )
  return `${[paint('bold', lines[0] ?? ''), ...lines.slice(1)].join('\n')}\n`
}

/** Names and values of one thing, each pair on a line. */
export function details(
  pairs: readonly (readonly [name: string, value: Cell])[],
  { paint }: Pick<Terminal, 'paint'>,
): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  const valueOf = (value: Cell): string => printable(String(value ?? NONE)) || NONE
  return pairs.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${valueOf(value)}\n`).join('')
}
