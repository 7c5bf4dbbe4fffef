/** An amount of money in nano-USD (1e-9 dollars). Always an integer; int64 in the store. */
export type NanoUsd = bigint

const NANO = 1_000_000_000
const NANO_PER_USD = BigInt(NANO)
const CENT_DIGITS = 2
const ZERO = 0x30
const USD_PATTERN = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/

/** Reads decimal dollars ("1.25") exactly. Undefined for anything but a number of at most nine decimals. */
export function parseUsd(text: string): NanoUsd | undefined {
  const match = USD_PATTERN.exec(text.trim().replace(/^\$/, ''))
  if (!match) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -nano : nano
}

/** An amount as a whole number, in digits. */
export function nanoDigits(amount: NanoUsd): string {
  const number = Number(amount)
  // Half the cost, and the same digits as long as the number is exact.
  return Number.isSafeInteger(number) ? String(number) : amount.toString()
}

/** Writes exact decimal dollars without trailing zeros after the cents: 1250000000n → "1.25". */
export function formatUsd(amount: NanoUsd): string {
  const size = amount < 0n ? -amount : amount
  const number = Number(size)
  const isExact = Number.isSafeInteger(number)
  const nano = isExact ? number % NANO : Number(size % NANO_PER_USD)
  const dollars = isExact ? (number - nano) / NANO : size / NANO_PER_USD
  // The leading digit keeps the zeros after it.
  const decimals = String(NANO + nano)
  let end = decimals.length
  while (end > 1 + CENT_DIGITS && decimals.charCodeAt(end - 1) === ZERO) end--
  return `${amount < 0n ? '-' : ''}${dollars}.${decimals.slice(1, end)}`
}

/** Division that rounds up, for non-negative operands. A charge is rounded once, at its end. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

const MILLION = 1_000_000

/** A millionth of a non-negative safe integer, rounded up. */
export function millionthUp(sum: number): NanoUsd {
  const rest = sum % MILLION
  return BigInt((sum - rest) / MILLION + (rest > 0 ? 1 : 0))
}
