/** The import of vendors' list prices: shown first, then applied. */
import { z } from 'zod'
import { answer, route, type ConsoleRoute } from './route.ts'

/** A change of list prices, in words for people and as data. */
const differenceShape = z
  .strictObject({
    what: z.string(),
    about: z
      .strictObject({
        kind: z.enum(['origin', 'sale', 'cost', 'limit']),
        name: z.string().meta({ description: 'name of a price unit or of a limit' }),
        offer: z.string().nullable().meta({ description: 'the offer of a cost: provider/model' }),
        above_input_tokens: z.int().nullable(),
      })
      .meta({ description: 'the subject as data' }),
    before: z.string().nullable(),
    after: z.string(),
  })
  .meta({ id: 'PriceDifference' })
const importShape = z
  .strictObject({
    source: z.unknown(),
    markup: z.string(),
    changes: z.array(
      z.strictObject({ model: z.string(), kind: z.enum(['new', 'changed']), differences: z.array(differenceShape) }),
    ),
    unchanged: z.int(),
    skipped: z.array(
      z.strictObject({
        what: z.string(),
        reason: z.string(),
        code: z.string().meta({ description: 'identifies the reason' }),
        facts: z
          .record(z.string(), z.union([z.string(), z.number()]))
          .meta({ description: 'the values in the reason' }),
      }),
    ),
    changing: z.array(z.strictObject({ model: z.string(), on: z.string() })),
    held: z.array(z.string()).meta({ description: 'models whose changes are not within the bound' }),
    account_prices: z
      .array(
        z.strictObject({
          model: z.string(),
          kind: z.enum(['factor', 'card']),
          factor: z.string().nullable(),
          accounts: z.array(z.string()).meta({ description: 'the names of the first few' }),
          accounts_total: z.int(),
          below_cost: z.array(
            z.strictObject({
              offer: z.string(),
              unit: z.string(),
              above_input_tokens: z.int().nullable(),
              sale_usd: z.string(),
              cost_usd: z.string(),
            }),
          ),
        }),
      )
      .meta({ description: 'cards of accounts that stay, and factors that would sell below cost' }),
    fingerprint: z.string(),
    applied: z.boolean(),
  })
  .meta({ id: 'PriceImport' })

export const importRoute: ConsoleRoute = route('POST', '/price-imports', {
  access: 'operator',
  summary: 'Show what an import of list prices would change. With the fingerprint of that answer, apply it.',
  body: z.strictObject({
    provider: z.string().optional(),
    models: z.array(z.string().min(1)).optional().meta({ description: 'ids, with * for any characters' }),
    prefix: z.string().optional().meta({
      description: 'the public ids are the vendor’s behind this, such as openai/; left out: they are the vendor’s',
    }),
    markup: z.string().optional().meta({ description: 'such as 20%' }),
    from: z.string().min(1).optional().meta({ description: 'the https address of a list of your own' }),
    within: z
      .string()
      .optional()
      .meta({ description: 'leave out models with a change of more than this, and new ones' }),
    approved: z.string().optional().meta({ description: 'the fingerprint' }),
  }),
  answer: importShape,
  run: async ({ operate, body }) => answer(await operate('price.import', body), (value) => value),
})
