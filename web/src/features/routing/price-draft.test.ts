import { expect, test } from 'bun:test'
import type { VideoFacts } from '../../lib/api-types.gen.ts'
import type { ModelKind, UnitPrices } from '../../lib/models.ts'
import { limitDraftOf, limitsOf, noLimits } from './limit-draft.ts'
import { areAmounts, noPrice, priceDraftOf, pricesOf, unitsShown } from './price-draft.ts'

const flat = (input: string, output: string): UnitPrices => ({
  input,
  output,
  cached_input: input,
  cache_write: input,
  cache_write_1h: input,
  reasoning: output,
  image_input: input,
  image_output: output,
  each: {},
})

/** The result of the server for what is sent. */
function stored(sent: object | undefined): UnitPrices {
  const { input = '0', output = '0', each = {}, ...rest } = (sent ?? {}) as Partial<UnitPrices>
  const write = rest.cache_write ?? input
  return { ...flat(input, output), cache_write_1h: write, ...rest, each }
}

test.each<[string, ModelKind, UnitPrices]>([
  ['a text model with a cache', 'text', { ...flat('150000000', '600000000'), cached_input: '75000000' }],
  ['cache writes', 'text', { ...flat('3', '15'), cache_write: '4', cache_write_1h: '6', cached_input: '1' }],
  ['an embedding', 'embedding', flat('20000000', '0')],
  ['images by tokens', 'image', { ...flat('5', '10'), image_input: '8', image_output: '40' }],
  [
    'images by size and quality',
    'image',
    { ...flat('0', '0'), each: { 'image/1024x1024/high': '40000000', image: '7' } },
  ],
  [
    'videos by the second',
    'video',
    { ...flat('0', '0'), each: { 'second/720p/with-video/silent': '80000000', 'upscale/1080p/standard/60fps': '1' } },
  ],
  ['videos by tokens', 'video', flat('0', '7000000000')],
  ['what a form of its kind does not usually show', 'embedding', { ...flat('3', '9'), each: { 'odd/one': '1' } }],
])('%s goes through the form as it is', (_, kind, prices) => {
  const draft = priceDraftOf(prices, kind)
  expect(stored(pricesOf(draft))).toEqual(prices)
  for (const unit of Object.keys(draft.tokens)) expect([...unitsShown(draft, kind)] as string[]).toContain(unit)
})

test('nothing that is said is nothing that is sent', () => {
  expect(pricesOf(noPrice)).toBeUndefined()
  expect(
    pricesOf({ ...noPrice, tokens: { input: ' ' }, pieces: [{ unit: 'image', size: '', rest: '', price: '' }] }),
  ).toBeUndefined()
})

test('tiers go through the form; what is emptied is taken back, and tiers that nobody touched are not sent', () => {
  const tier = { ...flat('5000000000', '22500000000'), above_input_tokens: 272_000 }
  const card = { ...flat('2500000000', '15000000000'), cached_input: '250000000', tiers: [tier] }
  const before = priceDraftOf(card, 'text')
  expect(pricesOf(before)).toMatchObject({ above: { 272000: { input: '5000000000', output: '22500000000' } } })
  const dearer = { ...before, tokens: { ...before.tokens, output: '16', cached_input: ' ' } }
  expect(pricesOf(dearer, before)).toEqual({ input: '2500000000', output: '16000000000', cached_input: null })
  expect(pricesOf({ ...before, tiers: [] }, before)).toMatchObject({ above: null })
  const moved = { ...before, tiers: [{ above: '200000', tokens: { input: '4', output: '20' } }] }
  expect(pricesOf(moved, before)).toMatchObject({ above: { 200000: { input: '4000000000', output: '20000000000' } } })
  const pieces = priceDraftOf({ ...flat('0', '0'), each: { image: '7' } }, 'image')
  expect(pricesOf({ ...noPrice, tokens: { output: '40' } }, pieces)).toMatchObject({
    output: '40000000000',
    each: null,
  })
  expect(areAmounts({ ...noPrice, tiers: [{ above: '1', tokens: { input: 'x' } }] })).toBe(false)
})

