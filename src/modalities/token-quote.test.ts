import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Model } from '../domain/catalog.ts'
import { defaultModelLimits, type ModelLimits } from '../domain/model-limits.ts'
import { imageFamilies } from '../vendors/image-families.ts'
import { unitPrices } from '../domain/price.ts'
import { readChatRequest } from '../../test/support/read-chat.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import { inlineImageModality } from './inline-image.ts'
import type { Quote, QuotedRequest } from './modality.ts'
import { heldFor, outputBoundOf, quoteTokens } from './token-quote.ts'

/** This much is available, and other requests are running. */
const quote = (body: QuotedRequest, of: Model, available: bigint, spare: SpareMeans = {}): Quote => {
  const { isAlone = false, canGrow = true } = spare
  return quoteTokens(body, of, { means: { available, isAlone }, canGrow, imageTokens: 0 })
}
type SpareMeans = { readonly isAlone?: boolean; readonly canGrow?: boolean }

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

test('a client’s own limit is quoted unchanged, times n', () => {
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
    cap: { tokens: 50, reason: 'model_maximum' },
  })
})

test('a limit that is not affordable is refused with the limit that would fit', () => {
  const body = request({ max_tokens: 1_000 })
  const needed = inputOf(body) + 10_000n
  expect(quote(body, model(), inputOf(body) + 999n)).toEqual({ kind: 'unaffordable', needed, fitting: 99 })
  expect(quote(body, model(), 3n)).toEqual({ kind: 'unaffordable', needed, fitting: 0 })
})

const growing = (amount: bigint, tokens: number, most: number): object => ({
  kind: 'quoted',
  amount,
  outputTokens: tokens,
  outputTokensMax: most,
  cap: undefined,
  grows: true,
})

test('without a limit, the model’s maximum is held for if that leaves room for others', () => {
  const body = request()
  const known = model({ outputTokensMax: 20_000 })
  const input = inputOf(body)
  const whole = { kind: 'quoted', amount: input + 200_000n, outputTokens: 20_000, cap: undefined, grows: false }
  expect(quote(body, known, 2n * (input + 200_000n))).toMatchObject(whole)
  expect(quote(body, known, 2n * (input + 200_000n) - 1n)).toMatchObject({ grows: true })
  // No other request is running, but later ones need room.
  expect(quote(body, known, input + 220_000n, { isAlone: true })).toMatchObject(whole)
  expect(quote(body, known, input + 200_000n, { isAlone: true })).toMatchObject({ grows: true })
})

test('an unknown maximum is bounded by the context, or by what no model exceeds', () => {
  expect(outputBoundOf({ ...defaultModelLimits, outputTokensMax: 10, contextTokens: 4 })).toBe(4)
  expect(outputBoundOf({ ...defaultModelLimits, contextTokens: 400_000 })).toBe(400_000)
  const body = request()
  expect(quote(body, model(), 10n ** 12n)).toMatchObject({ outputTokens: 131_072, cap: undefined, grows: false })
  expect(quote(body, model({ contextTokens: 4_096 }), 10n ** 12n)).toMatchObject({ outputTokens: 4_096 })
})

test('a growing hold begins with a share of what is available, and at least with the least useful output', () => {
  const body = request()
  const input = inputOf(body)
  const known = model({ outputTokensMax: 20_000 })
  expect(quote(body, known, 200_000n)).toMatchObject(growing(input + 3_120n, 312, 20_000))
  expect(quote(body, known, 20_000n)).toMatchObject(growing(input + 640n, 64, 20_000))
  expect(quote(body, known, input + 2_560n)).toMatchObject(growing(input + 640n, 64, 20_000))
  expect(quote(body, known, input + 2_559n)).toEqual({ kind: 'unaffordable', needed: input + 2_560n, fitting: 255 })
  expect(quote(request({ n: 4 }), known, 800_000n)).toMatchObject({ outputTokens: 1_248, outputTokensMax: 80_000 })
  expect(quote(body, model({ outputTokensMax: 10 }), input + 100n)).toMatchObject({ outputTokens: 10, grows: true })
})

