/** Merges rows that arrive live into the list: in order, without a gap, and bounded. */
import type { RequestRow } from '../../lib/api-types.gen.ts'

/** New rows, newest first. Below `floor` some may be missing. Null: none is missing. */
export type ArrivedRequests = {
  readonly rows: readonly RequestRow[]
  readonly floor: string | null
  /** The number of new rows, including those that were left out. */
  readonly count: number
}

/** The loaded part of a list. Below `floor` there may be more rows. Null: there are none. */
export type RequestList = { readonly rows: readonly RequestRow[]; readonly floor: string | null }

export const nothing: ArrivedRequests = { rows: [], floor: null, count: 0 }

/** The bounds of the waiting rows and of a list to which rows are added. */
export const HELD_MAX = 200
export const LISTED_MAX = 1_000

const higher = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b > a) ? b : a)

/** Both lists, newest first, with each request once. */
function joined(first: readonly RequestRow[], second: readonly RequestRow[]): RequestRow[] {
  const byId = new Map([...first, ...second].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}

function atMost(rows: readonly RequestRow[], max: number, floor: string | null): RequestList {
  const kept = rows.slice(0, max)
  return { rows: kept, floor: kept.length < rows.length ? higher(floor, kept.at(-1)?.id ?? null) : floor }
}

/** The older rows and the newer rows as one. */
export function together(first: ArrivedRequests, second: ArrivedRequests): ArrivedRequests {
  const floor = higher(first.floor, second.floor)
  return {
    ...atMost(aboveFloor(joined(first.rows, second.rows), floor), HELD_MAX, floor),
    count: first.count + second.count,
  }
}

/** Rows below the floor are loaded again on demand, because a list with a gap would be wrong. */
export function merged(list: RequestList, { rows, floor }: ArrivedRequests): RequestList {
  const whole = higher(list.floor, floor)
  return atMost(aboveFloor(joined(list.rows, rows), whole), LISTED_MAX, whole)
}

const aboveFloor = (rows: readonly RequestRow[], floor: string | null): readonly RequestRow[] =>
  floor === null ? rows : rows.filter(({ id }) => id >= floor)
