/**
 * Clients while a hold grows: they leave, return with an idempotency key, follow a background answer, cancel it, lose
 * their key, or continue from an answer that the balance ended. Each request is settled once, and the account and the
 * records agree to the nano-dollar.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startWordVendor, type WordVendor } from '../support/word-vendor.ts'

const NANO_PER_TOKEN = 10_000n
const WORDS = 2_000
/** Of an answer that its client leaves: no machine is so slow that it has ended by then. */
const ENDLESS = 100_000
/** For less than the answer, and for all of it; less than the model's maximum in any case, so that the hold grows. */
const SHORT = 400
const ENOUGH = 20_000

let vendor: WordVendor
let gateway: TestGateway
beforeAll(async () => {
  vendor = startWordVendor({ pauseMs: 1 })
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
  chat: { base_url: '${vendor.origin}/v1', allow_private: true }
  messages: { preset: anthropic, base_url: '${vendor.origin}/v1', key: k, allow_private: true }
models:
  long-endless: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: chat, model: ${ENDLESS}-words }] }
  other-endless: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: messages, model: ${ENDLESS}-words }] }
  long: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: chat, model: ${WORDS}-words }] }
  other: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: messages, model: ${WORDS}-words }] }
`,
  })
})
afterAll(async () => {
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
  await gateway.close()
  await vendor.stop()
})

let serial = 0

type SendOptions = { readonly headers?: Record<string, string>; readonly signal?: AbortSignal }

class Client {
  readonly account = `client-${serial++}`
  key = ''
  keyId = ''
  tokens: number

  constructor(tokens: number) {
    this.tokens = tokens
  }

  async open(): Promise<this> {
    const balance = String((this.tokens * Number(NANO_PER_TOKEN)) / 1e9)
    await gateway.operate('account.create', { name: this.account, balance })
    const key = await gateway.operate<{ id: string; secret: string }>('key.create', {
      account: this.account,
      name: 'k',
    })
    this.key = key.secret
    this.keyId = key.id
    return this
  }

  send(path: string, body: object | undefined, more: SendOptions = {}) {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...more.headers }
    const method = body ? 'POST' : 'GET'
    const { signal = null } = more
    return fetch(gateway.baseUrl + path, { method, headers, signal, ...(body ? { body: JSON.stringify(body) } : {}) })
  }

  chat(fields: object, more: SendOptions = {}): Promise<Response> {
    const messages = [{ role: 'user', content: 'go' }]
    return this.send('/chat/completions', { model: 'long', messages, ...fields }, more)
  }

  respond(fields: object): Promise<Response> {
    return this.send('/responses', { model: 'long', input: 'go', ...fields })
  }

  /** Waits until so many calls are settled, and gives their records, of which the account has paid each. */
  async settled(calls = 1): Promise<CallRecord[]> {
    for (;;) {
      const records = await gateway.operate<CallRecord[]>('request.list', { account: this.account, limit: 100 })
      const account = await gateway.operate<Record<string, string>>('account.show', { account: this.account })
      if (records.length < calls || account['held_nano_usd'] !== '0') {
        await Bun.sleep(20)
        continue
      }
      expect(records.length).toBe(calls)
      const charged = records.reduce((sum, one) => sum + BigInt(one.charged), 0n)
      expect(BigInt(account['posted_nano_usd'] ?? '')).toBe(BigInt(this.tokens) * NANO_PER_TOKEN - charged)
      for (const one of records) expect(BigInt(one.charged)).toBe(BigInt(one.output_text) * NANO_PER_TOKEN)
      return records
    }
  }
}

type CallRecord = Readonly<Record<'outcome' | 'charged' | 'output_text', string>> & {
  readonly output_cap_reason: string | null
}
const client = (tokens: number): Promise<Client> => new Client(tokens).open()
const wordsIn = (text: string): number => (text.match(/ word/g) ?? []).length

/** A count cuts long texts, where a word may be two tokens. */
const expectPaid = (text: string, record: CallRecord | undefined): void =>
  expect(wordsIn(text)).toBeWithin(Number(record?.output_text) * 0.98, Number(record?.output_text) + 1)

/** Reads a stream until so many words have come. */
async function readWords(response: Response, words: number): Promise<number> {
  const reader = (response.body ?? expect.unreachable()).getReader()
  let text = ''
  while (wordsIn(text) < words) {
    const { done, value } = await reader.read()
    if (done) break
    text += Buffer.from(value).toString()
  }
  await reader.cancel()
  return wordsIn(text)
}

describe.each(['long', 'other'])('%s', (model) => {
  const endless = `${model}-endless`
  test('a client that leaves in the middle pays what arrived', async () => {
    const me = await client(ENOUGH)
    const got = await readWords(await me.chat({ model: endless, stream: true }), 300)
    const [record] = await me.settled()
    expect(record).toMatchObject({ outcome: 'client_closed' })
    expect(Number(record?.output_text)).toBeWithin(got, ENOUGH)
  })

  test('a client that leaves a whole answer in the middle pays its input', async () => {
    const me = await client(ENOUGH)
    const before = vendor.sent()
    const leaving = new AbortController()
    const asked = me.chat({ model: endless }, { signal: leaving.signal }).catch(() => 'left')
    while (vendor.sent() < before + 200) await Bun.sleep(5)
    leaving.abort()
    expect(await asked).toBe('left')
    expect(await me.settled()).toMatchObject([{ outcome: 'client_closed', output_text: '0' }])
  })

  test.each([SHORT, ENOUGH])(
    'with an idempotency key for %p tokens it gets the answer that it left',
    async (tokens) => {
      const me = await client(tokens)
      for (const stream of [true, false]) {
        const own = { 'idempotency-key': `once-${stream}` }
        if (stream) await readWords(await me.chat({ model, stream }, { headers: own }), 50)
        else {
          const leaving = new AbortController()
          const before = vendor.sent()
          const asked = me.chat({ model, stream }, { headers: own, signal: leaving.signal }).catch(() => 'left')
          while (vendor.sent() < before + 50) await Bun.sleep(5)
          leaving.abort()
          await asked
        }
        const records = await me.settled(stream ? 1 : 2)
        const again = await me.chat({ model, stream }, { headers: own })
        const text = await again.text()
        expect(again.status).toBe(200)
        expectPaid(text, records[0])
        expect(text.includes('"finish_reason":"length"')).toBe(tokens === SHORT)
        expect(await me.settled(records.length)).toEqual(records)
        if (tokens === SHORT) break // Nothing is left for another.
      }
    },
  )

  test('a key that is revoked in the middle ends the answer, which is charged once', async () => {
    const me = await client(ENOUGH)
    const response = await me.chat({ model: endless, stream: true })
    const reader = (response.body ?? expect.unreachable()).getReader()
    await reader.read()
    await gateway.operate('key.revoke', { key: me.keyId })
    for (let next = await reader.read(); !next.done;) next = await reader.read()
    expect(await me.settled()).toMatchObject([{ outcome: 'barred' }])
  })

  test('an answer in the background ends where the money does, and can be gone on from', async () => {
    const me = await client(SHORT)
    const { id } = (await (await me.respond({ model, background: true })).json()) as { id: string }
    const followed = await (await me.send(`/responses/${id}?stream=true`, undefined)).text()
    const [record] = await me.settled()
    expect(record).toMatchObject({ outcome: 'completed', output_cap_reason: 'balance' })
    const shown = await (await me.send(`/responses/${id}`, undefined)).text()
    const again = await (await me.send(`/responses/${id}?stream=true`, undefined)).text()
    expect(again).toBe(followed)
    expect(JSON.parse(shown)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      usage: { output_tokens: Number(record?.output_text) },
    })
    expectPaid(shown, record)
    await gateway.operate('account.credit', { account: me.account, amount: '0.01', reason: 'to go on' })
    me.tokens += 1_000
    const next = await (await me.respond({ model, previous_response_id: id })).json()
    expect(next).toMatchObject({ status: 'incomplete', previous_response_id: id })
    expect((await me.settled(2))[0]).toMatchObject({ outcome: 'completed', output_cap_reason: 'balance' })
  })

  test('an answer in the background that is called off is charged once, for what came', async () => {
    const me = await client(ENOUGH)
    const { id } = (await (await me.respond({ model: endless, background: true })).json()) as { id: string }
    const before = vendor.sent()
    while (vendor.sent() < before + 200) await Bun.sleep(5)
    const cancelled = (await (await me.send(`/responses/${id}/cancel`, {})).json()) as { status: string }
    expect(cancelled.status).toBe('cancelled')
    const [record] = await me.settled()
    const shown = await (await me.send(`/responses/${id}`, undefined)).text()
    expectPaid(shown, record)
  })

  test.each([true, false])(
    'store: false keeps nothing of an answer that the money ended (stream: %p)',
    async (stream) => {
      const me = await client(SHORT)
      const text = await (await me.respond({ model, store: false, stream })).text()
      const id = /resp_\w+/.exec(text)?.[0]
      expect(await me.settled()).toMatchObject([{ outcome: 'completed', output_cap_reason: 'balance' }])
      expect((await me.send(`/responses/${id}`, undefined)).status).toBe(404)
    },
  )
})