test('limits are sent as the API has them, abilities below their kind', () => {
  const typed = {
    context_tokens: '128000',
    sizes: '1024x1024, 512x512',
    durations: '5,10',
    n_max: '4',
    upscaler: ' mk ',
  }
  expect(limitsOf({ ...noLimits, typed }, 'text')).toEqual({ context_tokens: 128_000 })
  expect(limitsOf({ ...noLimits, typed }, 'image')).toEqual({
    image: { family: 'open', sizes: ['1024x1024', '512x512'], n_max: 4 },
  })
  expect(limitsOf({ ...noLimits, typed }, 'video')).toEqual({
    video: { family: 'open', durations: [5, 10], upscaler: 'mk' },
  })
  expect(limitsOf({ ...noLimits, typed, family: '' }, 'video')).toEqual({})
  expect(limitsOf({ ...noLimits, typed: { dimensions: '256' }, adjustable: true }, 'embedding')).toEqual({
    dimensions: 256,
    dimensions_adjustable: true,
  })
})

test('limits of a model that is there are in the form as they are, and go back as they are', () => {
  const usual = { output_tokens_default: 8_192, first_event_timeout_ms: 60_000 }
  const none = { context_tokens: null, output_tokens_max: null, dimensions: null, dimensions_adjustable: false }
  const nothing = { ...usual, ...none }
  const vectors = { ...nothing, kind: 'embedding' as const, dimensions: 256, dimensions_adjustable: true, video: null }
  const before = limitDraftOf(vectors)
  expect(before).toMatchObject({ typed: { dimensions: '256' }, adjustable: true })
  expect(limitsOf(before, 'embedding', before)).toEqual({})
  expect(limitsOf({ ...before, adjustable: false }, 'embedding', before)).toEqual({ dimensions_adjustable: false })
  const film = limitDraftOf({ ...nothing, kind: 'video', video: { upscaler: 'kit' } as VideoFacts })
  expect(limitsOf(film, 'video', film)).toEqual({})
  // Abilities are sent whole. The upscaler must not be lost.
  const other = { ...film, family: 'open' }
  expect(limitsOf(other, 'video', film)).toEqual({ video: { family: 'open', upscaler: 'kit' } })
  expect(limitsOf({ ...other, typed: { upscaler: ' ' } }, 'video', film)).toEqual({ video: { family: 'open' } })
})

test('a limit that is emptied is taken back, one that is typed anew is sent, and no other', () => {
  const limits = { context_tokens: 9, output_tokens_max: 8, dimensions: null, dimensions_adjustable: false }
  const usual = { output_tokens_default: 8_192, first_event_timeout_ms: 60_000 }
  const before = limitDraftOf({ ...limits, ...usual, kind: 'text', video: null })
  expect(before.typed).toEqual({
    context_tokens: '9',
    output_tokens_max: '8',
    output_tokens_default: '8192',
    first_event_timeout_ms: '60000',
  })
  const typed = {
    ...before.typed,
    output_tokens_max: ' ',
    first_event_timeout_ms: '999',
    output_tokens_default: '8192 ',
  }
  expect(limitsOf({ ...before, typed }, 'text', before)).toEqual({
    output_tokens_max: null,
    first_event_timeout_ms: 999,
  })
})

test('what is no amount is not sent: it would be sold for nothing', () => {
  const tokens = { input: 'free', output: '1' }
  expect(areAmounts({ ...noPrice, tokens })).toBe(false)
  expect(() => pricesOf({ ...noPrice, tokens })).toThrow('free')
  expect(areAmounts({ ...noPrice, pieces: [{ unit: 'image', size: '', rest: '', price: '0,5' }] })).toBe(false)
  expect(areAmounts({ ...noPrice, tokens: { input: ' ', output: '$1,000.50' } })).toBe(true)
})
