/** Bodies without payment: without a balance a body is not read, and an account has a share of the memory. */
import { expect, test } from 'bun:test'
import { chat, TEST_STORE } from '../support/gateway.ts'
import { useSandbox } from '../support/use-gateway.ts'
import { rawClient, type RawClient } from '../support/raw-client.ts'

const { gateway } = useSandbox((sandbox) => ({
  yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  late: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=1500' }] }`,
  env: { TOLLGATE_ARRIVING_BYTES_MAX: '4000000', TOLLGATE_BODY_BYTES_MAX: '1000000' },
}))

const keyOf = async (name: string, balance?: string): Promise<string> => {
  await gateway.operate('account.create', { name, ...(balance !== undefined && { balance }) })
  return (await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })).secret
}

async function begin(key: string, path: string, sent = 0): Promise<RawClient> {
  const client = await rawClient(Number(new URL(gateway.baseUrl).port))
  const head = [`POST /v1/${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${key}`, 'Content-Length: 900000']
  return client.send(`${[...head, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n${' '.repeat(sent)}`)
}

test('who has no money is told before the body', async () => {
  const key = await keyOf('broke')
  for (const path of ['chat/completions', 'responses', 'embeddings', 'images/edits', 'messages']) {
    const client = await begin(key, path)
    const text = await client.has('}')
    // Messages has a status of its own for it.
    expect(client.statuses).toEqual([path === 'messages' ? 402 : 401])
    expect(text).toContain(path === 'messages' ? 'billing_error' : '"code":"insufficient_balance"')
    client.close()
  }
  // Who asks for what was paid already gets it.
  const [payer, headers] = [await keyOf('payer', '0.01'), { 'idempotency-key': 'again' }]
  const ask = (): Promise<Response> =>
    chat(
      { baseUrl: gateway.baseUrl, key: payer },
      { model: 'sandbox-chat', max_tokens: 5 },
      { headers: { ...headers, authorization: `Bearer ${payer}`, 'content-type': 'application/json' } },
    )
  const first = await (await ask()).text()
  const { posted_nano_usd: posted } = await gateway.operate<{ posted_nano_usd: string }>('account.show', {
    account: 'payer',
  })
  const amount = (Number(posted) / 1e9).toFixed(9)
  await gateway.operate('account.debit', { account: 'payer', amount, ref: 'empty', reason: 'test' })
  expect(await (await ask()).text()).toBe(first)
  const other = await chat({ baseUrl: gateway.baseUrl, key: payer }, { model: 'sandbox-chat' })
  expect(other.status).toBe(401)
})

test('bodies of one account that are sent in part take no more than its share; another account is served', async () => {
  const clients = []
  for (let i = 0; i < 6; i++) clients.push(await begin(gateway.key, 'chat/completions', 400_000))
  await Bun.sleep(200)
  const refused = clients.filter(({ statuses }) => statuses.length > 0)
  expect(refused.length).toBeWithin(3, 6)
  for (const { text } of refused) {
    expect(text).toStartWith('HTTP/1.1 429')
    expect(text.toLowerCase()).toContain('retry-after: 1')
  }
  const key = await keyOf('other', '1')
  const large = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'x '.repeat(100_000) }], max_tokens: 5 }
  expect((await chat({ baseUrl: gateway.baseUrl, key }, large)).status).toBe(200)
  for (const client of clients) client.close()
  await Bun.sleep(50)
  expect((await chat(gateway, large)).status).toBe(200)
})

// The memory for bodies is that of a process.
test.skipIf(TEST_STORE === 'postgres')(
  'what has arrived is counted until its call is over, whoever waits for it',
  async () => {
    const key = await keyOf('vision', '10')
    const body = { model: 'late', messages: [{ role: 'user', content: 'a'.repeat(600_000) }], max_tokens: 5 }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ask = (how: object = {}): Promise<Response> =>
      chat({ baseUrl: gateway.baseUrl, key }, body, { headers, ...how })
    const leaving = { headers: { ...headers, 'idempotency-key': 'leaves' }, signal: AbortSignal.timeout(500) }
    const left = ask(leaving).catch(() => 'left')
    await Bun.sleep(250)
    for (const round of ['waited for', 'left behind']) {
      const refused = await ask()
      expect([round, refused.status, refused.headers.get('retry-after')]).toEqual([round, 429, '1'])
      await Bun.sleep(500)
    }
    expect(await left).toBe('left')
    await Bun.sleep(1_000)
    expect((await ask()).status).toBe(200)
    // Counting tokens holds it for as long as that takes.
    for (let i = 0; i < 3; i++) {
      const url = new URL('/v1/messages/count_tokens', gateway.baseUrl)
      const counted = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...body, model: 'sandbox-chat' }),
      })
      expect(counted.status).toBe(200)
    }
  },
  20_000,
)

test('a key that is revoked while a body arrives counts no tokens', async () => {
  for (const path of ['messages/count_tokens', 'responses/input_tokens']) {
    const name = `revoked-${path.split('/')[0]}`
    const key = await keyOf(name, '1')
    const client = await begin(key, path, 1_000)
    const [held] = await gateway.operate<{ id: string }[]>('key.list', { account: name })
    await gateway.operate('key.revoke', { key: held?.id })
    const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }], input: 'hi' })
    client.send(body.padStart(899_000))
    await client.has('}')
    expect([path, client.statuses]).toEqual([path, [401]])
    client.close()
  }
})
