/**
 * Money as people read it. The API sends whole nano-dollars as decimal text; only here they become dollars, and only as
 * text: no amount is ever a floating-point number.
 */
const NANO = 1_000_000_000n
const CENT = 10_000_000n
const FINE_BELOW = 1_000n * NANO

/** Nano-dollars of an amount of the API. */
export const nano = (amount: string | bigint | null | undefined): bigint => BigInt(amount ?? 0)

const grouped = (whole: bigint): string => whole.toString().replace(/\B(?=(\d{3})+$)/g, ',')

function fixed(amount: bigint, decimals: number): string {
  const step = 10n ** BigInt(9 - decimals)
  const size = amount < 0n ? -amount : amount
  const rounded = ((size + step / 2n) / step) * step
  const fraction = (rounded % NANO).toString().padStart(9, '0').slice(0, decimals)
  const sign = amount < 0n && rounded > 0n ? '−' : ''
  return `${sign}$${grouped(rounded / NANO)}${decimals > 0 ? `.${fraction}` : ''}`
}

/** Whole cents; below a cent six places, so that what a call cost is not `$0.00`. */
export function money(amount: string | bigint): string {
  const value = nano(amount)
  const size = value < 0n ? -value : value
  if (size > 0n && size < 500n) return value < 0n ? '> −$0.000001' : '< $0.000001'
  return fixed(value, size > 0n && size < CENT ? 6 : 2)
}

/** Six places, for columns of what single calls cost; of a thousand dollars and more the cents are enough. */
export function cost(amount: string | bigint): string {
  const value = nano(amount)
  const size = value < 0n ? -value : value
  if (size > 0n && size < 500n) return value < 0n ? '> −$0.000001' : '< $0.000001'
  return fixed(value, size < FINE_BELOW ? 6 : 2)
}

/** To the last nano-dollar, with at least two places. */
export function exact(amount: string | bigint): string {
  return fixed(nano(amount), 9).replace(/0{1,7}$/, '')
}

const placesOf = (text: string): number => text.length - text.indexOf('.') - 1

/** How the amounts of a column are shown, so that they line up and add up: each in the places that the finest needs. */
export function columnOf(amounts: readonly string[]): (amount: string) => string {
  const places = Math.max(2, ...amounts.map((amount) => placesOf(exact(amount))))
  return (amount) => fixed(nano(amount), places)
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

/** Nano-dollars with a fraction, as single price lines have them, in dollars: nothing is rounded. */
export function fine(amount: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const digits = whole.padStart(10, '0') + fraction
  const at = digits.length - fraction.length - 9
  const decimals = digits.slice(at).replace(/0+$/, '').padEnd(2, '0')
  return `${amount.startsWith('-') ? '−' : ''}$${grouped(BigInt(digits.slice(0, at)))}.${decimals}`
}

/** The same of texts, which may be finer than a nano-dollar. */
export function inLine(amounts: readonly string[]): readonly string[] {
  const most = Math.max(...amounts.map(placesOf))
  return amounts.map((text) => text + '0'.repeat(most - placesOf(text)))
}

/** What a million tokens cost, or one piece: prices are per million of anything. */
export const perMillion = (nanoPerMillion: string): string => exact(nanoPerMillion)
export const perPiece = (nanoPerMillion: string): string => fine((nano(nanoPerMillion) / 1_000_000n).toString())
