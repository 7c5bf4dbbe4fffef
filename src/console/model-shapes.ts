/** Models as the console shows them to customers, and without a sign-in. */
import { z } from 'zod'
import { modelKinds, type Model } from '../domain/catalog.ts'
import { basisOf, basisShape, cardShape, cardView } from './price-view.ts'
import { isServing } from '../admin/explain.ts'
import { imageFactsShape, imageFactsView, videoFactsShape, videoFactsView, withoutUpscaler } from './model-facts.ts'
import { finder, isoTime, pageQuery, searchText, time } from './shapes.ts'

export const factsShape = {
  id: z.string(),
  aliases: z.array(z.string()).meta({ description: 'other names that clients may send' }),
  kind: z.enum(modelKinds),
  owned_by: z.string(),
  context_tokens: z.int().nullable(),
  output_tokens_max: z.int().nullable(),
  dimensions: z.int().nullable(),
  dimensions_adjustable: z.boolean(),
  takes_media: z.boolean(),
  takes_pictures: z.boolean(),
  image: imageFactsShape.nullable().meta({ description: 'capabilities of an image model' }),
  video: videoFactsShape.nullable().meta({ description: 'capabilities of a video model' }),
  price: cardShape,
  created_at: time,
}
export const publicShape = z
  .strictObject({
    ...factsShape,
    available: z.boolean().meta({ description: 'whether a provider offers it at the moment' }),
    price_basis: basisShape,
    price_factor: z.string().nullable().meta({ description: 'the factor of the account' }),
  })
  .meta({ id: 'Model' })

export const factsView = (model: Model) => ({
  id: model.id,
  aliases: [...(model.aliases ?? [])],
  kind: model.kind,
  owned_by: model.ownedBy,
  context_tokens: model.limits.contextTokens ?? null,
  output_tokens_max: model.limits.outputTokensMax ?? null,
  dimensions: model.limits.dimensions ?? null,
  dimensions_adjustable: model.limits.dimensionsAdjustable,
  takes_media: model.limits.mediaInput === 'taken',
  takes_pictures: model.limits.pictureInput === 'taken',
  image: model.kind === 'image' ? imageFactsView(model.limits.image) : null,
  video: model.kind === 'video' ? videoFactsView(model.limits.video) : null,
  price: cardView(model.sale),
  created_at: isoTime(model.createdAtMs),
})

/** A model as customers see it. */
export function publicView(model: Model): z.infer<typeof publicShape> {
  const { video, ...facts } = factsView(model)
  const { basis, factor } = basisOf(model.sale)
  return {
    ...facts,
    video: video && withoutUpscaler(video),
    available: model.offers.some(isServing),
    price_basis: basis,
    price_factor: factor,
  }
}

/** A model without a sign-in: what it is and its prices. It hides `owned_by`, which can be the name of a vendor. */
export const catalogShape = publicShape
  .omit({ owned_by: true, created_at: true, price_basis: true, price_factor: true })
  .meta({ id: 'PublicModel' })

export function catalogView(model: Model): z.infer<typeof catalogShape> {
  const { owned_by: _, created_at: __, price_basis: ___, price_factor: ____, ...shown } = publicView(model)
  return shown
}

export const modelQuery = z.strictObject({
  ...pageQuery,
  q: searchText.meta({ description: 'part of the id or of an alias' }),
  kind: z.enum(modelKinds).optional(),
})

/** Makes a filter of models from the query. */
export function sought({ q, kind }: Partial<z.infer<typeof modelQuery>>): (model: Model) => boolean {
  const isFound = finder(q)
  return (model) => (kind === undefined || model.kind === kind) && isFound([model.id, ...(model.aliases ?? [])])
}
