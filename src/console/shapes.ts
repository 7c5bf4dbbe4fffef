/** Shapes that many routes share. */
import { z } from 'zod'
import { operationRules } from '../admin/rules.ts'

/** An amount in an answer. */
export const nano = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: 'nano-USD (1e-9 dollars), an integer as text' })
/** The largest integer of the store. */
const INT64_MAX = 2n ** 63n - 1n

/** An amount in a request. It is never negative. */
export const nanoInput = z
  .string()
  .regex(/^\d{1,19}$/, operationRules.nano_usd)
  .transform((text, context) => {
    const amount = BigInt(text)
    if (amount <= INT64_MAX) return amount
    context.addIssue({ code: 'custom', message: operationRules.nano_usd_max })
    return z.NEVER
  })
/** The models that may be used. The list is short enough for the audit log. */
export const modelIds = z.array(z.string().min(1).max(200)).min(1).max(1_000)
export const time = z.iso.datetime()

const TIMES_END = Date.UTC(9999)
/** A time in a request, with any offset. Its year must have four digits in UTC. */
export const timeInput = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < TIMES_END, operationRules.year)
export const origin = z.enum(['declared', 'stored', 'environment']).meta({ id: 'Origin' })

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
}
export const pageOf = (item: z.ZodType) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'null: this is the last page' }),
  })

/** A list without pages. */
export const wholeOf = (item: z.ZodType) =>
  z.strictObject({ data: z.array(item).meta({ description: 'all items; this list has no pages' }) })

/** The text of a search in a list. Secrets are refused, because histories and logs keep addresses. */
export const searchText = z
  .string()
  .max(200)
  .refine((text) => !holdsSecret(text), operationRules.secret_in_address)
  .optional()
/** A list that can be counted. */
export const listShapeOf = (item: z.ZodType) =>
  pageOf(item).extend({ total: z.int().meta({ description: 'the number of matches on all pages' }) })

const SECRETS = [/(?:sk|mk)-tg-\w{8,}/i, /setup_\w{20,}/i, /\btg(?:-[0-9a-z]{5}){4}\b/i]

/** Whether a text contains a key, a one-time link or a code of this gateway, or most of one. */
const holdsSecret = (text: string): boolean => SECRETS.some((shape) => shape.test(text))

type PageQuery = { readonly limit: number; readonly cursor?: string | undefined }

export type PageShape<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }
export type List<T> = PageShape<T> & { readonly total: number }

type WithId = { readonly id: string }
type ListOrder<T> = {
  /** `newest`: by ids that grow with time, the newest first. */
  readonly order: 'named' | 'newest'
  /** Whether the item comes after all others, as revoked keys do. */
  readonly isLast?: (item: T) => boolean
}

/** A page of a list in memory, and the length of the list. */
export function pageIn<T extends WithId, V>(
  items: readonly T[],
  { limit, cursor }: PageQuery,
  view: (item: T) => V,
  { order, isLast = () => false }: ListOrder<T>,
): List<V> {
  // The cursor holds the place of its item, because the item may be gone or may have moved since.
  const placeOf = (item: T): string => `${isLast(item) ? 'z' : 'a'}${item.id}`
  const sign = order === 'newest' ? -1 : 1
  const compare = (a: string, b: string): number => {
    const group = a.charCodeAt(0) - b.charCodeAt(0)
    return group === 0 ? sign * (a < b ? -1 : a > b ? 1 : 0) : group
  }
  const places = items
    .map((item) => ({ item, place: placeOf(item) }))
    .filter(({ place }) => cursor === undefined || compare(place, cursor) > 0)
    .toSorted((a, b) => compare(a.place, b.place))
  const shown = places.slice(0, limit)
  const next = places.length > limit ? (shown.at(-1)?.place ?? null) : null
  return { data: shown.map(({ item }) => view(item)), next_cursor: next, total: items.length }
}

/** Letters of an id that a search needs. Fewer of its random letters would match too many ids. */
const ID_LETTERS_MIN = 6

/**
 * Makes the match of a search: a name contains the text in any case, or the id contains it and the text is long enough.
 * An empty text matches everything.
 */
export function finder(q: string | undefined): (names: readonly (string | undefined)[], id?: string) => boolean {
  const wanted = (q ?? '').trim().toLowerCase()
  return (names, id) =>
    wanted === '' ||
    names.some((name) => name?.toLowerCase().includes(wanted)) ||
    (wanted.length >= ID_LETTERS_MIN && id !== undefined && id.includes(wanted))
}

export const isoTime = (ms: number): string => new Date(ms).toISOString()
export const isoTimeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms))
