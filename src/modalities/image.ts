/** Images of the image endpoints. They are expensive, billed every time, and sold by the piece or by tokens. */
import type { Model } from '../domain/catalog.ts'
import { dearestImage, imagesOf, imageTokensMax, type ImageOptions } from '../domain/image.ts'
import { divideUp, type NanoUsd } from '../domain/money.ts'
import { dearest } from '../domain/price.ts'
import { inputTokens } from '../domain/usage.ts'
import type { ClientRequest, MeteredUsage } from '../formats/core/contract.ts'
import { meterImages } from '../formats/images/usage.ts'
import { acceptsKind, acceptsMedia } from './acceptance.ts'
import type { AnswerModality, Arrival, MeterTerms, Quote, QuotedRequest } from './modality.ts'
import { imageStreamMax } from './stream-max.ts'
import { inputTokensMax, likelyTokens } from './token-quote.ts'

const MILLION = 1_000_000n

/** Statuses with which a vendor says that it did not begin. An image is billed once it is made. */
const NOT_BEGUN = new Set([408, 429, 498, 503, 529])

export const imageModality: AnswerModality = {
  kind: 'image',
  delivery: 'answer',
  isIncremental: false,
  // A vendor bills an image from the moment of the request.
  needsDurableHold: true,
  passesFields: false,
  sendOnce: true,
  endpoints: ({ limits }) => ['images.generations', ...(limits.image.inputsMax > 0 ? ['images.edits'] : [])],
  accepts: acceptsKind,
  acceptsInput: acceptsMedia,
  lengthOf: () => undefined,
  quote: (request, model, { available }) => quoteImages(request, model, available),
  likelyTokens,
  isUnbilled: (status = 500) => NOT_BEGUN.has(status),
  // An image is one event, and takes as long streamed as whole.
  attemptBounds: (_, { wholeReplyTimeoutMs, replyBytesMax }) => ({
    firstEventTimeoutMs: wholeReplyTimeoutMs,
    eventGapTimeoutMs: wholeReplyTimeoutMs,
    replyBytesMax,
    eventCharsMax: replyBytesMax,
  }),
  streamMax: imageStreamMax,
  isPart: ({ delivered }, { images }, { limits }) =>
    delivered !== undefined && images !== undefined && delivered.length < imagesOf(limits.image, images),
  meter: meterDelivered,
}

const wishOf = ({ images }: Pick<ClientRequest, 'images'>): ImageOptions => {
  if (!images) throw new Error('a request for images says which')
  return images
}

/** Images are bounded by their number, each at the most tokens or the dearest piece that the request can cost. */
function quoteImages(request: QuotedRequest, model: Model, available: NanoUsd): Quote {
  const { limits, sale } = model
  const wish = wishOf(request)
  const { image: facts } = limits
  const quotedInput = inputTokensMax(request, model)
  const outputTokens = imagesOf(facts, wish) * imageTokensMax(facts, wish)
  const amount = divideUp(
    BigInt(quotedInput) * dearest(sale, quotedInput, ['inputFresh', 'inputImage']) +
      BigInt(outputTokens) * dearest(sale, quotedInput, ['outputText', 'outputImage']) +
      BigInt(imagesOf(facts, wish)) * dearestImage(sale, facts, wish),
    MILLION,
  )
  if (amount > available) return { kind: 'unaffordable', needed: amount, fitting: 0 }
  const bound = { inputTokens: quotedInput, outputTokens, outputTokensMax: outputTokens }
  return { kind: 'quoted', amount, ...bound, cap: undefined, grows: false }
}

/** Meters the images that arrived. The prompt is counted if its tokens are not reported. */
async function meterDelivered(arrived: Arrival, terms: MeterTerms): Promise<MeteredUsage> {
  const { usage, delivered = [], begun = 0 } = arrived
  const { request, model, count } = terms
  const { limits, sale } = model
  const isInputKnown = usage !== undefined && inputTokens(usage) > 0
  const [promptTokens = 0] = isInputKnown ? [] : await count([request.promptText()])
  const wish = wishOf(request)
  return meterImages({
    reported: usage,
    delivered,
    begun,
    sale,
    facts: limits.image,
    wish,
    promptTokens,
    inputTokensMax: request.imageParts * limits.imageTokensMax,
    imageTokens: imageTokensMax(limits.image, wish),
  })
}
