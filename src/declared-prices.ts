/** Prices in `tollgate.yaml`: of models, of offers and of accounts. */
import { z } from 'zod'
import { strict } from './declaration-shape.ts'
import { saleOfKind, type ModelDraft, type ModelKind } from './domain/catalog.ts'
import { parseUsd, type NanoUsd } from './domain/money.ts'
import { parseFactor } from './domain/price-factor.ts'
import { PIECE_PRICE_MAX, unitPrices, type PriceFactor, type PriceTier, type UnitPrices } from './domain/price.ts'
import { problemOfDeclared } from './prices/stated-prices.ts'

const dollars = (most: NanoUsd | undefined, message: string) =>
  z.union([z.number(), z.string()]).transform((value, context) => {
    const amount = parseUsd(String(value))
    if (amount !== undefined && amount >= 0n && (most === undefined || amount <= most)) return amount
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

export const declaredUsd = dollars(undefined, 'must be dollars, such as 0.15, with at most nine decimals')
const pieceUsd = dollars(PIECE_PRICE_MAX, 'must be dollars for one piece, such as 0.04, and at most 9000')

const units = strict({
  /** The price of tokens. Something that is sold by the piece has `each` instead. */
  input: declaredUsd.optional(),
  /** Required if there is output. An embedding has none. */
  output: declaredUsd.optional(),
  cached_input: declaredUsd.optional(),
  cache_write: declaredUsd.optional(),
  cache_write_1h: declaredUsd.optional(),
  reasoning: declaredUsd.optional(),
  image_input: declaredUsd.optional(),
  image_output: declaredUsd.optional(),
  each: z.record(z.string().regex(/^[a-z]+(?:\/[\w.-]+)*$/), pieceUsd).optional(),
})

export const declaredPrice = strict({
  ...units.shape,
  /** Prices by a number of input tokens. They apply to all tokens of a longer request. */
  above: z.record(z.string().regex(/^[1-9]\d{0,8}$/, 'must be a number of input tokens'), units).optional(),
})

const pricesOf = (stated: z.infer<typeof units>): UnitPrices =>
  unitPrices({
    input: stated.input ?? 0n,
    output: stated.output ?? 0n,
    cachedInput: stated.cached_input,
    cacheWrite: stated.cache_write,
    cacheWrite1h: stated.cache_write_1h,
    reasoning: stated.reasoning,
    imageInput: stated.image_input,
    imageOutput: stated.image_output,
    each: stated.each,
  })

/** The factor of an account. */
export const declaredFactor = z.union([z.number(), z.string()]).transform((value, context) => {
  const read = parseFactor(String(value))
  if (read !== undefined) return read
  context.addIssue({
    code: 'custom',
    message: 'must be above 0 and at most 100, with at most six decimals, such as 0.9',
  })
  return z.NEVER
})

export type StatedCard = z.infer<typeof declaredPrice>
export type CardPrices = { readonly units: UnitPrices; readonly tiers: readonly PriceTier[] }
export type FailAt = (path: readonly PropertyKey[], message: string) => never
type Place = { readonly path: readonly PropertyKey[]; readonly fail: FailAt }
type SoldAs = { readonly kind: ModelKind; readonly paintsInTurn: boolean }

/** The prices of a card. It fails if such a model could not be sold at them. */
export function cardOf(stated: StatedCard, sold: SoldAs, { path, fail }: Place): CardPrices {
  const unitsOf = (part: z.infer<typeof units>, at: readonly PropertyKey[]): UnitPrices => {
    const problem = problemOfDeclared(part, { ...sold, ...saleOfKind(sold.kind) })
    if (problem !== undefined) fail(at, problem)
    return pricesOf(part)
  }
  return {
    units: unitsOf(stated, path),
    tiers: Object.entries(stated.above ?? {})
      .map(([tokens, tier]) => ({
        aboveInputTokens: Number(tokens),
        nanoPerMillion: unitsOf(tier, [...path, 'above', tokens]),
      }))
      .toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens),
  }
}

/** What an account pays: a factor of the price of one model or of all, or a card of its own for one model. */
export type DeclaredAccountPrice = {
  /** Undefined: every model that is not named. */
  readonly modelId: string | undefined
  readonly value:
    | { readonly kind: 'factor'; readonly factor: PriceFactor }
    | ({ readonly kind: 'card'; readonly soldAs: ModelKind } & CardPrices)
}

type StatedPrices = {
  readonly price_factor?: PriceFactor | undefined
  readonly prices: Readonly<Record<string, StatedCard & { readonly factor?: PriceFactor | undefined }>>
}

type DeclaredNames = {
  readonly models: readonly ModelDraft[]
  readonly aliases: Readonly<Record<string, string>>
}

/**
 * A card needs a model of the file, because the kind of the model decides what its prices must not lack. A price may
 * name its model by an alias of the file.
 */
export function accountPricesOf(
  { price_factor: general, prices }: StatedPrices,
  { models, aliases }: DeclaredNames,
  { path, fail }: Place,
): readonly DeclaredAccountPrice[] {
  const named = new Set<string>()
  const own = Object.entries(prices).map(([name, { factor: share, ...stated }]): DeclaredAccountPrice => {
    const at = [...path, 'prices', name]
    const modelId = Object.hasOwn(aliases, name) ? (aliases[name] as string) : name
    if (modelId.endsWith('/*')) return fail(at, 'a price is for one model, by its id or an alias')
    if (named.has(modelId)) return fail(at, `there are two prices for the model '${modelId}'`)
    named.add(modelId)
    const isCard = Object.values(stated).some((value) => value !== undefined)
    if (share !== undefined && isCard) return fail(at, 'a factor and prices exclude each other')
    if (share !== undefined) return { modelId, value: { kind: 'factor', factor: share } }
    const model = models.find(({ id }) => id === modelId)
    if (!model)
      return fail(at, `the file declares no model '${modelId}', so only a factor of its price can be declared`)
    const { kind = 'text', limits } = model
    const isTurn = kind === 'image' && limits.image?.surface === 'turn'
    const card = cardOf(stated, { kind, paintsInTurn: isTurn }, { path: at, fail })
    return { modelId, value: { kind: 'card', soldAs: kind, ...card } }
  })
  if (general === undefined) return own
  return [{ modelId: undefined, value: { kind: 'factor', factor: general } }, ...own]
}
