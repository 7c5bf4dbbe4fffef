/** Zod's `safeParse` for untrusted values. It never throws because of a value. */
import type { z } from 'zod'

type Params = Parameters<z.ZodType['safeParse']>[1]

/**
 * The result of `safeParse`. Zod 4.6 compares the `length` of any value in place of a bounded string or list, and
 * throws if it cannot be compared: `{"length": {"valueOf": 1, "toString": 1}}`. Such a length is then removed, because
 * the real fault of the value is its type.
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

/** Recursive. The scan or the parser of the body has bounded the depth. */
function withoutOddLengths(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutOddLengths)
  const kept = Object.entries(value).filter(([name, inner]) => name !== 'length' || typeof inner !== 'object')
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutOddLengths(inner)]))
}
