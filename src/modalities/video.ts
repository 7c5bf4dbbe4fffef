/** Videos. A task makes one. Its row and its hold are on disk before anything is sent. It outlives its request. */
import type { Model } from '../domain/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import { priceOf } from '../domain/price.ts'
import { secondsMax, tokensMax } from '../domain/video-price.ts'
import { wishOf } from '../formats/videos/check.ts'
import { usageOfUpscaling, usageOfVideo } from '../formats/videos/usage.ts'
import { acceptsKind, acceptsMedia } from './acceptance.ts'
import type { Quote, QuotedRequest, TaskModality } from './modality.ts'

export const videoModality: TaskModality = {
  kind: 'video',
  delivery: 'task',
  isIncremental: false,
  needsDurableHold: true,
  endpoints: () => ['videos'],
  accepts: acceptsKind,
  acceptsInput: acceptsMedia,
  lengthOf: () => undefined,
  quote: (request, model, { available }) => quoteVideo(request, model, available),
  // The tokens of a video are pixels, so they do not count against the tokens per minute.
  likelyTokens: () => 0,
}

/** The cost of a video is bounded by its length and its pixels. Its upscaling is charged and rounded separately. */
function quoteVideo(request: QuotedRequest, { limits, sale }: Model, available: NanoUsd): Quote {
  if (!request.video) throw new Error('a request for a video says which')
  const { video: facts } = limits
  const wish = wishOf(request.video, facts, 0)
  const bound = { tokens: tokensMax(facts, wish), seconds: secondsMax(facts, wish) }
  const { upscale } = wish
  const upscaling = upscale ? priceOf(usageOfUpscaling(wish.resolution, upscale, bound.seconds), sale) : 0n
  const amount = priceOf(usageOfVideo(sale, wish, bound), sale) + upscaling
  if (amount > available) return { kind: 'unaffordable', needed: amount, fitting: 0 }
  const { tokens } = bound
  return {
    kind: 'quoted',
    amount,
    inputTokens: 0,
    outputTokens: tokens,
    outputTokensMax: tokens,
    cap: undefined,
    grows: false,
  }
}
