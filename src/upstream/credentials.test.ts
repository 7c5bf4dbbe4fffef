import { expect, test } from 'bun:test'
import type { Provider } from '../domain/catalog.ts'
import { findPreset } from '../vendors/presets.ts'
import { sendAs } from './credentials.ts'

const headersOf = (preset: string, baseUrl: string, secret: string): Promise<unknown> => {
  const provider: Provider = {
    id: 'p',
    preset,
    baseUrl,
    reach: 'public',
    secret,
    hangUp: undefined,
    origin: 'stored',
  }
  const found = findPreset(preset) ?? expect.unreachable()
  return sendAs({ provider, preset: found }, (headers) => Promise.resolve(headers), { statusOf: () => 200 })
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
