/**
 * One connection for several callers, as a reverse proxy uses it. Each request belongs to its own caller, in any order
 * and with the key in any header.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { requestText, WireClient } from '../support/wire-client.ts'

let gateway: TestGateway
let port: number
const callers: { readonly account: string; readonly key: string }[] = []

beforeAll(async () => {
  gateway = await startGateway()
  port = Number(new URL(gateway.baseUrl).port)
  for (const account of ['alice', 'bob', 'carol']) {
    await gateway.operate('account.create', { name: account, balance: '10' })
    const { secret } = await gateway.operate('key.create', { account, name: 'shared' })
    callers.push({ account, key: String(secret) })
  }
})
afterAll(() => gateway.close())

type Way = (key: string) => { readonly query?: string; readonly headers: Record<string, string> }

const ways: Readonly<Record<string, Way>> = {
  bearer: (key) => ({ headers: { authorization: `Bearer ${key}` } }),
  'bearer in other letters': (key) => ({ headers: { Authorization: `BEARER  ${key}` } }),
  'x-api-key': (key) => ({ headers: { 'x-api-key': key } }),
  'x-goog-api-key': (key) => ({ headers: { 'x-goog-api-key': key } }),
  query: (key) => ({ query: `?key=${key}`, headers: {} }),
  'x-api-key beside another scheme': (key) => ({ headers: { authorization: 'Basic eDp5', 'x-api-key': key } }),
}

async function accountBehind(client: WireClient, way: Way, key: string): Promise<string> {
  const { query = '', headers } = way(key)
  const answer = await client.ask(requestText('GET', `/v1/balance${query}`, headers))
  if (answer?.status !== 200) return String(answer?.status)
  return (JSON.parse(answer.body) as { account: string }).account
}

test('a key is its own caller’s after every other, in every way there is to send it', async () => {
  const names = new Map<string, string>()
  for (const { account, key } of callers) {
    const alone = await WireClient.open(port)
    names.set(account, await accountBehind(alone, ways['bearer'] as Way, key))
    alone.close()
  }
  expect(new Set(names.values()).size).toBe(3)
  const all = Object.values(ways).flatMap((way) => callers.map((caller) => ({ way, ...caller })))
  const client = await WireClient.open(port)
  const unknown = { way: ways['bearer'] as Way, key: 'sk-tg-unknown', account: 'nobody' }
  names.set('nobody', '401')
  for (const first of all) {
    for (const second of [...all, unknown]) {
      for (const { way, key, account } of [first, second, first]) {
        expect(await accountBehind(client, way, key)).toBe(names.get(account) as string)
      }
    }
  }
  client.close()
}, 60_000)

test('a key that is revoked is nobody’s on a connection that knew it, whoever came between', async () => {
  const [{ key } = { key: '' }, other] = callers
  const { id } = (await gateway.operate<{ id: string }[]>('key.list', { account: 'alice' }))[0] ?? { id: '' }
  const client = await WireClient.open(port)
  for (const way of Object.values(ways)) expect(await accountBehind(client, way, key)).not.toBe('401')
  await gateway.operate('key.revoke', { key: id })
  for (const way of Object.values(ways)) {
    expect(await accountBehind(client, way, key)).toBe('401')
    for (const between of Object.values(ways)) {
      expect(await accountBehind(client, between, other?.key ?? '')).not.toBe('401')
      expect(await accountBehind(client, way, key)).toBe('401')
    }
  }
  client.close()
})
