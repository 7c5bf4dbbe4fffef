/** The accounts that have the sandbox's models, before and after the operator adds a vendor. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.ts'

const vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('{}') })
afterAll(() => vendor.stop(true))

const provider = `providers: { own: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }`
const model = 'sandbox-chat'

const namesOf = async (gateway: TestGateway, key: string): Promise<string[]> => {
  const answer = await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}

/** What an account sees and may do. */
async function rightsOf(gateway: TestGateway, key: string): Promise<object> {
  const one = await fetch(`${gateway.baseUrl}/models/${model}`, { headers: { authorization: `Bearer ${key}` } })
  const called = await chat({ ...gateway, key }, { model, max_tokens: 4 })
  await called.text()
  return { listed: (await namesOf(gateway, key)).includes(model), shown: one.status, called: called.status }
}

const HAS = { listed: true, shown: 200, called: 200 }
const HAS_NOT = { listed: false, shown: 403, called: 403 }

/** A key of an account; the first one is made with the folder. */
async function keyOf(gateway: TestGateway, account: string): Promise<string> {
  return (await gateway.operate<{ secret: string }>('key.create', { account, name: account })).secret
}

describe.each<[string, GatewayOptions, object]>([
  ['without a vendor', {}, HAS],
  ['with a vendor in the file', { yaml: provider, sandboxForAll: false }, HAS_NOT],
  ['with a vendor in the file, for everyone', { yaml: `sandbox: true\n${provider}` }, HAS],
  ['with a vendor by its key', { env: { OPENAI_API_KEY: 'sk-none' } }, HAS_NOT],
])('%s', (_, options, others) => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(options)
  }, 30_000)
  afterAll(() => gateway.close(), 30_000)

  test('the first account has them, others as the operator says', async () => {
    expect(await rightsOf(gateway, await keyOf(gateway, 'default'))).toEqual(HAS)
    expect(await rightsOf(gateway, gateway.key)).toEqual(others)
  })

  test('an account whose list names them has them', async () => {
    await gateway.operate('account.create', { name: 'named', balance: '1', models: [model] })
    expect(await rightsOf(gateway, await keyOf(gateway, 'named'))).toEqual(HAS)
  })
})

test('a vendor that is added takes them from others, and gives them back with itself', async () => {
  const gateway = await startGateway()
  try {
    expect(await rightsOf(gateway, gateway.key)).toEqual(HAS)
    await gateway.operate('provider.add', {
      id: 'own',
      base_url: `http://127.0.0.1:${vendor.port}/v1`,
      allow_private: true,
    })
    expect(await rightsOf(gateway, gateway.key)).toEqual(HAS_NOT)
    await gateway.operate('provider.remove', { id: 'own' })
    expect(await rightsOf(gateway, gateway.key)).toEqual(HAS)
  } finally {
    await gateway.close()
  }
}, 60_000)
