/** The filters of the list of requests. They are text in the URL and go to the API unchanged. */
import type { Query } from './api.ts'
import { nanoOf, typedDollars } from './money.ts'
import { ranges } from './ranges.ts'
import { only } from './search.ts'
import { HOUR_MS, MINUTE_MS } from './units.ts'

const names = ['range', 'from', 'to', 'outcome', 'model', 'key', 'endpoint', 'provider', 'min_cost', 'min_ms'] as const
export type RequestFilters = { readonly [Name in (typeof names)[number]]?: string }

export const filtersOf = (
  read: (name: string) => string | undefined,
): { [Name in (typeof names)[number]]: string | undefined } =>
  Object.fromEntries(names.map((name) => [name, read(name)])) as never

/** Filters as text and back. Equal filters give equal text. */
export const textOfFilters = (filters: RequestFilters): string =>
  new URLSearchParams(
    names.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]] as [string, string]])),
  ).toString()
export function filtersOfText(text: string): RequestFilters {
  const all = new URLSearchParams(text)
  return only(filtersOf((name) => all.get(name) ?? undefined))
}

const hours = { '24h': 24, '7d': 168, '30d': 720, '90d': 2160 } as const

/** Times are rounded to the minute, so that the same filters use the same cache entry for a while. */
export function queryOf(
  { range, from, to, min_cost: minCost, min_ms: minMs, ...same }: RequestFilters,
  nowMs: number,
): Query {
  const known = ranges.find((one) => one === range)
  const since = known && new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - hours[known] * HOUR_MS).toISOString()
  const dollars = minCost === undefined ? undefined : typedDollars(minCost)
  return {
    ...same,
    from: isoOf(from) ?? since,
    to: isoOf(to),
    charged_min_nano_usd: dollars && nanoOf(dollars).toString(),
    total_ms_min: minMs && /^\d{1,9}$/.test(minMs) ? minMs : undefined,
  }
}

function isoOf(text: string | undefined): string | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}
