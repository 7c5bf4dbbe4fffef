/** The built-in vendor as a provider with priced models, so that the first call works offline and its charge shows. */
import type { ModelDraft, ProviderDraft } from './domain/catalog.ts'
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

/** Dollars per million tokens. */
export const sandboxModels: readonly ModelDraft[] = [
  sandboxModel('sandbox-chat', { input: 1n, output: 4n }),
  sandboxModel('sandbox-mini', { input: 0n, output: 1n }),
  embeddingModel('sandbox-embedding', 3_072, 150_000_000n),
  embeddingModel('sandbox-embedding-small', 1_536, 20_000_000n),
  embeddingModel('sandbox-embedding-large', 3_072, 130_000_000n),
]
