/** How rows that arrive by themselves get into the list: in its order, without a hole, and bounded. */
import type { RequestRow } from '../../lib/api-types.gen.ts'

/** Rows that came, newest first. Below `floor` some may be missing; null: none is. */
export type ArrivedRequests = {
  readonly rows: readonly RequestRow[]
  readonly floor: string | null
  /** How many came, those included that are not among the rows. */
  readonly count: number
}

/** A list as far as it is read; below `floor` there may be more, null: there is none. */
export type RequestList = { readonly rows: readonly RequestRow[]; readonly floor: string | null }

export const nothing: ArrivedRequests = { rows: [], floor: null, count: 0 }

/** Rows that are held back until somebody asks for them, and rows that a list keeps while more come in above. */
export const HELD_MAX = 200
export const LISTED_MAX = 1_000

const higher = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b > a) ? b : a)

/** Both, each request once, newest first. */
function joined(first: readonly RequestRow[], second: readonly RequestRow[]): RequestRow[] {
  const byId = new Map([...first, ...second].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}

function atMost(rows: readonly RequestRow[], max: number, floor: string | null): RequestList {
  const kept = rows.slice(0, max)
  return { rows: kept, floor: kept.length < rows.length ? higher(floor, kept.at(-1)?.id ?? null) : floor }
}

/** What came first and what came after it. */
export function together(first: ArrivedRequests, second: ArrivedRequests): ArrivedRequests {
  const floor = higher(first.floor, second.floor)
  return {
    ...atMost(aboveFloor(joined(first.rows, second.rows), floor), HELD_MAX, floor),
    count: first.count + second.count,
  }
}

/** Rows below the floor are read again when somebody gets there: with a hole among them they would be a lie. */
export function merged(list: RequestList, { rows, floor }: ArrivedRequests): RequestList {
  const whole = higher(list.floor, floor)
  return atMost(aboveFloor(joined(list.rows, rows), whole), LISTED_MAX, whole)
}

const aboveFloor = (rows: readonly RequestRow[], floor: string | null): readonly RequestRow[] =>
  floor === null ? rows : rows.filter(({ id }) => id >= floor)
