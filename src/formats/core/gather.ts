import type { Fields } from './fields.ts'

/**
 * No real answer has so many names in one object. A vendor that sends new names with each event could go on forever.
 */
const NAMES_MAX = 1_024

/** Adds fields to those that the stream has brought. The last value of a name wins. Names beyond 1,024 are left out. */
export function gather(target: { [name: string]: unknown }, fields: Fields): void {
  let room = NAMES_MAX - Object.keys(target).length
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(target, name)) target[name] = value
    else if (room > 0) {
      target[name] = value
      room--
    }
  }
}

/** The fields that have a value. */
export const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null))
