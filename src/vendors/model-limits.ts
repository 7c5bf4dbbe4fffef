/** How an operator declares what a model can do, and its limits, in tollgate.yaml, the console and commands. */
import { z } from 'zod'
import { defaultModelLimits, type ModelLimits } from '../domain/catalog.ts'
import { imageDeclaration, imageFactsOf } from './image-facts.ts'
import { videoDeclaration, videoFactsOf } from './video-facts.ts'

const count = z.int().min(1)

export const modelLimitFields = {
  /** Of an image model: its family, and the facts in which it differs from the family. */
  image: imageDeclaration.optional(),
  /** Of a video model: the same. */
  video: videoDeclaration.optional(),
  /** Of an embedding model. */
  dimensions: count.optional(),
  dimensions_adjustable: z.boolean().optional(),
  context_tokens: count.optional(),
  output_tokens_max: count.optional(),
  output_tokens_default: count.optional(),
  output_tokens_min: count.optional(),
  /** Whether it bills reasoning that it does not send. An answer is then held for whole, or has a limit. */
  hidden_reasoning: z.boolean().optional(),
  image_tokens_max: count.optional(),
  /** `false`: a text model that takes none. A request with a picture is refused before it costs anything. */
  pictures: z.boolean().optional(),
  first_event_timeout_ms: count.optional(),
}

type Fields = typeof modelLimitFields
type Changes = { readonly [Name in keyof Fields]: z.ZodNullable<Fields[Name]> }

/** The same for a change of a model: a field that is left out stays, and null restores the default. */
export const modelLimitChanges = Object.fromEntries(
  Object.entries(modelLimitFields).map(([name, field]) => [
    name,
    field.nullable().meta({ description: 'left out: as before; null: as if it had never been said' }),
  ]),
) as Changes
const changes = z.object(modelLimitChanges)

/** Declared fields only. A field with null has its default. */
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
