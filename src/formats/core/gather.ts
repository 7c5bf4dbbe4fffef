import type { Fields } from './fields.ts'

/** No answer has so many names at one place; a vendor that sends new ones with each event could go on for ever. */
const NAMES_MAX = 1_024

/** Adds fields to those that a stream has brought: of a name, what came last. Those beyond 1,024 are left out. */
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

/** The fields that say something. */
export const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null))
