import { expect, test } from 'bun:test'
import type { Provider } from '../domain/catalog.ts'
import { findPreset } from '../vendors/presets.ts'
import { AccessTokens, type Exchange } from './access-tokens.ts'
import { sendAs } from './credentials.ts'

const provider: Provider = {
  id: 'p',
  preset: 'custom',
  baseUrl: 'https://example.com/v1',
  reach: 'public',
  secret: undefined,
  hangUp: undefined,
  origin: 'stored',
}

const headersOf = (preset: string, baseUrl: string, secret: string): Promise<unknown> => {
  const found = findPreset(preset) ?? expect.unreachable()
  return sendAs(
    { provider: { ...provider, preset, baseUrl, secret }, preset: found },
    (headers) => Promise.resolve(headers),
    { statusOf: () => 200 },
  )
}

test('a key goes into the header that its vendor and its address want', async () => {
  const aws = 'https://bedrock-runtime.eu-west-1.amazonaws.com'
  const mantle = 'https://bedrock-mantle.eu-west-1.api.aws'
  const bearer = { authorization: 'Bearer k' }
  expect(await headersOf('openai', 'https://api.openai.com/v1', 'k')).toEqual(bearer)
  expect(await headersOf('azure', 'https://r.openai.azure.com/openai/v1', 'k')).toEqual({ 'api-key': 'k' })
  expect(await headersOf('anthropic', 'https://api.anthropic.com/v1', 'k')).toEqual({ 'x-api-key': 'k' })
  expect(await headersOf('bedrock', `${aws}/openai/v1`, 'k')).toEqual(bearer)
  expect(await headersOf('bedrock', `${mantle}/v1`, 'k')).toEqual(bearer)
  expect(await headersOf('bedrock-anthropic', `${aws}/anthropic/v1`, 'k')).toEqual(bearer)
  expect(await headersOf('bedrock-anthropic', `${mantle}/anthropic/v1`, 'k')).toEqual({ 'x-api-key': 'k' })
  expect(await headersOf('bedrock-anthropic', 'https://other.example/bedrock-mantle.x/anthropic', 'k')).toEqual(bearer)
})

test('each credential of a provider has a token of its own, and a credential that is gone has none', async () => {
  const tokens = new AccessTokens()
  const asked: string[] = []
  const exchange: Exchange = ({ secret = '' }) => {
    asked.push(secret)
    const endMs = Date.now() + 60_000
    return Promise.resolve({ kind: 'token', headers: { authorization: secret }, untilMs: endMs, endMs })
  }
  const get = (secret: string, secrets: readonly string[] = ['a', 'b']) =>
    tokens.credentialFor({ ...provider, secret, secrets }, exchange)
  for (const secret of ['a', 'b', 'a', 'b']) {
    expect(await get(secret)).toMatchObject({ kind: 'headers', headers: { authorization: secret } })
  }
  expect(asked).toEqual(['a', 'b'])
  await get('c', ['a', 'c'])
  await get('a', ['a', 'c'])
  await get('b')
  expect(asked).toEqual(['a', 'b', 'c', 'b'])
})

test('while a token cannot be renewed, the last one serves until its end, and nobody waits', async () => {
  const tokens = new AccessTokens()
  const exchanges: PromiseWithResolvers<Awaited<ReturnType<Exchange>>>[] = []
  const exchange: Exchange = () => {
    const made = Promise.withResolvers<Awaited<ReturnType<Exchange>>>()
    exchanges.push(made)
    return made.promise
  }
  const get = () => tokens.credentialFor({ ...provider, secret: 'a' }, exchange)
  const token = (name: string, untilMs: number, endMs: number) =>
    ({ kind: 'token', headers: { name }, untilMs: Date.now() + untilMs, endMs: Date.now() + endMs }) as const
  const first = get()
  exchanges[0]?.resolve(token('one', 0, 60_000))
  expect(await first).toMatchObject({ headers: { name: 'one' } })
  expect(await get()).toMatchObject({ headers: { name: 'one' } })
  exchanges[1]?.reject(new Error('secret words'))
  await Bun.sleep(1)
  expect(await get()).toMatchObject({ headers: { name: 'one' } })
  // The exchange is not tried with every request.
  expect(exchanges).toHaveLength(2)
  const [second] = [await get()]
  if (second.kind === 'headers') tokens.forget(provider, second.headers)
  // A token that was refused is not used again.
  const after = get()
  exchanges[2]?.resolve({ kind: 'failed', failure: { kind: 'unreachable', message: 'no token' } })
  expect(await after).toMatchObject({ kind: 'failed' })
})

test('keys of a signature that are refused are got anew by the next request', async () => {
  const statuses = [403, 200]
  const secret = JSON.stringify({ access_key_id: 'a', secret_access_key: 'b' })
  const signs: unknown[] = []
  const send = () =>
    sendAs(
      { provider: { ...provider, id: 'signed', secret }, preset: findPreset('bedrock') ?? expect.unreachable() },
      (_, sign) => (signs.push(sign), Promise.resolve(statuses.shift())),
      { statusOf: (status) => status },
    )
  expect([await send(), await send()]).toEqual([403, 200])
  expect(signs[0]).not.toBe(signs[1])
})
