/** An amount of money in nano-USD (1e-9 dollars). Always an integer; int64 in the store. */
export type NanoUsd = bigint

const NANO_PER_USD = 1_000_000_000n
const NANO_DIGITS = 9
/** Up to a thousand dollars a double is wrong by 10⁻¹³ at most: its nine decimals are the exact ones. */
const EXACT_BELOW = 1_000n * NANO_PER_USD
const CENT_DIGITS = 2
const ZERO = 0x30
const USD_PATTERN = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/

/** Reads decimal dollars ("1.25") exactly. Undefined when it is not a number of at most nine decimals. */
export function parseUsd(text: string): NanoUsd | undefined {
  const match = USD_PATTERN.exec(text.trim().replace(/^\$/, ''))
  if (!match) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -nano : nano
}

/** Writes exact decimal dollars without trailing zeros beyond the cents: 1250000000n → "1.25". */
export function formatUsd(amount: NanoUsd): string {
  const text = amount >= 0n && amount < EXACT_BELOW ? (Number(amount) / 1e9).toFixed(NANO_DIGITS) : allDecimals(amount)
  const least = text.length - NANO_DIGITS + CENT_DIGITS
  let end = text.length
  while (end > least && text.charCodeAt(end - 1) === ZERO) end--
  return text.slice(0, end)
}

function allDecimals(amount: NanoUsd): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(NANO_DIGITS + 1, '0')
  const point = digits.length - NANO_DIGITS
  return `${amount < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Division that rounds up, for non-negative operands. A charge is rounded once, at its end. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
