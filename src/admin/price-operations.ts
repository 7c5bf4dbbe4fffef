/** Prices: current and past price cards, and the import of vendors' list prices. */
import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import { planImport, type Change, type Difference, type ImportPlan, type ImportRequest } from '../prices/import-plan.ts'
import { formatMarkUp, parseMarkUp, type MarkUp } from '../prices/mark-up.ts'
import { priceList } from '../prices/price-list.ts'
import { withinBound } from '../prices/within-bound.ts'
import { fetchList } from './fetched-list.ts'
import { conflict, done, notFound, operation, type Operation, type Result } from './operation.ts'
import { importEffects } from './import-effects.ts'
import { priceView } from './price-view.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'

const markUp = z.string().transform((text, context) => {
  const by = parseMarkUp(text)
  if (by !== undefined) return by
  context.addIssue({ code: 'custom', message: operationRules.percentage })
  return z.NEVER
})

const differenceView = ({ what, about, before, after }: Difference): object => ({
  what,
  about: {
    kind: about.kind,
    name: about.name,
    offer: about.offer ?? null,
    above_input_tokens: about.aboveInputTokens ?? null,
  },
  before: before ?? null,
  after,
})

const changeView = ({ kind, draft, differences }: Change): object => ({
  model: draft.id,
  kind,
  differences: differences.map(differenceView),
})

/**
 * Identifies an approved plan. A later plan that would do anything else has another fingerprint. The list is fetched
 * again for the approval, so whoever serves it must not find two plans with one fingerprint.
 */
function fingerprintOf({ changes }: ImportPlan, by: MarkUp): string {
  const all = changes.map((change) => [changeView(change), change.draft.kind, change.draft.ownedBy])
  const text = JSON.stringify([formatMarkUp(by), all])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

function plan(
  catalog: Catalog,
  wanted: Pick<ImportRequest, 'selected' | 'patterns' | 'prefix' | 'by' | 'list'>,
): ImportPlan {
  const models = new Map(catalog.models().map((model) => [model.id, model]))
  const aliases = new Set(catalog.aliases().map(({ id }) => id))
  return planImport({ models, aliases, providers: catalog.providers(), ...wanted, atMs: Date.now() })
}

const priceImport = operation(
  z.strictObject({
    /** Left out: every provider whose vendor is in the list. */
    provider: z.string().optional(),
    /** The vendor's ids, with `*` for any characters. Left out: all. */
    models: z.array(z.string().min(1)).default([]),
    /** The public ids are the vendor's behind this, such as `openai/`. Left out: they are the vendor's. */
    prefix: z
      .string()
      .regex(/^\w[\w.:@-]{0,62}\/$/, operationRules.prefix)
      .optional(),
    /** Left out: TOLLGATE_MARKUP. */
    markup: markUp.optional(),
    /** The address or, by command, the absolute path of a list of the operator's. Left out: the list in the program. */
    from: z.string().min(1).max(2_000).optional(),
    /** Whether the address may be on this machine or its networks. */
    allow_private: z.boolean().default(false),
    /** Changes of more than this share, new models, and new or lost prices are left out. Left out: all changes. */
    within: markUp.optional(),
    /** The fingerprint of the plan that was approved. Left out: nothing is changed. */
    approved: z.string().optional(),
  }),
  async (
    { catalog, accounts, markUp: usual },
    { provider, models: patterns, prefix, markup, from, allow_private: allowsPrivate, within, approved },
    actor,
  ): Promise<Result> => {
    const selected = catalog
      .providers()
      .filter(({ id, preset }) => (provider === undefined ? preset !== 'sandbox' : id === provider))
    if (provider !== undefined && selected.length === 0) return notFound('provider', provider)
    const by = markup ?? usual
    const reach = allowsPrivate ? 'private' : 'public'
    const read = from === undefined ? undefined : await fetchList({ from, reach }, actor)
    if (read && 'ok' in read) return read
    // The catalogue that was planned for is the one that is changed.
    const { planned, held, fingerprint } = await catalog.inTurn(async () => {
      const found = plan(catalog, { selected, patterns, prefix, by, list: read })
      const bounded = within === undefined ? { plan: found, held: [] } : withinBound(found, within)
      const now = fingerprintOf(bounded.plan, by)
      if (approved === now) await catalog.putModels(bounded.plan.changes.map(({ draft }) => draft))
      return { planned: bounded.plan, held: bounded.held, fingerprint: now }
    })
    if (approved !== undefined && approved !== fingerprint) return conflict(sayRefusal('import_stale'))
    const effects = await importEffects(catalog, accounts.list(), planned.changes)
    return done({
      source: (read ?? priceList()).source,
      markup: formatMarkUp(by),
      changes: planned.changes.map(changeView),
      unchanged: planned.unchanged.length,
      skipped: planned.skipped,
      changing: planned.changing,
      /** Models whose changes are not within the bound. */
      held,
      /** Cards of accounts that stay as they are, and factors that would sell below cost. */
      account_prices: effects,
      fingerprint,
      applied: approved !== undefined,
    })
  },
  { subject: ({ provider = 'all providers', approved }) => (approved === undefined ? undefined : provider) },
)

/** The price cards in force, or all cards that one model ever had. */
const list = operation(z.strictObject({ model: z.string().optional() }), async ({ catalog }, { model }) => {
  if (model === undefined) {
    return done(
      catalog.models().flatMap(({ id, sale, offers }) => [
        { model: id, of: 'sale', ...priceView(sale) },
        ...offers.map((offer) => ({
          model: id,
          of: `${offer.providerId}/${offer.upstreamModel}`,
          ...priceView(offer.cost),
        })),
      ]),
    )
  }
  const cards = await catalog.priceHistory(model)
  if (cards.length === 0) return notFound('model', model)
  const ownerOf = (offerId: string): string => offerId.slice(model.length + 1)
  return done(
    cards.map(({ subject, subjectId, card }) => ({
      model,
      of: subject === 'model' ? 'sale' : ownerOf(subjectId),
      ...priceView(card),
    })),
  )
})

export const priceOperations: Readonly<Record<string, Operation>> = { 'price.import': priceImport, 'price.list': list }