test('an answer whose hold cannot grow gets a limit, which is a share of what is available', () => {
  const body = request()
  const input = inputOf(body)
  const silent = model({ outputTokensMax: 20_000, hidesReasoning: true })
  const cap = (tokens: number) => ({ tokens, reason: 'balance' }) as const
  expect(quote(body, silent, 240_000n)).toMatchObject({ cap: cap(1_500), outputTokens: 1_500, grows: false })
  expect(quote(body, model({ outputTokensMax: 20_000 }), 240_000n, { canGrow: false })).toMatchObject({
    cap: cap(1_500),
  })
  expect(quote(body, silent, input + 2_560n)).toMatchObject({ cap: cap(256), amount: input + 2_560n })
  expect(quote(body, silent, input + 2_559n)).toMatchObject({ kind: 'unaffordable' })
  // A limit must fit into the context after the input.
  const small = model({ contextTokens: 1_000, hidesReasoning: true })
  const long = request({ messages: [{ role: 'user', content: 'x'.repeat(1_200) }] })
  const quoted = quote(long, small, 19_000n)
  expect(quoted).toMatchObject({ kind: 'quoted', cap: { reason: 'balance' } })
  expect(quoted.kind === 'quoted' && quoted.cap && quoted.cap.tokens < 600).toBe(true)
})

test('many requests fit side by side on twice the price of one maximum', () => {
  for (const limits of [{}, { hidesReasoning: true }] as const) {
    for (const outputTokensMax of 'hidesReasoning' in limits ? [16_384, 128_000] : [8_192, 16_384, 128_000]) {
      const of = model({ ...limits, outputTokensMax })
      let available = 2n * heldFor(request(), of, outputTokensMax)
      let answered = 0
      for (let i = 0; i < 32; i++) {
        const quoted = quote(request(), of, available, { isAlone: i === 0 })
        if (quoted.kind !== 'quoted') break
        answered++
        available -= quoted.amount
      }
      expect(answered).toBeGreaterThanOrEqual(30)
    }
  }
})

test('the operator’s limit applies if the client sets none', () => {
  const body = request()
  const limited = model({ outputTokensMax: 20_000, outputTokensDefault: 1_000 })
  const input = inputOf(body)
  expect(quote(body, limited, input + 10_000n)).toMatchObject({
    amount: input + 10_000n,
    cap: { tokens: 1_000, reason: 'operator' },
  })
  expect(quote(body, limited, input + 9_999n)).toMatchObject({ cap: { tokens: 999, reason: 'balance' } })
  expect(quote(body, limited, input + 2_559n)).toMatchObject({ kind: 'unaffordable', needed: input + 2_560n })
  expect(quote(request({ max_tokens: 5_000 }), limited, 10n ** 9n)).toMatchObject({ cap: undefined })
})

test('if the answer may be an image, one of the requested size is held for, and fits any cap', () => {
  const paint = (body: QuotedRequest, of: Model, available: bigint): Quote =>
    inlineImageModality.quote(body, of, { available, isAlone: false })
  const painter: Model = { ...model({ image: imageFamilies['gemini-3.1-flash-image'] }), kind: 'image' }
  const asking = (fields: object, quality?: string): QuotedRequest => ({ ...request(fields), painting: { quality } })
  const input = BigInt(asking({ max_tokens: 16 }).textBytes)
  expect(paint(asking({ max_tokens: 16 }), painter, 10n ** 9n)).toMatchObject({
    amount: input + 11_200n,
    outputTokens: 16,
    cap: undefined,
  })
  expect(paint(asking({ max_tokens: 16 }, '4K'), painter, 10n ** 9n)).toMatchObject({ amount: input + 25_200n })
  expect(paint(asking({ max_tokens: 5_000 }), painter, 10n ** 9n)).toMatchObject({ amount: input + 2n + 50_000n })
  expect(paint(asking({ max_tokens: 16 }), painter, input + 11_199n)).toMatchObject({
    kind: 'unaffordable',
    fitting: 0,
  })
  // Without a limit, an image and some text must fit into what the balance affords.
  const free = asking({})
  const least = BigInt(free.textBytes + 10 * (1_120 + 256))
  expect(paint(free, painter, least)).toMatchObject({ kind: 'quoted', cap: { tokens: 1_376 }, amount: least })
  expect(paint(free, painter, least - 1n)).toMatchObject({ kind: 'unaffordable', needed: least })
})

