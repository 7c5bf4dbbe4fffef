/**
 * Requests without an output limit. The upstream gets no limit that the client did not send, a small hold grows with
 * the answer, and the answer ends with the balance, reported as cut at its length and charged to the nano-dollar.
 */
import { describe, expect, test } from 'bun:test'
import { formatUsd } from '../../src/domain/money.ts'
import { useGateway } from '../support/use-gateway.ts'
import { limitIn, startWordVendor, type WordVendor } from '../support/word-vendor.ts'

/** $ per million tokens, and nano-dollars per token. */
const OUTPUT = 10
const NANO_PER_TOKEN = 10_000n
const WORDS = 10_000
const DIALECTS = ['chat', 'messages', 'gemini', 'responses'] as const
type Dialect = (typeof DIALECTS)[number]
/** The dialects whose requests need no limit. */
const CLIENTS = ['chat', 'gemini', 'responses'] as const
type Client = (typeof CLIENTS)[number]

let vendor: WordVendor
const gateway = useGateway(
  () => {
    vendor = startWordVendor()
    const price = `price: { input: 0, output: ${OUTPUT} }`
    const model = (name: string, dialect: Dialect, more = ''): string =>
      `  ${name}-${dialect}: { ${price}, ${more} offers: [{ provider: ${dialect}, model: ${WORDS}-words }] }\n`
    const models = DIALECTS.map((dialect) =>
      [
        model('long', dialect, 'output_tokens_max: 128000,'),
        model('unknown', dialect),
        model('operator', dialect, 'output_tokens_default: 77,'),
      ].join(''),
    )
    return {
      yaml: `
sandbox: false
providers:
  chat: { base_url: '${vendor.origin}/v1', allow_private: true }
  messages: { preset: anthropic, base_url: '${vendor.origin}/v1', key: k, allow_private: true }
  gemini: { preset: gemini, base_url: '${vendor.origin}/v1beta', key: k, allow_private: true }
  responses: { preset: openai, base_url: '${vendor.origin}/v1', key: k, allow_private: true }
models:
${models.join('')}
  crowded: { ${price}, output_tokens_max: 16384, offers: [{ provider: chat, model: 200-words }] }
  hidden: { ${price}, output_tokens_max: 16384, hidden_reasoning: true, offers: [{ provider: chat, model: 200-words }] }
`,
    }
  },
  () => vendor.stop(),
)

let serial = 0

/** A key of a new account with so much money. */
async function keyWith(balance: string): Promise<{ account: string; key: string }> {
  const name = `growing-${serial++}`
  const { id: account } = await gateway.operate<{ id: string }>('account.create', { name, balance })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return { account, key }
}

type Asking = { readonly key: string; readonly model: string; readonly stream: boolean }

/** Asks as a client of a dialect does, without an output limit. */
function ask(dialect: Client, { key, model, stream }: Asking): Promise<Response> {
  const origin = new URL(gateway.baseUrl).origin
  const prompt = [{ role: 'user', content: 'go' }]
  const by: Record<Client, [string, object]> = {
    chat: ['/v1/chat/completions', { model, messages: prompt, stream }],
    responses: ['/v1/responses', { model, input: 'go', stream }],
    gemini: [
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
    ],
  }
  const [path, body] = by[dialect]
  return fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
}

/** The name by which each dialect says that an answer was cut at its length. */
const CUT: Record<Client, RegExp> = {
  chat: /"finish_reason":"length"/,
  gemini: /"finishReason":"MAX_TOKENS"/,
  responses: /"reason":"max_output_tokens"/,
}
const wordsIn = (text: string): number => {
  const [shown = text] = text.split(/event: response\.output_text\.done/)
  return (shown.match(/ word/g) ?? []).length
}

type ShownView = {
  readonly outcome: string
  readonly charged: string
  readonly output_text: string
  readonly output_cap: string | null
  readonly output_cap_reason: string | null
}
const record = async (response: Response): Promise<ShownView> =>
  gateway.operate<ShownView>('request.show', { request: response.headers.get('x-request-id') })
const balanceOf = async (key: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } })).json()) as Record<
    string,
    unknown
  >

