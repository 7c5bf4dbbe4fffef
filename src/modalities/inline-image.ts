/** Images inside a turn. The model answers a conversation in its vendor's dialect with images among the text. */
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { tokensOfImage } from '../domain/image.ts'
import type { ClientRequest, InlineImages, MeteredUsage } from '../formats/core/contract.ts'
import { paintedUsage } from '../formats/gemini/usage.ts'
import { imageModality } from './image.ts'
import type { AnswerModality, Arrival, MeterTerms } from './modality.ts'
import { hasWords, meterTokens } from './token-meter.ts'
import { quoteTokens } from './token-quote.ts'

export const inlineImageModality: AnswerModality = {
  ...imageModality,
  // The body is that of a conversation in the vendor's own dialect.
  passesFields: true,
  endpoints: () => ['gemini'],
  accepts: (model, { painting }) => (painting ? undefined : nativeOnly(model)),
  quote: (request, model, means) =>
    quoteTokens(request, model, { means, canGrow: false, imageTokens: imageTokensOf(request, model) }),
  isPart: () => false,
  meter: (arrived, terms) =>
    arrived.painted ? meterPainted(arrived, arrived.painted, terms) : meterTokens(arrived, terms),
}

const nativeOnly = ({ id }: Model): Failure => ({
  kind: 'model_not_supported',
  message: `The model '${id}' makes images in Gemini's API only: POST /v1beta/models/${id}:generateContent.`,
  param: 'model',
})

/** Tokens of one image of the size that the request names. */
const imageTokensOf = ({ painting }: Pick<ClientRequest, 'painting'>, { limits }: Model): number =>
  tokensOfImage(limits.image, painting?.quality)

async function meterPainted(arrived: Arrival, painted: InlineImages, terms: MeterTerms): Promise<MeteredUsage> {
  const { usage, complete } = arrived
  const { heldTokens } = terms
  const imageTokens = imageTokensOf(terms.request, terms.model)
  // A running report without kinds counts images as text. The images are then added by our own count.
  const inWords = complete || usage?.outputImage !== undefined ? 0 : (painted.images + painted.spoiled) * imageTokens
  const apart = usage && { ...usage, outputText: Math.max(usage.outputText - inWords, 0) }
  const setAside = usage && apart ? usage.outputText - apart.outputText : 0
  const outputTokensMax = Math.max(heldTokens, imageTokens)
  const wordsMax = setAside > 0 ? Math.max(outputTokensMax - setAside, 0) : heldTokens
  const metered = await meterTokens({ ...arrived, usage: apart }, terms, wordsMax)
  const isCounted = metered.usage.outputText !== apart?.outputText
  return paintedUsage(metered, {
    ...painted,
    imageTokens,
    // Our own count covers only text.
    isReported: (usage?.outputText ?? 0) > 0 && (complete || (usage?.outputImage !== undefined && !isCounted)),
    setAside,
    outputTokensMax,
    hasWords: hasWords(arrived.produced),
  })
}
