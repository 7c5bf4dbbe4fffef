/** Reading the search part of an address: whatever does not fit is as if it were not there. */
import { secretIn } from './secrets.ts'

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

/** Texts as they are: `month=2026-11`, without quotes. What is more than a text goes in brackets, as JSON. */
export function readAddress(search: string): Record<string, unknown> {
  const fields = [...new URLSearchParams(search)].filter(([name, value]) => !isSecret(name, value))
  return Object.fromEntries(fields.map(([name, value]) => [name, valueOf(value)]))
}

/** A secret that is searched for, put into the address by hand: it is as if it were not there. */
const isSecret = (name: string, value: string): boolean => name === 'q' && secretIn(value) !== undefined

/** The same address without a secret that is searched for; undefined: it has none. */
export function withoutSecret(address: string): string | undefined {
  const url = new URL(address)
  if (!isSecret('q', url.searchParams.get('q') ?? '')) return undefined
  url.searchParams.delete('q')
  return url.href
}

function valueOf(text: string): unknown {
  // Addresses of before had their numbers, dates and ids in quotes: they lead where they led.
  if (!/^(?:\{.*\}|".*")$/s.test(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export function writeAddress(search: Record<string, unknown>): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null) continue
    const isPlain = typeof value === 'number' || (typeof value === 'string' && valueOf(value) === value)
    written.set(name, isPlain ? String(value) : JSON.stringify(value))
  }
  const text = written.toString()
  return text === '' ? '' : `?${text}`
}
