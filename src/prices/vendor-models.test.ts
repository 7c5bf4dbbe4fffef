import { calcPrice } from '@pydantic/genai-prices'
import { expect, test } from 'bun:test'
import { priceOf } from '../domain/price.ts'
import { outputTokens, type Usage } from '../domain/usage.ts'
import { priceList } from './price-list.ts'
import { draftOf, modelsOfVendors, vendorModels, type VendorModel } from './vendor-models.ts'

const released = Date.parse(priceList().source.released)
const listed = (preset: string, id: string, atMs = released): VendorModel => {
  const model = vendorModels(preset, atMs).find((one) => one.id === id)
  if (!model) throw new Error(`${id} is not in the list`)
  return model
}

const usage = (parts: Partial<Usage>): Usage => ({
  inputFresh: 0,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
  ...parts,
})
const costOf = ({ cost, costTiers }: VendorModel, used: Usage): bigint =>
  priceOf(used, { id: 1, effectiveFromMs: 0, nanoPerMillion: cost, tiers: costTiers })

test('charges equal those of a table made by hand, to the nano-dollar', () => {
  // $1.25, $0.125 cached, $10: 1,000×1,250 + 3,000×125 + (200+300)×10,000
  const chat = usage({ inputFresh: 1_000, inputCached: 3_000, outputText: 200, outputReasoning: 300 })
  expect(costOf(listed('openai', 'gpt-5'), chat)).toBe(6_625_000n)
  // $3, $0.30, $3.75, $6, $15: 10×3,000 + 20,000×300 + 500×3,750 + 7×6,000 + 42×15,000
  const cached = { inputFresh: 10, inputCached: 20_000, cacheWrite5m: 500, cacheWrite1h: 7, outputText: 42 }
  expect(costOf(listed('anthropic', 'claude-sonnet-4-5'), usage(cached))).toBe(8_577_000n)
  // Above 200,000 input tokens $6, $0.60, $7.50, $12, $22.50.
  const long = usage({ ...cached, inputCached: 200_000 })
  expect(costOf(listed('anthropic', 'claude-sonnet-4-5'), long)).toBe(124_839_000n)
  // $1.25 and $10; above 200,000 $2.50 and $15.
  const pro = listed('gemini', 'gemini-2.5-pro')
  expect(costOf(pro, usage({ inputFresh: 200_000, outputReasoning: 1 }))).toBe(250_010_000n)
  expect(costOf(pro, usage({ inputFresh: 200_001, outputReasoning: 1 }))).toBe(500_017_500n)
  // $0.0375 cached: 1 token is 37.5 nano-dollars, and a charge is rounded up once.
  expect(costOf(listed('groq', 'openai/gpt-oss-20b'), usage({ inputCached: 1 }))).toBe(38n)
  expect(costOf(listed('openai', 'text-embedding-3-small'), usage({ inputFresh: 1_000_003 }))).toBe(20_000_060n)
})

const vendorOf: Readonly<Record<string, string>> = { gemini: 'google', xai: 'x-ai', moonshot: 'moonshotai' }

