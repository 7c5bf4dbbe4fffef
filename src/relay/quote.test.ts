import { expect, test } from 'bun:test'
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

test('quotes are exact and just affordable, from nothing to beyond what numbers hold', () => {
  const some = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T
  const big = (digits: number): bigint => BigInt(Math.floor(10 ** (Math.random() * digits)))
  for (let i = 0; i < 20_000; i++) {
    const sale = unitPrices({ input: big(12), output: big(i % 3 === 0 ? 15 : 9) })
    const limits = {
      outputTokensMax: some([undefined, 1, 4_096, 2_000_000]),
      outputTokensDefault: some([512, 8_192]),
      outputTokensMin: some([1, 256]),
    }
    const of: Model = { ...model(limits), sale: { id: 1, effectiveFromMs: 0, nanoPerMillion: sale } }
    const choices = some([1, 1, 2, 128])
    const asked = some([undefined, 1, 300, 1_000_000, Number.MAX_SAFE_INTEGER])
    const body: QuotedRequest = { ...request(), outputTokensMax: asked, choices, textBytes: some([0, 30, 1_000_000]) }
    const exact = (tokens: number): bigint => {
      const total = BigInt(body.textBytes) * sale.inputFresh + BigInt(tokens) * BigInt(choices) * sale.outputText
      return (total + 999_999n) / 1_000_000n
    }
    const available = some([0n, big(12), big(18), exact(limits.outputTokensDefault), exact(asked ?? 1) - 1n])
    const quoted = quote(body, of, available)
    const most = limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER
    if (quoted.kind === 'quoted') {
      const tokens = quoted.cap ?? asked ?? 0
      expect(quoted).toMatchObject({ amount: exact(tokens), outputTokens: tokens * choices })
      expect(quoted.amount <= available && tokens <= most).toBe(true)
      if (asked !== undefined) expect(tokens).toBe(Math.min(asked, most))
      // Never less than there is money for, as far as anybody wishes.
      else if (tokens < Math.min(limits.outputTokensDefault, most)) expect(exact(tokens + 1) > available).toBe(true)
    } else {
      const least = Math.min(limits.outputTokensMin, limits.outputTokensDefault, most)
      expect(quoted.needed).toBe(exact(asked === undefined ? least : Math.min(asked, most)))
      expect(quoted.needed > available).toBe(true)
      const { fitting } = quoted
      expect(fitting === 0 || exact(fitting) <= available).toBe(true)
      expect(fitting === most || exact(fitting + 1) > available).toBe(true)
    }
  }
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
