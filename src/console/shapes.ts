/** Shapes that many routes share. */
import { z } from 'zod'
import { rules } from '../admin/rules.ts'

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
  .regex(/^\d{1,19}$/, rules.nano_usd)
  .transform((text, context) => {
    const amount = BigInt(text)
    if (amount <= INT64_MAX) return amount
    context.addIssue({ code: 'custom', message: rules.nano_usd_max })
    return z.NEVER
  })
/** The models that may be used: of a size that the audit log can keep, too. */
export const modelIds = z.array(z.string().min(1).max(200)).min(1).max(1_000)
export const time = z.iso.datetime()

const TIMES_END = Date.UTC(9999)
/** A moment on its way in, at any offset: what is made of it is still a year of four digits. */
export const timeInput = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < TIMES_END, rules.year)
export const origin = z.enum(['declared', 'stored', 'environment'])

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
}
export const pageOf = (item: z.ZodType) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'null: this is the last page' }),
  })

type Paging = { readonly limit: number; readonly cursor?: string | undefined }

export type Page<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }

/** A page of a list in memory, in the order of the ids of its items, as they are seen. */
export function pageIn<T extends { readonly id: string }, V>(
  items: readonly T[],
  { limit, cursor }: Paging,
  view: (item: T) => V,
): Page<V> {
  const left = items.filter(({ id }) => cursor === undefined || id > cursor).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const data = left.slice(0, limit)
  return { data: data.map(view), next_cursor: left.length > limit ? (data.at(-1)?.id ?? null) : null }
}

export const isoTime = (ms: number): string => new Date(ms).toISOString()
export const isoTimeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms))
