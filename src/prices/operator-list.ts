/**
 * A price list of the operator's own, in the format of `price-list.json`. It is checked whole, because nobody may look
 * at it before it is applied: no price of it is zero or missing.
 */
import { z } from 'zod'
import { parseUsd } from '../domain/money.ts'
import { imageFamilyNames } from '../vendors/image-families.ts'
import type { PriceList } from './price-list.ts'

/** A million dollars per million tokens. Also with a mark-up of 9999 % it fits into the 64 bits of the store. */
const PRICE_MAX = 1_000_000_000_000_000n

const dollars = z.string().refine((text) => {
  const price = parseUsd(text) ?? 0n
  return price > 0n && price <= PRICE_MAX
}, 'must be dollars per million tokens, above zero and at most 1000000, as text: "0.15"')

const units = {
  input: dollars,
  output: dollars.optional(),
  cached: dollars.optional(),
  write: dollars.optional(),
  write1h: dollars.optional(),
  imageInput: dollars.optional(),
  imageOutput: dollars.optional(),
}
const tokens = z.int().min(1).max(1_000_000_000)
/** Every request of a model reads its tiers. No vendor has more than a few tiers or dates. */
const STEPS_MAX = 20
const prices = z.strictObject({
  ...units,
  from: z.iso.date().optional(),
  above: z
    .array(z.strictObject({ ...units, tokens }))
    .max(STEPS_MAX)
    .optional(),
})

/** Whether no two of these have the same value. Only one of two prices for the same requests could be charged. */
const areDistinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length

const model = z
  .strictObject({
    kind: z.enum(['embedding', 'image']).optional(),
    family: z.enum(imageFamilyNames).optional(),
    dimensions: tokens.optional(),
    adjustable: z.boolean().optional(),
    context: tokens.optional(),
    output: tokens.optional(),
    reasoning: z.literal('hidden').optional(),
    media: z.literal('refused').optional(),
    prices: z.array(prices).min(1).max(STEPS_MAX),
  })
  .refine(
    ({ kind, prices: all }) =>
      kind === 'embedding' ||
      all.every(({ output, above = [] }) => output !== undefined && above.every((tier) => tier.output !== undefined)),
    'needs a price of output in all of its prices',
  )
  .refine(({ prices: all }) => areDistinct(all.map(({ from }) => from)), 'has two prices from the same day')
  .refine(
    ({ prices: all }) => all.every(({ above = [] }) => areDistinct(above.map(({ tokens: bound }) => bound))),
    'has two prices above the same number of tokens',
  )

/** The list in the program has 181. To plan the import of so many takes the serving thread 100 ms. */
const MODELS_MAX = 1_000

const modelsIn = (vendors: Readonly<Record<string, { readonly models: object }>>): number =>
  Object.values(vendors).reduce((sum, { models }) => sum + Object.keys(models).length, 0)

const list = z
  .strictObject({
    /** It is shown above the plan, so it has no line ends and nothing else that could change what is shown. */
    version: z
      .string()
      .regex(/^[\w.+ -]{0,100}$/)
      .optional(),
    released: z.iso.date().optional(),
    vendors: z.record(
      z.string().regex(/^[\w.-]{1,100}$/, 'must be a vendor'),
      z.strictObject({
        upstreamPrefix: z
          .string()
          .regex(/^[\w@][\w.:/@-]{0,99}$/)
          .optional(),
        models: z.record(z.string().regex(/^[\w@][\w.:/@-]{0,199}$/, 'must be a model id'), model),
      }),
    ),
  })
  .refine(({ vendors }) => modelsIn(vendors) <= MODELS_MAX, `may have at most ${MODELS_MAX} models`)

/** The list, or the reason why it cannot be used. `from` is its place, for people. */
export function readOperatorList(text: string, from: string): PriceList | { readonly problem: string } {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { problem: 'it is not JSON' }
  }
  const read = list.safeParse(parsed)
  if (!read.success) {
    const [issue] = read.error.issues
    return { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}` }
  }
  const { version = '', released = 'now', vendors } = read.data
  return {
    source: { package: from, version, released, licence: '', home: from },
    tokens: {},
    unlisted: {},
    vendors: Object.fromEntries(
      Object.entries(vendors).map(([preset, vendor]) => [
        preset,
        {
          ...vendor,
          leftOut: {},
          models: Object.fromEntries(Object.entries(vendor.models).map(([id, one]) => [id, byDate(one)])),
        },
      ]),
    ) as PriceList['vendors'],
  }
}

/** The prices of a model are read by date, and its tiers by size. */
const byDate = (one: z.infer<typeof model>): z.infer<typeof model> => ({
  ...one,
  prices: one.prices
    .map(({ above, ...rest }) => ({ ...rest, ...(above && { above: above.toSorted((a, b) => a.tokens - b.tokens) }) }))
    .toSorted((a, b) => ((a.from ?? '') < (b.from ?? '') ? -1 : 1)),
})
