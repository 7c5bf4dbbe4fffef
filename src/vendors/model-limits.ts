/** How an operator says what a model can do and within which bounds, in tollgate.yaml and elsewhere. */
import { z } from 'zod'
import { defaultModelLimits, type ModelLimits } from '../domain/catalog.ts'
import { imageDeclaration, imageFactsOf } from './image-facts.ts'
import { videoDeclaration, videoFactsOf } from './video-facts.ts'

const count = z.int().min(1)

export const modelLimitFields = {
  /** What may be asked of an image model: a family's facts, and where this model differs from them. */
  image: imageDeclaration.optional(),
  /** The same of a video model. */
  video: videoDeclaration.optional(),
  /** Of an embedding model. */
  dimensions: count.optional(),
  dimensions_adjustable: z.boolean().optional(),
  context_tokens: count.optional(),
  output_tokens_max: count.optional(),
  output_tokens_default: count.optional(),
  output_tokens_min: count.optional(),
  /** Whether it bills reasoning that it does not send: an answer is held for whole, or given a limit. */
  hidden_reasoning: z.boolean().optional(),
  image_tokens_max: count.optional(),
  /** `false`: a text model that looks at none; a request with one is refused before it costs anything. */
  pictures: z.boolean().optional(),
  first_event_timeout_ms: count.optional(),
}

type Fields = typeof modelLimitFields
type Changes = { readonly [Name in keyof Fields]: z.ZodNullable<Fields[Name]> }

/** The same where a model is changed: what is left out stays, null takes back what was said. */
export const modelLimitChanges = Object.fromEntries(
  Object.entries(modelLimitFields).map(([name, field]) => [
    name,
    field.nullable().meta({ description: 'left out: as before; null: as if it had never been said' }),
  ]),
) as Changes
const changes = z.object(modelLimitChanges)

/** Only what is said; what is taken back is as if it had never been. */
export function modelLimitsOf(declared: z.infer<typeof changes>): Partial<ModelLimits> {
  const { pictures } = declared
  const stated: { readonly [Name in keyof ModelLimits]?: ModelLimits[Name] | null | undefined } = {
    outputTokensMax: declared.output_tokens_max,
    outputTokensDefault: declared.output_tokens_default,
    outputTokensMin: declared.output_tokens_min,
    hidesReasoning: declared.hidden_reasoning,
    imageTokensMax: declared.image_tokens_max,
    pictureInput: typeof pictures === 'boolean' ? (pictures ? 'taken' : 'refused') : pictures,
    firstEventTimeoutMs: declared.first_event_timeout_ms,
    contextTokens: declared.context_tokens,
    image: declared.image && imageFactsOf(declared.image),
    video: declared.video && videoFactsOf(declared.video),
    dimensions: declared.dimensions,
    dimensionsAdjustable: declared.dimensions_adjustable,
  }
  return Object.fromEntries(
    Object.entries(stated).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value ?? defaultModelLimits[name as keyof ModelLimits]]],
    ),
  )
}
