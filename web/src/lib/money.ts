/**
 * Money as people read it. The API sends whole nano-dollars as decimal text, and of single price lines fractions of
 * them; only here they become dollars, and only as text: no amount is ever a floating-point number.
 *
 * What is shown is in cents, and finer only where cents would hide it: `money` for one amount, `columnOf` for amounts
 * below each other, `shortPrice` for what a million tokens cost. All three round, so the exact amount belongs in a
 * title beside them; none shows zero for what is not zero.
 */
const NANO = 1_000_000_000n
/** Decimals of a nano-dollar, and of the price of one token, which is a nano-dollar for a million of them. */
const NANO_DECIMALS = 9
const DECIMALS = 15
/** Finer than that a column is not: what is less is `< $0.000001` there. */
const COLUMN_DECIMALS_MAX = 6
/** Digits of the largest amount of a column: beyond them the small ones take more room than they tell. */
const COLUMN_DIGITS_MAX = 7
const PRICE_DIGITS = 4

/** Nano-dollars of an amount of the API. */
export const nano = (amount: string | bigint | null | undefined): bigint => BigInt(amount ?? 0)

/** An amount in the smallest parts that there are, 10^-15 dollars, without its sign. */
type Size = { readonly parts: bigint; readonly isNegative: boolean }

function sizeOf(amount: string | bigint): Size {
  const text = amount.toString()
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const parts = BigInt(whole + fraction.slice(0, DECIMALS - NANO_DECIMALS).padEnd(DECIMALS - NANO_DECIMALS, '0'))
  return { parts, isNegative: text.startsWith('-') && parts > 0n }
}

const grouped = (whole: bigint): string => whole.toString().replace(/\B(?=(\d{3})+$)/g, ',')

/** Rounded to so many decimals; what that leaves nothing of is said to be less than the least. */
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

/** Digits before the point: of less than a dollar one, the zero. */
const wholeDigits = (parts: bigint): number => Math.max(1, parts.toString().length - DECIMALS)

/** How many decimals it takes to show so many digits of an amount from the first that is not zero. */
const decimalsFor = (parts: bigint, digits: number): number => DECIMALS - parts.toString().length + digits

/** Decimals without which an amount would be another. */
const decimalsOf = (parts: bigint): number =>
  DECIMALS - (/0*$/.exec(parts.toString().padStart(16, '0'))?.[0].length ?? 0)

const inCents = (decimals: number, most: number): number => Math.max(2, Math.min(decimals, most))

/** In so many digits, or in cents where these are finer; without zeros at the end. */
function inDigits(amount: string | bigint, digits: number): string {
  const size = sizeOf(amount)
  if (size.parts === 0n) return rounded(size, 2)
  return rounded(size, inCents(decimalsFor(size.parts, digits), DECIMALS)).replace(/(\.\d\d\d*?)0+$/, '$1')
}

/** One amount: in cents, and of less than ten of them in two digits. */
export const money = (amount: string | bigint): string => inDigits(amount, 2)

/**
 * How the amounts of a column are shown, all of them in the same places, so that they line up: in cents, or in as many
 * places as show two digits of the smallest, so far as the largest leaves room for them.
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

/** What a million tokens cost, or one piece: in cents, or in four digits where these are finer. */
export const shortPrice = (amount: string | bigint): string => inDigits(amount, PRICE_DIGITS)

/** To the last digit, with at least two places. */
export function exact(amount: string | bigint): string {
  const size = sizeOf(amount)
  return rounded(size, inCents(decimalsOf(size.parts), DECIMALS))
}

/** For axes: `$1.2K`, `$5`, `$0.50`, `$0.004`. */
export function axisMoney(dollars: number): string {
  if (dollars === 0) return '$0'
  // Cents are said in two places, as everywhere; between whole dollars there are none to say.
  const isCents = !Number.isInteger(dollars) && Math.abs(dollars * 100 - Math.round(dollars * 100)) < 1e-9
  if (isCents && dollars < 1_000) return `$${dollars.toFixed(2)}`
  if (dollars >= 1_000) return `$${new Intl.NumberFormat('en', { notation: 'compact' }).format(dollars)}`
  return `$${dollars.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false })}`
}

/** For the height of a bar, where the last digits cannot be seen. */
export const dollarsAbout = (amount: string | bigint): number => Number(nano(amount)) / 1e9

const DOLLARS = /^\$?((?:\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.\d{1,9})?)$/

/**
 * What somebody typed, as decimal text that the API takes; undefined when it is no amount. Commas stand between
 * thousands or nowhere: `0,5` is half a dollar to many people, and must not become five.
 */
export const typedDollars = (text: string): string | undefined => DOLLARS.exec(text.trim())?.[1]?.replaceAll(',', '')

/** Whether a text is an amount, or nothing yet. */
export const isAmount = (text: string): boolean => text.trim() === '' || typedDollars(text) !== undefined

/** An amount as somebody would type it. */
export const asTyped = (amount: string): string => exact(amount).replaceAll(/[$,]/g, '')

/** Nano-dollars of such text. */
export function nanoOf(dollars: string): bigint {
  const [whole = '0', fraction = ''] = dollars.split('.')
  return BigInt(whole) * NANO + BigInt(fraction.padEnd(9, '0'))
}

/** What one token costs, or one piece, of a price for a million. */
export const perPiece = (nanoPerMillion: string): string => {
  const digits = nanoPerMillion.padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
