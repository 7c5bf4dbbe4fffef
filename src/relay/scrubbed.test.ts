import { expect, test } from 'bun:test'
import type { Failure } from '../domain/failure.ts'
import { scrubbed } from './scrubbed.ts'

const provider = { secret: 'sk-vendor-secret-4711', baseUrl: 'http://llm.example.com:8443/v1' }
const relay = { catalog: { provider: () => provider } } as unknown as Parameters<typeof scrubbed>[0]
const last = { offer: { providerId: 'p', upstreamModel: 'gpt-x', modelId: 'fast' } } as Parameters<typeof scrubbed>[2]
const told = (message: string, param?: string): Failure =>
  scrubbed(relay, { kind: 'invalid_value', message, ...(param === undefined ? {} : { param }) }, last)

test('a client does not see the credential, the host or the upstream model’s name', () => {
  const { message } = told('key sk-vendor-secret-4711 of llm.example.com:8443 at 10.0.0.7:80 has no gpt-x-2026')
  expect(message).toBe('key [redacted] of [upstream] at [upstream] has no fast')
})

test('control characters for terminals and half characters are removed', () => {
  const { message } = told('a\u0000b\u001b[31mc\u202ed\re\u2066f\ud83d')
  expect(message).toBe('a\ufffdb\ufffd[31mc\ufffdd\ufffde\ufffdf\ufffd')
})

test.each(['messages[0].content', 'response_format', "tools['f'].x-y", '$.a'])('%s names a field', (param) => {
  expect(told('m', param).param).toBe(param)
})

test.each(['a b', '\u0000', 'x\r\ny: z', 'p'.repeat(201), '', 'http://llm.example.com'])(
  '%j is no name of a field',
  (param) => {
    expect(told('m', param)).not.toHaveProperty('param')
  },
)
