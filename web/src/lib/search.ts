/** Reads the query of a URL. Invalid values are ignored. */
import { secretIn } from './secrets.ts'

type Raw = Readonly<Record<string, unknown>>

export const textOf = (raw: Raw, name: string): string | undefined => {
  const value = raw[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined
}

export const oneOf = <const V extends string>(raw: Raw, name: string, values: readonly V[]): V | undefined =>
  values.find((value) => value === raw[name])

/** Absent values are left out, so that the URL stays short. */
export function only<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/** Text is written without quotes: `month=2026-11`. Other values are JSON. */
export function readAddress(search: string): Record<string, unknown> {
  const fields = [...new URLSearchParams(search)].filter(([name, value]) => !isSecret(name, value))
  return Object.fromEntries(fields.map(([name, value]) => [name, valueOf(value)]))
}

/** A secret that somebody put into the URL by hand is ignored. */
const isSecret = (name: string, value: string): boolean => name === 'q' && secretIn(value) !== undefined

/** The URL without a secret in its search. Undefined: it has no secret. */
export function withoutSecret(address: string): string | undefined {
  const url = new URL(address)
  if (!isSecret('q', url.searchParams.get('q') ?? '')) return undefined
  url.searchParams.delete('q')
  return url.href
}

function valueOf(text: string): unknown {
  // Older URLs have numbers, dates and ids in quotes. They still work.
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