const tokensMax = fc.constantFrom(1, 300, 4_096, 2_000_000, Number.MAX_SAFE_INTEGER)
const aQuote = fc.record({
  input: fc.bigInt(0n, 10n ** 12n),
  output: fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 15n)),
  limits: fc.record({
    outputTokensMax: fc.option(tokensMax, { nil: undefined }),
    outputTokensDefault: fc.constantFrom(undefined, 512, 8_192),
    outputTokensMin: fc.constantFrom(1, 256),
    contextTokens: fc.option(fc.constantFrom(1_000, 128_000), { nil: undefined }),
    hidesReasoning: fc.boolean(),
  }),
  isAlone: fc.boolean(),
  choices: fc.constantFrom(1, 2, 128),
  asked: fc.option(tokensMax, { nil: undefined }),
  textBytes: fc.constantFrom(0, 30, 1_000_000),
  /** Any amount, or the price of some tokens minus one. */
  available: fc.oneof(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 18n), fc.constantFrom(300, 512, 8_192)),
  lacking: fc.constantFrom(0n, 1n),
})
type AQuote = typeof aQuote extends fc.Arbitrary<infer Case> ? Case : never

test('quotes are exact and affordable, from zero to beyond the range of numbers', () => {
  const check = (one: AQuote): void => {
    const { input, output, limits, choices, asked, textBytes, available: given, lacking, isAlone } = one
    const exact = (tokens: number): bigint =>
      (BigInt(textBytes) * input + BigInt(tokens) * BigInt(choices) * output + 999_999n) / 1_000_000n
    const bound = typeof given === 'bigint' ? given : exact(given) - lacking
    const available = bound < 0n ? 0n : bound
    const sale = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input, output }) }
    const of = { ...model(limits), sale }
    const body: QuotedRequest = { ...request(), outputTokensMax: asked, choices, textBytes }
    const quoted = quote(body, of, available, { isAlone })
    const most = asked === undefined ? outputBoundOf(of.limits) : (limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER)
    if (quoted.kind === 'quoted') {
      const { amount, outputTokens, outputTokensMax, cap, grows } = quoted
      const tokens = outputTokens / choices
      expect(amount).toBe(exact(tokens))
      expect(amount <= available && tokens <= most && outputTokens <= outputTokensMax).toBe(true)
      expect(cap === undefined || cap.tokens === tokens).toBe(true)
      if (asked !== undefined) return expect(tokens).toBe(Math.min(asked, most))
      // Either no limit is sent, or the whole limit is held for. A growing hold is neither.
      if (grows) return expect({ cap, hides: limits.hidesReasoning }).toEqual({ cap: undefined, hides: false })
      if (cap === undefined) expect(tokens).toBe(most)
    } else {
      const { needed, fitting } = quoted
      expect(needed > available).toBe(true)
      if (asked !== undefined) expect(needed).toBe(exact(Math.min(asked, most)))
      expect(fitting === 0 || exact(fitting) <= available).toBe(true)
      expect(fitting === most || exact(fitting + 1) > available).toBe(true)
    }
  }
  fc.assert(fc.property(aQuote, check), { numRuns: 10_000 })
})

test('an image counts by its model’s rule, and not by the length of its base64', () => {
  const url = `data:image/png;base64,${'A'.repeat(100_000)}`
  const body = request({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    max_tokens: 1,
  })
  const quoted = quote(body, model({ imageTokensMax: 700 }), 10n ** 9n)
  expect(quoted).toMatchObject({ kind: 'quoted', amount: BigInt(body.textBytes + 700 + 10) })
  expect(body.textBytes).toBeLessThan(300)
})
