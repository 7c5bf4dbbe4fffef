/** How an operator declares what a model can do, and its limits, in tollgate.yaml, the console and commands. */
import { z } from 'zod'
import type { Model } from '../domain/catalog.ts'
import {
  modelLimitEntries,
  sortedBy,
  type LimitValue,
  type modelLimitRows,
  type ModelLimits,
} from '../domain/model-limits.ts'
import { usualStickiness } from '../domain/routing.ts'
import { firstEventTimeoutOf } from './first-token-timeout.ts'
import { imageDeclaration, imageFactsOf } from './image-facts.ts'
import { videoDeclaration, videoFactsOf } from './video-facts.ts'

const shapes = {
  count: z.int().min(1),
  yes_no: z.boolean(),
  acceptance: z.boolean(),
  image: imageDeclaration,
  video: videoDeclaration,
}
const shapeOf = (value: LimitValue) => (typeof value === 'string' ? shapes[value] : z.enum(value))

type Rows = typeof modelLimitRows
type ShapeOf<Value> = Value extends keyof typeof shapes
  ? (typeof shapes)[Value]
  : Value extends readonly string[]
    ? z.ZodEnum<{ readonly [Word in Value[number]]: Word }>
    : never
type Fields = {
  readonly [
    Name in keyof Rows as Rows[Name] extends { readonly input: infer Input extends string } ? Input : never
  ]: z.ZodOptional<ShapeOf<Rows[Name]['value']>>
}

/** Messages and documents list the fields in this order. A field that is not named comes last. */
const fieldOrder = [
  'image',
  'video',
  'dimensions',
  'dimensions_adjustable',
  'context_tokens',
  'output_tokens_max',
  'output_tokens_default',
  'output_tokens_min',
  'hidden_reasoning',
  'image_tokens_max',
  'pictures',
  'first_event_timeout_ms',
  'routing',
  'sticky',
]

/** Every limit that an operator may set, by its name outside. */
export const modelLimitFields = Object.fromEntries(
  sortedBy(
    modelLimitEntries.flatMap(([, { input, value }]) =>
      input === undefined ? [] : [[input, shapeOf(value).optional()] as const],
    ),
    fieldOrder,
    ([name]) => name,
  ),
) as Fields

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
  const values: Readonly<Record<string, unknown>> = declared
  return Object.fromEntries(
    modelLimitEntries.flatMap(([name, row]) => {
      const stated = row.input === undefined ? undefined : values[row.input]
      return stated === undefined ? [] : [[name, stated === null ? row.default : limitOf(row.value, stated)]]
    }),
  )
}

/** A value as `ModelLimits` has it. */
function limitOf(value: LimitValue, stated: unknown): unknown {
  if (value === 'acceptance') return stated === true ? 'taken' : 'refused'
  if (value === 'image') return imageFactsOf(stated as z.infer<typeof imageDeclaration>)
  if (value === 'video') return videoFactsOf(stated as z.infer<typeof videoDeclaration>)
  return stated
}

/** The limits that are worked out if they are not set. */
const effective: { readonly [Name in keyof ModelLimits]?: (model: Model) => ModelLimits[Name] } = {
  firstEventTimeoutMs: firstEventTimeoutOf,
  sticky: ({ limits }) => limits.sticky ?? usualStickiness(limits.routing),
}

const shownOf = (model: Model, name: keyof ModelLimits): unknown =>
  effective[name] ? effective[name](model) : (model.limits[name] ?? null)

/** The limits of a model by their names outside. */
export const modelLimitsView = (model: Model): object =>
  Object.fromEntries(
    modelLimitEntries.flatMap(([name, { output }]) => (output === undefined ? [] : [[output, shownOf(model, name)]])),
  )

type OperatorLimit = {
  readonly [Name in keyof Rows]: Rows[Name] extends {
    readonly forOperators: string
    readonly output: infer Output extends string
  }
    ? Output
    : never
}[keyof Rows]

const operatorLimits = modelLimitEntries.flatMap(([name, row]) => {
  const { output, forOperators: description } = row
  return output === undefined || description === undefined ? [] : [{ ...row, name, output, description }]
})

/** The limits that only operators see, as the console's routes answer them. */
export const operatorLimitsShape = Object.fromEntries(
  operatorLimits.map(({ name, output, value, default: initial, description }) => {
    const shape: z.ZodType = value === 'count' ? z.int() : shapeOf(value)
    return [output, (initial === undefined && !effective[name] ? shape.nullable() : shape).meta({ description })]
  }),
) as Readonly<Record<OperatorLimit, z.ZodType>>

export const operatorLimitsView = (model: Model): Readonly<Record<OperatorLimit, unknown>> =>
  Object.fromEntries(operatorLimits.map(({ name, output }) => [output, shownOf(model, name)])) as Readonly<
    Record<OperatorLimit, unknown>
  >
