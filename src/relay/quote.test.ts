import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { defaultModelLimits, type Model, type ModelLimits } from '../domain/catalog.ts'
import { imageFamilies } from '../domain/image.ts'
import { unitPrices } from '../domain/price.ts'
import { readChatRequest } from '../../test/support/read-chat.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import { quote, type QuotedRequest } from './quote.ts'

/** 1 nano-USD per input token, 10 per output token. */
const prices = unitPrices({ input: 1_000_000n, output: 10_000_000n })
const model = (limits: Partial<ModelLimits> = {}): Model => ({
  id: 'm',
  ownedBy: 'p',
  createdAtMs: 0,
  kind: 'text',
  origin: 'stored',
  limits: { ...defaultModelLimits, ...limits },
  sale: { id: 1, effectiveFromMs: 0, nanoPerMillion: prices },
  offers: [],
})

function request(fields: object = {}): ChatRequest {
  const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields })
  const read = readChatRequest(text, text.length)
  if (read.kind !== 'read') throw new Error(read.failure.message)
  return read.request
}
const inputOf = (body: ChatRequest): bigint => BigInt(body.textBytes)

test('a client’s own limit is quoted as it is, times n', () => {
  const one = request({ max_tokens: 100 })
  expect(quote(one, model(), 10_000n)).toMatchObject({ kind: 'quoted', amount: inputOf(one) + 1_000n, cap: undefined })
  const three = request({ max_completion_tokens: 100, n: 3 })
  expect(quote(three, model(), 10_000n)).toMatchObject({ amount: inputOf(three) + 3_000n })
})

test('a limit above the model’s maximum is lowered to it', () => {
  const body = request({ max_tokens: 1_000 })
  expect(quote(body, model({ outputTokensMax: 50 }), 10_000n)).toMatchObject({
    kind: 'quoted',
    amount: inputOf(body) + 500n,
    cap: 50,
  })
})

test('a limit that is not affordable is refused, naming what would fit', () => {
  const body = request({ max_tokens: 1_000 })
  const needed = inputOf(body) + 10_000n
  expect(quote(body, model(), inputOf(body) + 999n)).toEqual({ kind: 'unaffordable', needed, fitting: 99 })
  expect(quote(body, model(), 3n)).toEqual({ kind: 'unaffordable', needed, fitting: 0 })
})

test('without a limit: the known maximum, else the default, else what is affordable, down to the least useful', () => {
  const body = request()
  const known = model({ outputTokensMax: 20_000 })
  const cap = (available: bigint, of = known): number | undefined | string => {
    const quoted = quote(body, of, inputOf(body) + available)
    return quoted.kind === 'quoted' ? quoted.cap : quoted.kind
  }
  expect(cap(200_000n)).toBe(20_000)
  expect(cap(199_999n)).toBe(8_192)
  expect(cap(81_919n)).toBe(8_191)
  expect(cap(2_560n)).toBe(256)
  expect(cap(2_559n)).toBe('unaffordable')
  expect(cap(10n ** 12n, model())).toBe(8_192)
  expect(cap(100n, model({ outputTokensMax: 10 }))).toBe(10)
})

test('where the answer may be an image, one of the asked size is held for, and fits whatever cap is set', () => {
  const painter: Model = { ...model({ image: imageFamilies['gemini-3.1-flash-image'] }), kind: 'image' }
  const asking = (fields: object, quality?: string): QuotedRequest => ({ ...request(fields), painting: { quality } })
  const input = BigInt(asking({ max_tokens: 16 }).textBytes)
  expect(quote(asking({ max_tokens: 16 }), painter, 10n ** 9n)).toMatchObject({
    amount: input + 11_200n,
    outputTokens: 16,
    cap: undefined,
  })
  expect(quote(asking({ max_tokens: 16 }, '4K'), painter, 10n ** 9n)).toMatchObject({ amount: input + 25_200n })
  expect(quote(asking({ max_tokens: 5_000 }), painter, 10n ** 9n)).toMatchObject({ amount: input + 2n + 50_000n })
  expect(quote(asking({ max_tokens: 16 }), painter, input + 11_199n)).toMatchObject({
    kind: 'unaffordable',
    fitting: 0,
  })
  // Without a limit: an image and some words must fit into what the balance affords.
  const free = asking({})
  const least = BigInt(free.textBytes + 10 * (1_120 + 256))
  expect(quote(free, painter, least)).toMatchObject({ kind: 'quoted', cap: 1_376, amount: least })
  expect(quote(free, painter, least - 1n)).toMatchObject({ kind: 'unaffordable', needed: least })
})

const tokensMax = fc.constantFrom(1, 300, 4_096, 2_000_000, Number.MAX_SAFE_INTEGER)
const aQuote = fc.record({
  input: fc.bigInt(0n, 10n ** 12n),
  output: fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 15n)),
  limits: fc.record({
    outputTokensMax: fc.option(tokensMax, { nil: undefined }),
    outputTokensDefault: fc.constantFrom(512, 8_192),
    outputTokensMin: fc.constantFrom(1, 256),
  }),
  choices: fc.constantFrom(1, 2, 128),
  asked: fc.option(tokensMax, { nil: undefined }),
  textBytes: fc.constantFrom(0, 30, 1_000_000),
  /** Some amount, or what so many tokens cost, less one. */
  available: fc.oneof(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 18n), fc.constantFrom(300, 512, 8_192)),
  lacking: fc.constantFrom(0n, 1n),
})
type AQuote = typeof aQuote extends fc.Arbitrary<infer Case> ? Case : never

test('quotes are exact and just affordable, from nothing to beyond what numbers hold', () => {
  const check = ({ input, output, limits, choices, asked, textBytes, available: given, lacking }: AQuote): void => {
    const exact = (tokens: number): bigint =>
      (BigInt(textBytes) * input + BigInt(tokens) * BigInt(choices) * output + 999_999n) / 1_000_000n
    const available = typeof given === 'bigint' ? given : exact(given) - lacking
    const sale = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input, output }) }
    const body: QuotedRequest = { ...request(), outputTokensMax: asked, choices, textBytes }
    const quoted = quote(body, { ...model(limits), sale }, available)
    const most = limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER
    const usual = Math.min(limits.outputTokensDefault, most)
    if (quoted.kind === 'quoted') {
      const tokens = quoted.cap ?? asked ?? 0
      expect(quoted).toMatchObject({ amount: exact(tokens), outputTokens: tokens * choices })
      expect(quoted.amount <= available && tokens <= most).toBe(true)
      if (asked !== undefined) expect(tokens).toBe(Math.min(asked, most))
      // Never less than there is money for, as far as anybody wishes.
      else if (tokens < usual) expect(exact(tokens + 1) > available).toBe(true)
    } else {
      const { needed, fitting } = quoted
      expect(needed).toBe(exact(Math.min(asked ?? Math.min(limits.outputTokensMin, usual), most)))
      expect(needed > available).toBe(true)
      expect(fitting === 0 || exact(fitting) <= available).toBe(true)
      expect(fitting === most || exact(fitting + 1) > available).toBe(true)
    }
  }
  fc.assert(fc.property(aQuote, check), { numRuns: 10_000 })
})

test('an image counts by its model’s rule, not by the length of its base64', () => {
  const url = `data:image/png;base64,${'A'.repeat(100_000)}`
  const body = request({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    max_tokens: 1,
  })
  const quoted = quote(body, model({ imageTokensMax: 700 }), 10n ** 9n)
  expect(quoted).toMatchObject({ kind: 'quoted', amount: BigInt(body.textBytes + 700 + 10) })
  expect(body.textBytes).toBeLessThan(300)
})
