/**
 * Limits that cannot be set. Each is declared where it is used, so that no list can forget it. `tollgate doctor` and
 * the console show the limits that the modules in src/fixed-limits.ts declare. tools/tidy.ts holds that list to the
 * code.
 */

/** `effect` says what happens at the limit. */
export type FixedLimit = { readonly value: number; readonly effect: string }

const declared = new Map<string, FixedLimit>()

/** Declares a limit and returns its value. The name ends in the unit; both are stable, because programs read them. */
export function limit(name: string, value: number, effect: string): number {
  if (declared.has(name)) throw new Error(`two limits are called ${name}`)
  declared.set(name, { value, effect })
  return value
}

/** The declared limits by name, in alphabetical order. */
export const declaredLimits = (): ReadonlyMap<string, FixedLimit> =>
  new Map([...declared].toSorted(([a], [b]) => (a < b ? -1 : 1)))
