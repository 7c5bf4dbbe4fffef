/** Usage of images: the tokens that an upstream reports, and the images that arrived, by the piece. */
import { imageUnit, sellsPieces, type ImageFacts, type ImageOptions } from '../../domain/image.ts'
import type { PriceCard } from '../../domain/price.ts'
import { inputTokens, outputTokens, type PieceUnit, type Usage, type UsageSource } from '../../domain/usage.ts'
import { asFields } from '../core/fields.ts'
import { tokenCount } from '../core/token-count.ts'
import type { DeliveredImage, MeteredUsage } from '../core/contract.ts'

/** Reads the `usage` of an image reply. Undefined if it is absent or counts no image: the usage is then unknown. */
export function readImageUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  const input = tokenCount(usage['input_tokens'])
  const output = tokenCount(usage['output_tokens'])
  if (input === undefined || output === undefined) return undefined
  const inputDetails = asFields(usage['input_tokens_details'])
  const inputImage = Math.min(tokenCount(inputDetails['image_tokens']) ?? 0, input)
  const cached = Math.min(tokenCount(inputDetails['cached_tokens']) ?? 0, input - inputImage)
  // If text and images are not told apart, the output of an image model is image.
  const outputText = Math.min(tokenCount(asFields(usage['output_tokens_details'])['text_tokens']) ?? 0, output)
  if (output === outputText) return undefined
  return {
    inputFresh: input - inputImage - cached,
    inputCached: cached,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    outputText,
    outputReasoning: 0,
    inputImage,
    outputImage: output - outputText,
  }
}

const add = (a: Usage, b: Usage): Usage => ({
  inputFresh: a.inputFresh + b.inputFresh,
  inputCached: a.inputCached + b.inputCached,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: a.outputText + b.outputText,
  outputReasoning: 0,
  inputImage: (a.inputImage ?? 0) + (b.inputImage ?? 0),
  outputImage: (a.outputImage ?? 0) + (b.outputImage ?? 0),
})

/** Each image of a stream reports its own usage. If one does not, the sum is unknown: that image is not free. */
export const sumUsage = (a: Usage | undefined, b: Usage | undefined): Usage | undefined => a && b && add(a, b)

export function writeImageUsage(usage: Usage): object {
  const input = inputTokens(usage)
  const output = outputTokens(usage)
  const image = usage.inputImage ?? 0
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input - image, image_tokens: image },
    output_tokens_details: { image_tokens: usage.outputImage ?? 0, text_tokens: usage.outputText },
  }
}

export const hasTokens = (usage: Usage): boolean => inputTokens(usage) + outputTokens(usage) > 0

const NOTHING: Usage = {
  inputFresh: 0,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
}

const unitOf = (one: DeliveredImage): PieceUnit => imageUnit(one.size, one.quality)

export type ToMeterImages = {
  readonly reported: Usage | undefined
  readonly delivered: readonly DeliveredImage[]
  /** How many images the client saw begin. The last of them did not arrive. */
  readonly begun: number
  readonly sale: PriceCard
  readonly facts: ImageFacts
  readonly wish: ImageOptions
  readonly promptTokens: number
  readonly inputTokensMax: number
  readonly imageTokens: number
}

/**
 * The usage of images. No image, no charge. Images sold by the piece are known by what arrived. Images sold by tokens
 * are estimated if no tokens were reported.
 */
export function meterImages(to: ToMeterImages): MeteredUsage {
  const { reported, delivered, begun, sale } = to
  const arrived = delivered.length + begun
  if (arrived === 0) return { usage: NOTHING, source: 'reported' }
  const started = Array.from({ length: begun }, (): DeliveredImage => begunImage(to))
  const counts = new Map<PieceUnit, number>()
  for (const one of [...delivered, ...started]) counts.set(unitOf(one), (counts.get(unitOf(one)) ?? 0) + 1)
  const pieces = [...counts].map(([unit, number]) => ({ unit, count: number }))
  if (reported && begun === 0) {
    if (inputTokens(reported) > 0 || sellsPieces(sale)) return { usage: { ...reported, pieces }, source: 'reported' }
    // There is always a prompt.
    const input = { inputFresh: to.promptTokens, inputImage: to.inputTokensMax }
    return { usage: { ...reported, ...input, pieces }, source: 'estimated' }
  }
  const source: UsageSource = sellsPieces(sale) && begun === 0 ? 'reported' : 'estimated'
  const tokens = {
    ...NOTHING,
    inputFresh: to.promptTokens,
    inputImage: to.inputTokensMax,
    outputImage: to.imageTokens * arrived,
  }
  return { usage: { ...(sellsPieces(sale) ? NOTHING : tokens), pieces }, source }
}

/** The image that the client left unfinished, with the requested options. */
const begunImage = ({ facts, wish }: ToMeterImages): DeliveredImage => ({
  size: wish.size ?? facts.sizeDefault,
  quality: wish.quality ?? facts.qualityDefault,
})
