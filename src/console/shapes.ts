/** Shapes that many routes share. */
import { z } from 'zod'
import { operationRules } from '../admin/rules.ts'

/** An amount on its way out. */
export const nano = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: 'nano-USD (1e-9 dollars), an integer as text' })
/** The store's integers end here. */
const INT64_MAX = 2n ** 63n - 1n

/** An amount on its way in: never negative. */
export const nanoInput = z
  .string()
  .regex(/^\d{1,19}$/, operationRules.nano_usd)
  .transform((text, context) => {
    const amount = BigInt(text)
    if (amount <= INT64_MAX) return amount
    context.addIssue({ code: 'custom', message: operationRules.nano_usd_max })
    return z.NEVER
  })
/** The models that may be used: of a size that the audit log can keep, too. */
export const modelIds = z.array(z.string().min(1).max(200)).min(1).max(1_000)
export const time = z.iso.datetime()

const TIMES_END = Date.UTC(9999)
/** A moment on its way in, at any offset: what is made of it is still a year of four digits. */
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
  z.strictObject({ data: z.array(item).meta({ description: 'all there are: this list has no pages' }) })

/** What has to be found in a list: never a secret, because what is in an address is kept in histories and logs. */
export const searchText = z
  .string()
  .max(200)
  .refine((text) => !holdsSecret(text), operationRules.secret_in_address)
  .optional()
/** A list that can be counted. */
export const listShapeOf = (item: z.ZodType) =>
  pageOf(item).extend({ total: z.int().meta({ description: 'how many fit, on all pages' }) })

const SECRETS = [/(?:sk|mk)-tg-\w{8,}/i, /setup_\w{20,}/i, /\btg(?:-[0-9a-z]{5}){4}\b/i]

/** Whether a text has a key, a one-time link or a code of ours in it, or most of one. */
const holdsSecret = (text: string): boolean => SECRETS.some((shape) => shape.test(text))

type PageQuery = { readonly limit: number; readonly cursor?: string | undefined }

export type PageShape<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }
export type List<T> = PageShape<T> & { readonly total: number }

type WithId = { readonly id: string }
type ListOrder<T> = {
  /** `newest`: by ids that grow with time, the last first. */
  readonly order: 'named' | 'newest'
  /** Whether it comes after all others, as what is over does. */
  readonly isLast?: (item: T) => boolean
}

/** A page of a list in memory, and how long the list is. */
export function pageIn<T extends WithId, V>(
  items: readonly T[],
  { limit, cursor }: PageQuery,
  view: (item: T) => V,
  { order, isLast = () => false }: ListOrder<T>,
): List<V> {
  // The cursor says itself where its item stood: that item may be gone by now, or may have come to stand elsewhere.
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

/** Of an id: fewer of its random letters are in too many others. */
const ID_LETTERS_MIN = 6

/**
 * Whether something fits the text of a search: one of its names has the text in it, whatever the case, or its id has,
 * where the text is long enough. Without a text everything fits.
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
