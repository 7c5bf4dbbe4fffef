import { expect, test } from 'bun:test'
import type { Model } from '../domain/catalog.ts'
import { openImageFacts } from '../domain/image.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { priceOf, unitPrices } from '../domain/price.ts'
import { imageModality } from './image.ts'
import type { QuotedRequest } from './modality.ts'

/** Sold by tokens, at twice the price above 1,000 tokens of input. */
const sale = {
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({ input: 1_000_000n, output: 10_000_000n }),
  tiers: [{ aboveInputTokens: 1_000, nanoPerMillion: unitPrices({ input: 2_000_000n, output: 20_000_000n }) }],
}
const model: Model = {
  id: 'm',
  ownedBy: 'p',
  createdAtMs: 0,
  kind: 'image',
  origin: 'stored',
  limits: { ...defaultModelLimits, image: openImageFacts },
  sale,
  offers: [],
}
const request = {
  images: { count: 1, size: '1024x1024', quality: undefined, partials: 0, inputs: 0 },
  choices: 1,
  textBytes: 3_000,
  imageParts: 0,
  mediaBytes: 0,
} as unknown as QuotedRequest

test('a quote covers the price of the tier that its input can reach', () => {
  const quote = imageModality.quote(request, model, { available: 10n ** 18n, isAlone: true })
  if (quote.kind !== 'quoted') throw new Error('not affordable')
  const none = { inputFresh: 0, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 0, outputReasoning: 0 }
  const most = { ...none, inputFresh: quote.inputTokens, outputImage: quote.outputTokens }
  expect(quote.inputTokens).toBeGreaterThan(1_000)
  expect(quote.amount).toBeGreaterThanOrEqual(priceOf(most, sale))
})
