/** Offers with a smaller context than their model, and rests that end by command, by a test or by a new key. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runJson } from '../support/command.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'

let vendor: Bun.Server<unknown>
let gateway: TestGateway
let key = 'wrong'
let asked: string[] = []

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const [, name = ''] = new URL(request.url).pathname.split('/')
      if (request.url.endsWith('/models')) return Response.json({ object: 'list', data: [{ id: 'x' }] })
      await request.text()
      asked.push(name)
      if (name === 'keyed' && request.headers.get('authorization') !== `Bearer ${key}`) {
        return Response.json({ error: { message: 'Incorrect API key provided' } }, { status: 401 })
      }
      const message = { role: 'assistant', content: name }
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    },
  })
  const base = `http://127.0.0.1:${vendor.port}`
  const price = 'price: { input: 1, output: 2 }'
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
  small: { base_url: '${base}/small/v1', allow_private: true }
  large: { base_url: '${base}/large/v1', allow_private: true }
models:
  both:
    ${price}
    offers:
      - { provider: small, model: s, context_tokens: 4096 }
      - { provider: large, model: l, priority: 1 }
  smalls: { ${price}, offers: [{ provider: small, model: s, context_tokens: 4096 }] }
`,
  })
  const provider = { id: 'keyed', base_url: `${base}/keyed/v1`, allow_private: true, key: 'first' }
  await gateway.operate('provider.add', provider)
  await gateway.operate('model.add', {
    id: 'mended',
    price: { input: '1', output: '2' },
    offers: [
      { provider: 'keyed', model: 'x', priority: 0 },
      { provider: 'large', model: 'x', priority: 1, context_tokens: 9_000 },
    ],
  })
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
})

const answerTo = async (model: string, content = 'hi'): Promise<string> => {
  asked = []
  return (await chat(gateway, { model, max_tokens: 5, messages: [{ role: 'user', content }] })).text()
}

test('a long request goes past an offer that is too small for it, which is not even asked', async () => {
  expect(await answerTo('both')).toContain('"small"')
  expect(await answerTo('both', 'word '.repeat(8_000))).toContain('"large"')
  expect(asked).toEqual(['large'])
  // A digit is a byte, and three of them a token.
  expect(await answerTo('both', '7'.repeat(9_000))).toContain('"small"')
})

test('where all offers are too small the client is told so, and nobody is asked', async () => {
  const said = JSON.parse(await answerTo('smalls', 'word '.repeat(8_000))) as { error: Record<string, string> }
  expect(said.error).toMatchObject({ code: 'context_length_exceeded', type: 'invalid_request_error' })
  expect(said.error['message']).toContain('4096')
  expect(asked).toEqual([])
})

test('what an offer takes is shown, kept when others change, and taken back by null', async () => {
  type ShownView = { offers: { provider: string; context_tokens: number | null }[] }
  const contextOf = ({ offers }: ShownView): unknown =>
    offers.find(({ provider }) => provider === 'large')?.context_tokens
  const offers = (more: object): object[] => [
    { provider: 'keyed', model: 'x', priority: 0 },
    { provider: 'large', model: 'x', priority: 1, ...more },
  ]
  const change = (more: object): Promise<ShownView> =>
    gateway.operate('model.change', { id: 'mended', offers: offers(more) })
  expect(contextOf(await change({}))).toBe(9_000)
  expect(contextOf(await change({ cost: { input: '1', output: '1' } }))).toBe(9_000)
  expect(contextOf(await change({ context_tokens: 7_000 }))).toBe(7_000)
  expect(contextOf(await change({ context_tokens: null }))).toBe(null)
})

test('another key ends a rest, so does a test that passes, so does a command', async () => {
  const isServed = async (): Promise<boolean> => (await answerTo('mended')).includes('"keyed"')
  expect(await isServed()).toBe(false)
  expect(await isServed()).toBe(false)
  expect(asked).toEqual(['large'])
  await gateway.operate('provider.add', { id: 'keyed', key: 'wrong' })
  expect(await isServed()).toBe(true)
  // Another setting says nothing of what was wrong.
  key = 'third'
  expect(await isServed()).toBe(false)
  await gateway.operate('provider.add', { id: 'keyed', concurrent_requests: 9 })
  key = 'wrong'
  expect(await isServed()).toBe(false)
  await gateway.operate('provider.test', { id: 'keyed' })
  expect(await isServed()).toBe(true)
  key = 'third'
  expect(await isServed()).toBe(false)
  key = 'wrong'
  expect(await runJson(gateway.folder, ['provider', 'resume', 'keyed'])).toEqual({ id: 'keyed', resumed: 1 })
  expect(await isServed()).toBe(true)
})
