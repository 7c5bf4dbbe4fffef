/** Zod's `safeParse` for values that somebody else wrote: it never throws for what is in them. */
import type { z } from 'zod'

type Params = Parameters<z.ZodType['safeParse']>[1]

/**
 * What `safeParse` says. Zod 4.6 compares the `length` of whatever stands where a text or a list with a bound belongs,
 * and throws for one that cannot be compared: `{"length": {"valueOf": 1, "toString": 1}}`. Such a length is taken out
 * then: what is wrong with the value is its type.
 */
export function safeParse<T extends z.ZodType>(
  schema: T,
  value: unknown,
  params?: Params,
): z.ZodSafeParseResult<z.output<T>> {
  try {
    return schema.safeParse(value, params)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return schema.safeParse(withoutOddLengths(value), params)
  }
}

/** No deeper than a scan has found it, or the parser of the body. */
function withoutOddLengths(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutOddLengths)
  const kept = Object.entries(value).filter(([name, inner]) => name !== 'length' || typeof inner !== 'object')
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutOddLengths(inner)]))
}
