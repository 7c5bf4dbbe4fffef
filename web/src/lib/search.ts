/** Reading the search part of an address: whatever does not fit is as if it were not there. */
type Raw = Readonly<Record<string, unknown>>

export const textOf = (raw: Raw, name: string): string | undefined => {
  const value = raw[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined
}

export const oneOf = <const V extends string>(raw: Raw, name: string, values: readonly V[]): V | undefined =>
  values.find((value) => value === raw[name])

/** Only what is there, so that the address stays short. */
export function only<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
