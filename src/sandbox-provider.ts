/** The built-in vendor as a provider with priced models. The first call works offline, and its charge is visible. */
import type { ModelDraft, ProviderDraft } from './domain/catalog.ts'
import { imageFamilies } from './vendors/image-families.ts'
import { type VideoFacts } from './domain/video.ts'
import { videoFamilies } from './vendors/video-families.ts'
import { unitPrices } from './domain/price.ts'

export const sandboxProvider: ProviderDraft = {
  id: 'sandbox',
  preset: 'sandbox',
  baseUrl: undefined,
  reach: 'public',
  secret: undefined,
}

const NANO_PER_USD = 1_000_000_000n

const sandboxModel = (id: string, { input, output }: { input: bigint; output: bigint }): ModelDraft => ({
  id,
  ownedBy: 'sandbox',
  limits: { outputTokensMax: 16_384 },
  price: unitPrices({ input: input * NANO_PER_USD, output: output * NANO_PER_USD }),
  offers: [
    { providerId: 'sandbox', upstreamModel: id, priority: 0, weight: 1, cost: unitPrices({ input: 0n, output: 0n }) },
  ],
})

const embeddingModel = (id: string, dimensions: number, nanoPerMillion: bigint): ModelDraft => ({
  ...sandboxModel(id, { input: 0n, output: 0n }),
  kind: 'embedding',
  limits: { dimensions, dimensionsAdjustable: true },
  price: unitPrices({ input: nanoPerMillion, output: 0n }),
})

/** Sold by tokens, at the prices of gpt-image-1. */
const imageModel: ModelDraft = {
  ...sandboxModel('sandbox-image', { input: 0n, output: 0n }),
  kind: 'image',
  limits: { image: imageFamilies['gpt-image-2'], imageTokensMax: 1_600 },
  price: unitPrices({
    input: 5n * NANO_PER_USD,
    output: 0n,
    imageInput: 10n * NANO_PER_USD,
    imageOutput: 40n * NANO_PER_USD,
  }),
}

/** Sold by tokens, in turns of Gemini's API, at the prices of gemini-3.1-flash-image. */
const turnImageModel: ModelDraft = {
  ...sandboxModel('sandbox-image-gemini', { input: 0n, output: 0n }),
  kind: 'image',
  limits: { image: imageFamilies['gemini-3.1-flash-image'], outputTokensMax: 32_768 },
  price: unitPrices({
    input: 500_000_000n,
    output: 3n * NANO_PER_USD,
    imageOutput: 60n * NANO_PER_USD,
  }),
}

/** Sold by the piece, at the prices of dall-e-3. */
const classicImageModel: ModelDraft = {
  ...sandboxModel('sandbox-image-classic', { input: 0n, output: 0n }),
  kind: 'image',
  limits: {
    image: {
      ...imageFamilies['dall-e-3'],
      sizes: [...imageFamilies['dall-e-3'].sizes, '512x512', '256x256'],
      countMax: 10,
    },
  },
  price: unitPrices({
    input: 0n,
    output: 0n,
    each: {
      'image/256x256': 16_000_000n,
      'image/512x512': 18_000_000n,
      'image/1024x1024/standard': 40_000_000n,
      'image/1024x1024/hd': 80_000_000n,
      'image/1792x1024/standard': 80_000_000n,
      'image/1792x1024/hd': 120_000_000n,
      'image/1024x1792/standard': 80_000_000n,
      'image/1024x1792/hd': 120_000_000n,
    },
  }),
}

/** Sold by the second. */
const videoModel = (id: string, video: VideoFacts, perSecond: Readonly<Record<string, bigint>>): ModelDraft => ({
  ...sandboxModel(id, { input: 0n, output: 0n }),
  kind: 'video',
  limits: { video: { ...video, upscaler: sandboxProvider.id } },
  price: unitPrices({
    input: 0n,
    output: 0n,
    each: { ...perSecond, upscale: 10_000_000n, 'upscale/2k': 15_000_000n, 'upscale/4k': 20_000_000n },
  }),
})

/** Prices are dollars per million tokens. */
export const sandboxModels: readonly ModelDraft[] = [
  sandboxModel('sandbox-chat', { input: 1n, output: 4n }),
  sandboxModel('sandbox-mini', { input: 0n, output: 1n }),
  embeddingModel('sandbox-embedding', 3_072, 150_000_000n),
  embeddingModel('sandbox-embedding-small', 1_536, 20_000_000n),
  embeddingModel('sandbox-embedding-large', 3_072, 130_000_000n),
  imageModel,
  classicImageModel,
  turnImageModel,
  videoModel('sandbox-video', videoFamilies['seedance-2'], {
    'second/480p': 30_000_000n,
    'second/720p': 60_000_000n,
    'second/1080p': 150_000_000n,
  }),
  videoModel('sandbox-video-fast', videoFamilies['seedance-2-fast'], {
    'second/480p': 15_000_000n,
    'second/720p': 30_000_000n,
  }),
]