test('every model costs what the list’s own calculator says', () => {
  let compared = 0
  for (const preset of Object.keys(priceList().vendors)) {
    // The prices differ by the hour. Ours is the highest of the day.
    for (const model of preset === 'deepseek' ? [] : vendorModels(preset, released)) {
      const isWritten = model.cost.cacheWrite5m !== model.cost.inputFresh
      const hasHour = model.cost.cacheWrite1h !== model.cost.cacheWrite5m
      const above = model.costTiers[0]?.aboveInputTokens ?? 100_000
      for (const total of [1_000, above, above + 1]) {
        const paints = model.kind === 'image'
        const parts = {
          // For images, ours is the higher of two prices.
          inputCached: paints ? 0 : 300,
          cacheWrite5m: isWritten ? 200 : 0,
          cacheWrite1h: hasHour ? 100 : 0,
          ...(paints && { inputImage: 258, outputImage: 1_290 }),
        }
        const rest = parts.inputCached + parts.cacheWrite5m + parts.cacheWrite1h + (parts.inputImage ?? 0)
        const used = usage({ ...parts, inputFresh: total - rest, outputText: model.kind === 'embedding' ? 0 : 77 })
        const theirs = calcPrice(
          {
            input_tokens: total,
            output_tokens: outputTokens(used),
            ...(paints && { input_image_tokens: 258, output_image_tokens: 1_290 }),
            cache_read_tokens: used.inputCached,
            ...(isWritten && { cache_write_tokens: used.cacheWrite5m + used.cacheWrite1h }),
            ...(hasHour && { cache_write_1h_tokens: used.cacheWrite1h }),
          },
          model.upstreamModel,
          { providerId: vendorOf[preset] ?? preset, timestamp: new Date(released) },
        )
        // The calculator returns a float of dollars.
        const nano = (theirs?.total_price ?? NaN) * 1e9
        expect([model.id, Math.abs(Number(costOf(model, used)) - nano) < 1.001]).toEqual([model.id, true])
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(300)
})

test('a price that changes on a day changes on that day, and is announced before', () => {
  const [before, after] = ['2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z'].map((day) =>
    listed('gemini', 'gemini-3.6-flash', Date.parse(day)),
  )
  expect([before?.cost.inputFresh, before?.changesOn]).toEqual([750_000_000n, '2027-01-01'])
  expect([after?.cost.inputFresh, after?.changesOn]).toEqual([1_500_000_000n, undefined])
})

test('if the price changes with the hour, it is the highest one', () => {
  const { cost } = listed('deepseek', 'deepseek-chat')
  expect([cost.inputFresh, cost.inputCached, cost.outputText]).toEqual([270_000_000n, 70_000_000n, 1_100_000_000n])
})

test('images are sold by their own tokens, and their capabilities are known', () => {
  const banana = listed('gemini', 'gemini-3-pro-image-preview')
  // $2, $12, $120: 10×2,000 + 20×12,000 + 100×12,000 + 1,120×120,000
  const painted = usage({ inputFresh: 10, outputText: 20, outputReasoning: 100, outputImage: 1_120 })
  expect(costOf(banana, painted)).toBe(135_860_000n)
  expect(banana).toMatchObject({ kind: 'image', limits: { image: { surface: 'turn', qualities: ['1K', '2K', '4K'] } } })
  const gpt = listed('openai', 'gpt-image-1.5')
  // $5, $8 for images, $2 cached, $32: 10×5,000 + 323×8,000 + 5×2,000 + 1,056×32,000
  const edited = usage({ inputFresh: 10, inputImage: 323, inputCached: 5, outputImage: 1_056 })
  expect(costOf(gpt, edited)).toBe(36_436_000n)
  expect(gpt.limits.image).toMatchObject({ deliveries: ['b64_json'], isSingle: true })
})

test('limits: context, longest answer, dimensions, no audio if it costs more', () => {
  expect(listed('openai', 'gpt-5').limits).toEqual({
    contextTokens: 400_000,
    outputTokensMax: 128_000,
    hidesReasoning: true,
  })
  expect(listed('openai', 'text-embedding-3-small')).toMatchObject({
    kind: 'embedding',
    limits: { dimensions: 1_536, dimensionsAdjustable: true },
  })
  expect(listed('gemini', 'gemini-2.5-flash').limits).toMatchObject({ mediaInput: 'refused' })
  expect(listed('moonshot', 'moonshot-v1-8k').limits).toEqual({
    contextTokens: 8_192,
    outputTokensMax: 8_192,
  })
})

test('every text model has its longest answer and its context, except those that no source knows', () => {
  const texts = Object.keys(priceList().vendors).flatMap((preset) =>
    vendorModels(preset, released).filter(({ kind }) => kind === 'text'),
  )
  expect(texts.length).toBeGreaterThan(100)
  const unknown = texts.filter(({ limits }) => limits.outputTokensMax === undefined || !limits.contextTokens)
  expect(unknown.map(({ id }) => id)).toEqual(['meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8'])
  for (const { id, limits } of texts) {
    const { outputTokensMax = 1_024, contextTokens = Infinity } = limits
    expect([id, Number.isInteger(outputTokensMax), outputTokensMax >= 1_024, outputTokensMax <= contextTokens]).toEqual(
      [id, true, true, true],
    )
  }
  const drafts = modelsOfVendors(Object.keys(priceList().vendors), { atMs: released, by: 0n })
  expect(drafts.filter(({ kind, limits }) => kind === 'text' && !limits.outputTokensMax).length).toBe(unknown.length)
})

test('other kinds have no output limit: an image bounds itself, and a vector has no output', () => {
  for (const preset of Object.keys(priceList().vendors))
    for (const { kind, limits } of vendorModels(preset, released))
      if (kind !== 'text') expect(limits.outputTokensMax).toBeUndefined()
})

test('output limits and contexts equal those of a table made by hand', () => {
  // Contexts and output limits, read from the two sources by hand.
  const known = [
    ['openai', 'gpt-4o', 128_000, 16_384],
    ['openai', 'gpt-4.1', 1_047_576, 32_768],
    ['openai', 'gpt-5-pro', 400_000, 272_000],
    ['openai', 'o3', 200_000, 100_000],
    // Only models.dev has its context, and LiteLLM has the larger output limit.
    ['anthropic', 'claude-sonnet-4-6', 1_000_000, 128_000],
    ['anthropic', 'claude-haiku-4-5', 200_000, 64_000],
    ['gemini', 'gemini-2.5-pro', 1_048_576, 65_536],
    ['groq', 'llama-3.3-70b-versatile', 131_072, 32_768],
    ['deepseek', 'deepseek-v4-pro', 1_000_000, 393_216],
    // Only the context bounds the answer.
    ['xai', 'grok-3', 131_072, 131_072],
    ['moonshot', 'kimi-k2.7-code-highspeed', 262_144, 262_144],
  ] as const
  for (const [preset, id, contextTokens, outputTokensMax] of known)
    expect([id, listed(preset, id).limits]).toMatchObject([id, { contextTokens, outputTokensMax }])
})

test('of two vendors with the same id, the first gets the id, and the other gets a prefix', () => {
  const drafts = modelsOfVendors(['fireworks', 'cerebras'], { atMs: released, by: 200_000n })
  const [first, second] = ['gpt-oss-120b', 'cerebras/gpt-oss-120b'].map((id) => drafts.find((one) => one.id === id))
  expect(first?.offers[0]).toMatchObject({
    providerId: 'fireworks',
    upstreamModel: 'accounts/fireworks/models/gpt-oss-120b',
  })
  expect(second?.offers[0]).toMatchObject({ providerId: 'cerebras', upstreamModel: 'gpt-oss-120b' })
  // $0.35 and 20 %.
  expect(second?.price.inputFresh).toBe(420_000_000n)
  expect(new Set(drafts.map(({ id }) => id)).size).toBe(drafts.length)
})

test('the mark-up is also on the tiers, and not on the cost', () => {
  const draft = draftOf(listed('openai', 'gpt-5.4'), { id: 'gpt-5.4', providerId: 'openai', by: 200_000n })
  expect(draft.priceTiers).toMatchObject([
    { aboveInputTokens: 271_999, nanoPerMillion: { inputFresh: 6_000_000_000n } },
  ])
  expect(draft.offers[0]?.costTiers).toMatchObject([{ nanoPerMillion: { inputFresh: 5_000_000_000n } }])
})
