/**
 * Amounts as text for people. The API sends whole nano-dollars as decimal text, and fractions of them for single price
 * lines. They become dollars only here, and only as text: no amount is ever a floating-point number.
 *
 * Amounts are shown in cents, or finer where cents would hide the value: `money` for one amount, `columnOf` for a
 * column of amounts, `shortPrice` for the price of a million tokens. All three round, so a title has the exact amount.
 * None of them shows zero for an amount that is not zero.
 */
const NANO = 1_000_000_000n
/** Decimals of a nano-dollar, and of the price of one token in nano-dollars per million. */
const NANO_DECIMALS = 9
const DECIMALS = 15
/** The most decimals in a column. A smaller amount is shown as `< $0.000001`. */
const COLUMN_DECIMALS_MAX = 6
/** The most digits of the largest amount in a column. More digits would take room from the small amounts. */
const COLUMN_DIGITS_MAX = 7
const PRICE_DIGITS = 4

/** An amount of the API in nano-dollars. */
export const nano = (amount: string | bigint | null | undefined): bigint => BigInt(amount ?? 0)

/** An amount in units of 10^-15 dollars, without its sign. */
type Size = { readonly parts: bigint; readonly isNegative: boolean }

function sizeOf(amount: string | bigint): Size {
  const text = amount.toString()
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const parts = BigInt(whole + fraction.slice(0, DECIMALS - NANO_DECIMALS).padEnd(DECIMALS - NANO_DECIMALS, '0'))
  return { parts, isNegative: text.startsWith('-') && parts > 0n }
}

const grouped = (whole: bigint): string => whole.toString().replace(/\B(?=(\d{3})+$)/g, ',')

/** Rounds to a number of decimals. An amount that becomes zero is shown as less than the smallest step. */
function rounded({ parts, isNegative }: Size, decimals: number): string {
  const step = 10n ** BigInt(DECIMALS - decimals)
  const steps = (parts + step / 2n) / step
  const isHidden = parts > 0n && steps === 0n
  const digits = (isHidden ? 1n : steps).toString().padStart(decimals + 1, '0')
  const cut = digits.length - decimals
  const text = `$${grouped(BigInt(digits.slice(0, cut)))}.${digits.slice(cut)}`
  if (isNegative) return isHidden ? `> −${text}` : `−${text}`
  return isHidden ? `< ${text}` : text
}

/** Digits before the point. An amount below a dollar has one, the zero. */
const wholeDigits = (parts: bigint): number => Math.max(1, parts.toString().length - DECIMALS)

/** The decimals that show this many significant digits. */
const decimalsFor = (parts: bigint, digits: number): number => DECIMALS - parts.toString().length + digits

/** The decimals that the exact amount needs. */
const decimalsOf = (parts: bigint): number =>
  DECIMALS - (/0*$/.exec(parts.toString().padStart(16, '0'))?.[0].length ?? 0)

const inCents = (decimals: number, most: number): number => Math.max(2, Math.min(decimals, most))

/** An amount with this many significant digits, or in cents if these are finer. Zeros at the end are left out. */
function inDigits(amount: string | bigint, digits: number): string {
  const size = sizeOf(amount)
  if (size.parts === 0n) return rounded(size, 2)
  return rounded(size, inCents(decimalsFor(size.parts, digits), DECIMALS)).replace(/(\.\d\d\d*?)0+$/, '$1')
}

/** One amount in cents. Below ten cents it has two significant digits. */
export const money = (amount: string | bigint): string => inDigits(amount, 2)

/**
 * The format of a column of amounts. All have the same decimals, so that they line up: cents, or as many decimals as
 * two digits of the smallest amount need, within the room that the largest one leaves.
 */
export function columnOf(amounts: readonly string[]): (amount: string | bigint) => string {
  const sizes = amounts.map((amount) => sizeOf(amount).parts).filter((parts) => parts > 0n)
  const [first = 0n] = sizes
  const least = sizes.reduce((a, b) => (b < a ? b : a), first)
  const most = sizes.reduce((a, b) => (b > a ? b : a), first)
  const wanted = Math.min(decimalsFor(least, 2), Math.max(0, ...sizes.map(decimalsOf)))
  const room = Math.min(COLUMN_DECIMALS_MAX, COLUMN_DIGITS_MAX - wholeDigits(most))
  const decimals = inCents(wanted, room)
  return (amount) => rounded(sizeOf(amount), decimals)
}

/** The price of a million tokens or of one piece: in cents, or with four significant digits if these are finer. */
export const shortPrice = (amount: string | bigint): string => inDigits(amount, PRICE_DIGITS)

/** The exact amount with at least two decimals. */
export function exact(amount: string | bigint): string {
  const size = sizeOf(amount)
  return rounded(size, inCents(decimalsOf(size.parts), DECIMALS))
}

/** Labels of an axis: `$1.2K`, `$5`, `$0.50`, `$0.004`. */
export function axisMoney(dollars: number): string {
  if (dollars === 0) return '$0'
  // Cents have two decimals. Whole dollars on an axis have none.
  const isCents = !Number.isInteger(dollars) && Math.abs(dollars * 100 - Math.round(dollars * 100)) < 1e-9
  if (isCents && dollars < 1_000) return `$${dollars.toFixed(2)}`
  if (dollars >= 1_000) return `$${new Intl.NumberFormat('en', { notation: 'compact' }).format(dollars)}`
  return `$${dollars.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false })}`
}

/** The height of a bar, where the last digits cannot be seen. */
export const dollarsAbout = (amount: string | bigint): number => Number(nano(amount)) / 1e9

const DOLLARS = /^\$?((?:\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.\d{1,9})?)$/

/**
 * A typed amount as decimal text for the API. Undefined: it is not an amount. Commas are allowed only between
 * thousands: many people write half a dollar as `0,5`, which must not become five.
 */
export const typedDollars = (text: string): string | undefined => DOLLARS.exec(text.trim())?.[1]?.replaceAll(',', '')

/** Whether a text is an amount or empty. */
export const isAmount = (text: string): boolean => text.trim() === '' || typedDollars(text) !== undefined

/** An amount in the form in which people type it. */
export const asTyped = (amount: string): string => exact(amount).replaceAll(/[$,]/g, '')

/** A typed amount in nano-dollars. */
export function nanoOf(dollars: string): bigint {
  const [whole = '0', fraction = ''] = dollars.split('.')
  return BigInt(whole) * NANO + BigInt(fraction.padEnd(9, '0'))
}

/** The price of one token or piece, from the price of a million. */
export const perPiece = (nanoPerMillion: string): string => {
  const digits = nanoPerMillion.padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
