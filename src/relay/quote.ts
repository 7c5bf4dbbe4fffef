/** The upper bound a request is held for. No tokenizer: a byte of text is never more than one token. */
import { paintsInTurn, type Model, type ModelLimits } from '../domain/catalog.ts'
import { dearestImage, imagesOf, imageTokensMax, tokensOfImage, type ImageWish } from '../domain/image.ts'
import { divideUp, millionthUp, type NanoUsd } from '../domain/money.ts'
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
  const inputTokens = inputTokensMax(request, model)
  const { choices, outputTokensMax: asked } = request
  const { limits, sale } = model
  const imageTokens = paintsInTurn(model) ? tokensOfImage(limits.image, request.painting?.quality) : 0
  const rates = { input: dearestInput(sale, inputTokens), output: dearestOutput(sale, inputTokens), choices }
  const quoted = (tokens: number, amount: NanoUsd): Quote => {
    const cap = tokens === asked ? undefined : tokens
    return { kind: 'quoted', amount, inputTokens, outputTokens: tokens * choices, cap }
  }
  const most = limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER
  const wished = Math.min(asked ?? limits.outputTokensMax ?? limits.outputTokensDefault, most)
  const wishedAmount = amountOf(inputTokens, Math.max(wished, imageTokens), rates)
  if (wishedAmount <= available) return quoted(wished, wishedAmount)

  const affordable = affordableTokens(available, inputTokens, rates)
  const tokens = asked === undefined ? lessTokens(limits, most, { affordable, imageTokens }) : wished
  const heldTokens = Math.max(tokens, imageTokens)
  const amount = amountOf(inputTokens, heldTokens, rates)
  if (amount <= available) return quoted(tokens, amount)
  const fitting = affordable < imageTokens ? 0 : Math.min(Math.max(affordable, 0), most)
  return { kind: 'unaffordable', needed: amount, fitting }
}

/** Nano-USD per million tokens, and how often the output may come. */
type Rates = { readonly input: bigint; readonly output: bigint; readonly choices: number }

function amountOf(inputTokens: number, outputTokens: number, { input, output, choices }: Rates): NanoUsd {
  // As numbers where that is exact, which is nearly always: a sum that rounded anywhere is beyond the safe integers.
  const sum = inputTokens * Number(input) + outputTokens * Number(output) * choices
  if (Number.isSafeInteger(sum)) return millionthUp(sum)
  return divideUp(BigInt(inputTokens) * input + BigInt(outputTokens) * output * BigInt(choices), MILLION)
}

/** How many output tokens the rest of the balance covers, per choice; negative when it does not cover the input. */
function affordableTokens(available: NanoUsd, inputTokens: number, { input, output, choices }: Rates): number {
  const left = available * MILLION - BigInt(inputTokens) * input
  if (left < 0n) return -1
  const perToken = output * BigInt(choices)
  return perToken === 0n ? Number.MAX_SAFE_INTEGER : Number(left / perToken)
}

type Affordable = { readonly affordable: number; readonly imageTokens: number }

/** The output to hold for where the most is too dear, per choice; where not even the least is affordable, that. */
function lessTokens(
  { outputTokensDefault, outputTokensMin }: ModelLimits,
  most: number,
  { affordable, imageTokens }: Affordable,
): number {
  const usual = Math.min(outputTokensDefault, most)
  if (affordable >= Math.max(usual, imageTokens)) return usual
  const least = Math.max(Math.min(outputTokensMin + imageTokens, usual), imageTokens)
  return affordable >= least ? affordable : least
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
