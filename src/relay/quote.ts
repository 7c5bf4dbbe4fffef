/** The upper bound a request is held for. No tokenizer: a byte of text is never more than one token. */
import { paintsInTurn, type Model } from '../domain/catalog.ts'
import { dearestImage, imagesOf, imageTokensMax, tokensOfImage, type ImageWish } from '../domain/image.ts'
import { divideUp, type NanoUsd } from '../domain/money.ts'
import { dearestInput, dearestOutput, priceOf } from '../domain/price.ts'
import { secondsMax, tokensMax } from '../domain/video-price.ts'
import type { ClientRequest } from '../formats/format.ts'
import type { VideoBody } from '../formats/videos/body.ts'
import { wishOf } from '../formats/videos/check.ts'
import { usageOfUpscaling, usageOfVideo } from '../formats/videos/usage.ts'

/** What of a request its price depends on. */
export type QuotedRequest = Pick<
  ClientRequest,
  'outputTokensMax' | 'choices' | 'textBytes' | 'imageParts' | 'mediaBytes' | 'images' | 'painting' | 'video'
>

export type Quote =
  | {
      readonly kind: 'quoted'
      readonly amount: NanoUsd
      /** The bounds the amount stands for, all choices together. */
      readonly inputTokens: number
      readonly outputTokens: number
      /** The output cap to send upstream, per choice; undefined when the client's own limit stands. */
      readonly cap: number | undefined
    }
  | {
      readonly kind: 'unaffordable'
      readonly needed: NanoUsd
      /** The `max_tokens` the balance would cover; 0 when it does not even cover the input. */
      readonly fitting: number
    }

const MILLION = 1_000_000n

/** Tokens the input can have at most. */
function inputTokensMax({ textBytes, imageParts, mediaBytes }: QuotedRequest, model: Model): number {
  return textBytes + imageParts * model.limits.imageTokensMax + mediaBytes
}

/** English text has about four bytes a token. */
const BYTES_PER_TOKEN = 4

/** What a request counts as against a limit of tokens until that is known: its input, and the output it asks for. */
export function likelyTokens(request: QuotedRequest, model: Model): number {
  const { textBytes, imageParts, mediaBytes, video } = request
  // Those of a video are pixels: they do not count among the tokens of a minute.
  if (video) return 0
  const input = Math.ceil((textBytes + mediaBytes) / BYTES_PER_TOKEN) + imageParts * model.limits.imageTokensMax
  return input + (request.outputTokensMax ?? 0) * request.choices
}

/**
 * Quotes a request against what is available. A limit of the client's is quoted as it is (lowered only to the model's
 * maximum); without one the cap is the model's maximum if that is known and affordable, else the model's default, else
 * what the balance affords, down to the model's least useful output. Where the answer may be an image, one is always
 * held for: it is made whole, whatever its cap.
 */
export function quote(request: QuotedRequest, model: Model, available: NanoUsd): Quote {
  if (request.video) return quoteVideo(request.video, model, available)
  if (request.images) return quoteImages(request, request.images, { model, available })
  const { outputTokensMax = Number.MAX_SAFE_INTEGER, outputTokensDefault, outputTokensMin } = model.limits
  const inputTokens = inputTokensMax(request, model)
  const input = BigInt(inputTokens) * dearestInput(model.sale, inputTokens)
  const perToken = dearestOutput(model.sale, inputTokens) * BigInt(request.choices)
  const affordable = affordableTokens(available * MILLION - input, perToken)
  const imageTokens = paintsInTurn(model) ? tokensOfImage(model.limits.image, request.painting?.quality) : 0
  const heldTokens = (tokens: number): number => Math.max(tokens, imageTokens)
  const amountFor = (tokens: number): NanoUsd => divideUp(input + BigInt(heldTokens(tokens)) * perToken, MILLION)
  const quoted = (tokens: number, cap: number | undefined): Quote => {
    return { kind: 'quoted', amount: amountFor(tokens), inputTokens, outputTokens: tokens * request.choices, cap }
  }
  const capped = (tokens: number): Quote => quoted(tokens, tokens)
  const unaffordable = (tokens: number): Quote => ({
    kind: 'unaffordable',
    needed: amountFor(tokens),
    fitting: affordable < imageTokens ? 0 : Math.min(Math.max(affordable, 0), outputTokensMax),
  })

  const asked = request.outputTokensMax
  if (asked !== undefined) {
    const tokens = Math.min(asked, outputTokensMax)
    if (affordable < heldTokens(tokens)) return unaffordable(tokens)
    return quoted(tokens, tokens < asked ? tokens : undefined)
  }
  if (model.limits.outputTokensMax !== undefined && affordable >= heldTokens(outputTokensMax))
    return capped(outputTokensMax)
  const usual = Math.min(outputTokensDefault, outputTokensMax)
  if (affordable >= heldTokens(usual)) return capped(usual)
  const least = heldTokens(Math.min(outputTokensMin + imageTokens, usual))
  return affordable >= least ? capped(affordable) : unaffordable(least)
}

/** Images are bounded by their number: so many tokens or so many pieces, the dearest the request can come to. */
function quoteImages(
  request: QuotedRequest,
  wish: ImageWish,
  { model, available }: { readonly model: Model; readonly available: NanoUsd },
): Quote {
  const { limits, sale } = model
  const { image: facts } = limits
  const { inputFresh, inputImage, outputText, outputImage } = sale.nanoPerMillion
  const inputTokens = inputTokensMax(request, model)
  const outputTokens = imagesOf(facts, wish) * imageTokensMax(facts, wish)
  const dearest = (a: bigint, b: bigint): bigint => (a > b ? a : b)
  const amount = divideUp(
    BigInt(inputTokens) * dearest(inputFresh, inputImage) +
      BigInt(outputTokens) * dearest(outputText, outputImage) +
      BigInt(imagesOf(facts, wish)) * dearestImage(sale, facts, wish),
    MILLION,
  )
  if (amount > available) return { kind: 'unaffordable', needed: amount, fitting: 0 }
  return { kind: 'quoted', amount, inputTokens, outputTokens, cap: undefined }
}

/** A video is bounded by its length and its pixels; its upscaling is charged apart, and rounded apart. */
function quoteVideo(body: VideoBody, { limits: { video: facts }, sale }: Model, available: NanoUsd): Quote {
  const wish = wishOf(body, facts, 0)
  const bound = { tokens: tokensMax(facts, wish), seconds: secondsMax(facts, wish) }
  const { upscale } = wish
  const upscaling = upscale ? priceOf(usageOfUpscaling(wish.resolution, upscale, bound.seconds), sale) : 0n
  const amount = priceOf(usageOfVideo(sale, wish, bound), sale) + upscaling
  if (amount > available) return { kind: 'unaffordable', needed: amount, fitting: 0 }
  return { kind: 'quoted', amount, inputTokens: 0, outputTokens: bound.tokens, cap: undefined }
}

/** How many output tokens the rest of the balance covers; negative when it does not even cover the input. */
function affordableTokens(left: bigint, perToken: bigint): number {
  if (left < 0n) return -1
  return perToken === 0n ? Number.MAX_SAFE_INTEGER : Number(left / perToken)
}
