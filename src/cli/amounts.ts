/**
 * Amounts in a table of the command line. They are in cents, with more decimals only if cents would hide them. An
 * amount is never rounded to zero. `--json` and the view of a single thing show all decimals. The console follows the
 * same rule (web/src/lib/money.ts).
 */
const DECIMALS = 9
const COLUMN_DECIMALS_MAX = 6
const COLUMN_DIGITS_MAX = 7
const PRICE_DIGITS = 4

/** Nano-dollars of decimal text such as `-0.000207`, without its sign. */
function sizeOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  return BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
}

const decimalsFor = (size: bigint, digits: number): number => DECIMALS - size.toString().length + digits
const decimalsOf = (size: bigint): number =>
  size === 0n ? 0 : DECIMALS - (/0*$/.exec(size.toString())?.[0].length ?? 0)
const inCents = (decimals: number, most: number): number => Math.max(2, Math.min(decimals, most))

function rounded(amount: string, decimals: number): string {
  const size = sizeOf(amount)
  const step = 10n ** BigInt(DECIMALS - decimals)
  const steps = (size + step / 2n) / step
  const isHidden = size > 0n && steps === 0n
  const digits = (isHidden ? 1n : steps).toString().padStart(decimals + 1, '0')
  const text = `$${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  const isNegative = amount.startsWith('-') && size > 0n
  if (isHidden) return isNegative ? `>-${text}` : `<${text}`
  return isNegative ? `-${text}` : text
}

/** Formats a column. All amounts get the decimals that show two digits of the smallest, if the largest leaves room. */
export function amountsOf(amounts: readonly string[]): readonly string[] {
  const sizes = amounts.map(sizeOf).filter((size) => size > 0n)
  const [first = 0n] = sizes
  const least = sizes.reduce((a, b) => (b < a ? b : a), first)
  const most = sizes.reduce((a, b) => (b > a ? b : a), first)
  const wanted = Math.min(decimalsFor(least, 2), Math.max(0, ...sizes.map(decimalsOf)))
  const room = Math.min(COLUMN_DECIMALS_MAX, COLUMN_DIGITS_MAX - Math.max(1, most.toString().length - DECIMALS))
  const decimals = inCents(wanted, room)
  return amounts.map((amount) => rounded(amount, decimals))
}

/** The price of a million tokens: in cents, or with four digits if these are finer. */
export function priceText(amount: string): string {
  const size = sizeOf(amount)
  const decimals = inCents(Math.min(decimalsFor(size, PRICE_DIGITS), decimalsOf(size)), DECIMALS)
  return rounded(amount, decimals).replace(/(\.\d\d\d*?)0+$/, '$1')
}
