/** Requests for images: their fields, and which of them a model supports. */
import { z } from 'zod'
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import {
  allowsSize,
  imageDeliveries,
  imageFormats,
  sellsPieces,
  unitsOf,
  type ImageFacts,
  type ImageOptions,
} from '../../domain/image.ts'
import { piecePrice, type PriceCard } from '../../domain/price.ts'
import type { PieceUnit } from '../../domain/usage.ts'
import { hintFields, refuseHintField, refuseStrayHint } from '../core/hint-fields.ts'
import { failureOfIssue } from '../core/issue.ts'
import { scanRequest } from '../core/request-json.ts'
import type { ImageBody } from './body.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'

/** A model's own choice, as a word. */
const word = z.string().min(1).max(64).nullish()

const fields = {
  model: z.string().min(1),
  prompt: z.string().min(1).max(32_000),
  n: z.int().min(1).max(128).nullish(),
  size: word,
  quality: word,
  background: word,
  output_format: z.enum(imageFormats).nullish(),
  output_compression: z.int().min(0).max(100).nullish(),
  moderation: word,
  style: word,
  response_format: z.enum(imageDeliveries).nullish(),
  input_fidelity: z.enum(['low', 'high']).nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().min(0).max(3).nullish(),
  user: z.string().max(1_000).nullish(),
}
export const imageRequestSchema = z.looseObject(fields)

export type ReadImageBody =
  | { readonly kind: 'read'; readonly body: ImageBody; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): ReadImageBody => ({ kind: 'rejected', failure })

/** Reads the JSON of a request. */
export function readImageJson(text: string): ReadImageBody {
  const scan = scanRequest(text)
  if (scan.kind === 'rejected') return scan
  const hint = hintFields.find((name) => scan.members.has(name))
  return hint === undefined ? readImageFields(scan.value) : reject(refuseHintField(hint))
}

/** Checks the fields of a request, from JSON or from a form. */
export function readImageFields(value: unknown): ReadImageBody {
  const checked = safeParse(imageRequestSchema, value)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], value))
  const { data } = checked
  const stray = refuseStrayHint(data)
  if (stray) return reject(stray)
  const body: ImageBody = {
    model: data.model,
    prompt: data.prompt,
    count: data.n ?? 1,
    size: data.size ?? undefined,
    quality: data.quality ?? undefined,
    background: data.background ?? undefined,
    format: data.output_format ?? undefined,
    compression: data.output_compression ?? undefined,
    moderation: data.moderation ?? undefined,
    style: data.style ?? undefined,
    delivery: data.response_format ?? undefined,
    fidelity: data.input_fidelity ?? undefined,
    stream: data.stream ?? false,
    partials: data.partial_images ?? undefined,
    user: data.user ?? undefined,
    unknown: Object.keys(data).filter((name) => !Object.hasOwn(fields, name)),
  }
  return { kind: 'read', body, fields: data }
}

const refuse = (param: string, message: string): Failure => ({ kind: 'invalid_value', message, param })
const unsupported = (param: string, what = 'this parameter'): Failure => ({
  kind: 'unsupported_parameter',
  message: `This model does not support ${what}.`,
  param,
})

const listed = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ')

function sizeRule({ sizes, freeSizes }: ImageFacts): string {
  if (!freeSizes) return `must be one of ${listed(sizes)}.`
  const { multipleOf, ratioMax, pixelsMax } = freeSizes
  const sides = `sides are multiples of ${multipleOf}, at most 1:${ratioMax} and ${pixelsMax} pixels`
  return `must be one of ${listed(sizes)}, or WIDTHxHEIGHT whose ${sides}.`
}

/** What the model cannot do of a request. Undefined if it can do everything. */
export function checkImage(
  body: ImageBody,
  wish: ImageOptions,
  { id, limits: { image: facts }, sale }: Model,
): Failure | undefined {
  const { size, count, delivery, prompt } = body
  if (size !== undefined && !allowsSize(facts, size)) return refuse('size', `Invalid 'size': ${sizeRule(facts)}`)
  const choices = [
    ['quality', body.quality, facts.qualities],
    ['background', body.background, facts.backgrounds],
    ['output_format', body.format, facts.formats],
    ['moderation', body.moderation, facts.moderations],
    ['style', body.style, facts.styles],
  ] as const
  for (const [param, value, allowed] of choices) {
    if (value === undefined || (allowed as readonly string[]).includes(value)) continue
    if (allowed.length === 0) return unsupported(param)
    return refuse(param, `Invalid '${param}': must be one of ${listed(allowed)}.`)
  }
  if (body.background === 'transparent' && body.format === 'jpeg') {
    return refuse('background', "A transparent background needs 'output_format' 'png' or 'webp'.")
  }
  if (body.compression !== undefined && (body.format ?? 'png') === 'png') {
    if (facts.formats.length === 0) return unsupported('output_compression')
    return refuse('output_compression', "'output_compression' is for 'output_format' 'jpeg' and 'webp'.")
  }
  if (count > facts.countMax) return refuse('n', `Invalid 'n': must be at most ${facts.countMax} for this model.`)
  if (delivery !== undefined && !facts.deliveries.includes(delivery)) {
    const message = `Invalid 'response_format': this model answers with ${listed(facts.deliveries)} only.`
    return refuse('response_format', message)
  }
  if ((body.partials ?? 0) > facts.partialsMax && facts.streams) {
    return refuse('partial_images', `Invalid 'partial_images': must be at most ${facts.partialsMax}.`)
  }
  if (prompt.length > facts.promptCharsMax) {
    return refuse('prompt', `Invalid 'prompt': must be a text of length at most ${facts.promptCharsMax}.`)
  }
  if (wish.inputs > 0 && facts.inputsMax === 0) {
    return { kind: 'model_not_supported', message: `The model '${id}' does not edit images.`, param: 'model' }
  }
  return sellsPieces(sale) ? unpriced(body, unitsOf(facts, wish), sale) : undefined
}

/** A kind of image without a price. If the request names no kind, every kind that the model may choose is checked. */
function unpriced({ size, quality }: ImageBody, units: readonly PieceUnit[], sale: PriceCard): Failure | undefined {
  const gap = units.find((unit) => piecePrice(sale, unit) === undefined)
  if (gap === undefined) return undefined
  const sold = Object.keys(sale.nanoPerMillion)
    .filter((unit) => unit.startsWith(IMAGE_UNIT))
    .map((unit) => unit.slice(IMAGE_UNIT.length))
  const message =
    units.length === 1
      ? `This model has no price for images of ${gap.slice(IMAGE_UNIT.length)}; it has some for ${sold.join(', ')}.`
      : `This model may choose ${gap.slice(IMAGE_UNIT.length)}, for which it has no price. Name 'size' and 'quality': ` +
        `there are prices for ${sold.join(', ')}.`
  const param = size !== undefined && size !== 'auto' ? 'size' : quality === undefined ? undefined : 'quality'
  return { kind: 'invalid_value', message, ...(param === undefined ? {} : { param }) }
}

const IMAGE_UNIT = 'piece:image/'
