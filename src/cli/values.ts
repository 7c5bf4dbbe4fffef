import { parseUsd } from '../domain/money.ts'
import { parseMarkUp } from '../prices/mark-up.ts'

/** The name of a value in help, and the check of a given value. */
export type ValueRule = {
  readonly placeholder: string
  /** Completes the sentence "AMOUNT …". Undefined for a valid value. */
  readonly problem?: (text: string) => string | undefined
}

export const text = (placeholder: string): ValueRule => ({
  placeholder,
  problem: (given) => (given.trim() === '' ? 'must not be empty' : undefined),
})

/** An amount to book. It must be above zero. */
export const dollars: ValueRule = {
  placeholder: 'AMOUNT',
  problem: (given) => {
    const amount = parseUsd(given)
    return amount !== undefined && amount > 0n ? undefined : 'must be dollars above zero, such as 25.00'
  },
}

/** The opening balance of an account. Zero is allowed. */
export const openingBalance: ValueRule = {
  placeholder: 'AMOUNT',
  problem: (given) => ((parseUsd(given) ?? -1n) >= 0n ? undefined : 'must be dollars, such as 25.00, or 0'),
}

/** Dollars per million tokens. Zero is allowed. */
export const price: ValueRule = { placeholder: 'USD', problem: priceProblem }

export function priceProblem(given: string): string | undefined {
  const amount = parseUsd(given)
  return amount !== undefined && amount >= 0n ? undefined : 'must be dollars per million tokens, such as 0.15'
}

export const percentage: ValueRule = {
  placeholder: 'PERCENT',
  problem: (given) => (parseMarkUp(given) === undefined ? 'must be a percentage, such as 20% or 12.5%' : undefined),
}

export const wholeNumber = (placeholder: string, { min, max }: { min: number; max: number }): ValueRule => ({
  placeholder,
  problem: (given) =>
    /^\d+$/.test(given) && Number(given) >= min && Number(given) <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`,
})

export const port = wholeNumber('PORT', { min: 0, max: 65_535 })

/** One of several words. */
export const oneOf = (words: readonly string[]): ValueRule => ({
  placeholder: words.join('|'),
  problem: (given) => (words.includes(given) ? undefined : `must be one of ${words.join(', ')}`),
})

/** `a,b` as a list. */
export const listFrom = (given: string): string[] =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export const list: ValueRule = {
  placeholder: 'A,B',
  problem: (given) => (listFrom(given).length > 0 ? undefined : 'must be names with commas between them'),
}