describe.each(DIALECTS)('at a vendor that speaks %s', (upstream) => {
  test.each([true, false])('no limit is sent that nobody asked for (stream: %p)', async (stream) => {
    const { key } = await keyWith('100')
    for (const model of [`long-${upstream}`, `unknown-${upstream}`]) {
      for (const dialect of CLIENTS) {
        const response = await ask(dialect, { key, model, stream })
        const text = await response.text()
        expect([response.status, wordsIn(text) > 0]).toEqual([200, true])
        const asked = vendor.asked.at(-1) ?? { path: '', body: {} }
        if (upstream !== 'messages') expect([dialect, limitIn(asked)]).toEqual([dialect, undefined])
        else {
          // The format demands one.
          const wanted = model === `long-${upstream}` ? 128_000 : 8_192
          expect(limitIn(asked)).toBe(wanted)
          expect(await record(response)).toMatchObject({ output_cap: String(wanted), output_cap_reason: 'vendor' })
        }
      }
    }
  })

  test('the limit of the operator is sent, and the record says whose it is', async () => {
    const { key } = await keyWith('100')
    const response = await ask('chat', { key, model: `operator-${upstream}`, stream: false })
    await response.text()
    expect(limitIn(vendor.asked.at(-1) ?? { path: '', body: {} })).toBe(77)
    expect(response.headers.get('x-tollgate-max-output-tokens')).toBe('77')
    expect(await record(response)).toMatchObject({ output_cap: '77', output_cap_reason: 'operator' })
  })

  test.each(CLIENTS)(
    'a %s client with money for a tenth gets a tenth, streamed or whole, and pays for it',
    async (dialect) => {
      for (const stream of [true, false]) {
        const tokens = WORDS / 10
        const { key, account } = await keyWith(String((tokens * OUTPUT) / 1_000_000))
        const response = await ask(dialect, { key, model: `long-${upstream}`, stream })
        const text = await response.text()
        expect([response.status, CUT[dialect].test(text)]).toEqual([200, true])
        const { charged, ...shown } = await record(response)
        expect(shown).toMatchObject({ outcome: 'completed', output_cap_reason: 'balance' })
        // What is delivered is what is counted and charged, and it is nearly all that there was money for.
        expect(BigInt(charged)).toBe(BigInt(shown.output_text) * NANO_PER_TOKEN)
        expect(wordsIn(text)).toBeWithin(Number(shown.output_text) * 0.97, Number(shown.output_text) + 1)
        expect(wordsIn(text)).toBeWithin(tokens - 100, tokens + 1)
        const left = BigInt(tokens) * NANO_PER_TOKEN - BigInt(charged)
        expect(await balanceOf(key)).toMatchObject({ held: '0.00', posted: formatUsd(left) })
        expect(await gateway.operate('account.show', { account })).toMatchObject({ held_nano_usd: '0' })
        if (upstream !== 'messages') expect(limitIn(vendor.asked.at(-1) ?? { path: '', body: {} })).toBeUndefined()
      }
    },
  )
})

test.each(['crowded', 'hidden'])('32 whole calls of %s at once, on twice the price of one maximum', async (model) => {
  const { key } = await keyWith(String((2 * 16_384 * OUTPUT) / 1_000_000))
  const statuses = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const response = await ask('chat', { key, model, stream: false })
      const text = await response.text()
      return response.status === 200 && wordsIn(text) === 200 ? 'whole' : `${response.status} ${text.slice(0, 200)}`
    }),
  )
  expect(statuses.filter((one) => one === 'whole').length).toBeGreaterThanOrEqual(30)
})

test('a whole answer of a vendor that refuses to stream it is asked for in one piece, with a limit', async () => {
  const asked: Record<string, unknown>[] = []
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
  const reply = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
    usage,
  }
  const message = 'Your organization must be verified to stream this model.'
  const refusal = { error: { message, type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' } }
  const picky = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>
      asked.push(body)
      return body['stream'] === true ? Response.json(refusal, { status: 400 }) : Response.json(reply)
    },
  })
  const [provider, model] = [`picky-${serial}`, `picky-model-${serial}`]
  const base_url = `http://127.0.0.1:${picky.port}/v1`
  await gateway.operate('provider.add', { id: provider, preset: 'custom', base_url, allow_private: true })
  const price = { input: '0', output: String(OUTPUT) }
  const offers = [{ provider, model: 'theirs' }]
  await gateway.operate('model.add', { id: model, price, output_tokens_max: 128_000, offers })
  const { key } = await keyWith('0.16')
  for (const calls of [2, 1]) {
    const response = await ask('chat', { key, model, stream: false })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"content":"whole"')])
    expect(await record(response)).toMatchObject({ charged: '50000', output_cap_reason: 'balance' })
    // Of $0.16 a sixteenth is 1,000 tokens, beside what had been held. The next call is not asked for as a stream.
    const bodies = asked.splice(0)
    expect(bodies.map(({ stream }) => stream)).toEqual(calls === 2 ? [true, false] : [false])
    const [limit] = bodies.slice(-1).map(({ max_tokens: own, max_completion_tokens: other }) => own ?? other)
    expect(limit).toBeWithin(950, 1_400)
  }
  await picky.stop(true)
})
