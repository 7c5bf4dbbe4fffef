/**
 * Tools that run at the vendor, beside the client's tools: they are left out and named, for every client and vendor.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ClientDialect } from '../../src/domain/turn.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { profiles, startVendor, type Mind, type Vendor } from './fake.ts'

const models = ['gpt-4.1', 'claude-sonnet-4-5', 'gemini-3-pro-preview', 'deepseek-v4-pro'] as const

const vendors: Vendor[] = []
let gateway: TestGateway

const schema = '{"type":"object","properties":{"n":{"type":"integer"}}}'
const done: Mind = () => ({ thought: '', text: 'Done.', calls: [] })

beforeAll(async () => {
  const rows = models.map((name) => profiles.find(({ model }) => model === name) ?? expect.unreachable())
  vendors.push(...rows.map((profile) => startVendor(profile, done)))
  const provider = ({ preset, base }: (typeof rows)[number], i: number): string =>
    `  p${i}: { preset: ${preset}, base_url: '${vendors[i]?.origin}${base}', key: k, allow_private: true }`
  const model = (name: string, i: number): string =>
    `  ${name}: { price: { input: 1, output: 2 }, offers: [{ provider: p${i}, model: ${name} }] }`
  const lines = ['sandbox: false', 'providers:', ...rows.map(provider), 'models:', ...models.map(model)]
  gateway = await startGateway({ yaml: lines.join('\n') })
}, 30_000)

afterAll(async () => {
  await gateway.close()
  for (const vendor of vendors) await vendor.stop()
}, 30_000)

type Client = {
  readonly path: (model: string) => string
  readonly body: (tools: string) => string
  readonly own: string
}
type Offer = { readonly tool: string; readonly name: string; readonly forced?: string }

const clients: Readonly<Record<Exclude<ClientDialect, 'responses'>, Client & { readonly offers: readonly Offer[] }>> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (rest) => `"messages":[{"role":"user","content":"Hi"}],${rest}`,
    own: `{"type":"function","function":{"name":"look","parameters":${schema}}}`,
    offers: [
      { tool: '{"type":"web_search"}', name: 'tools.web_search', forced: '"tool_choice":{"type":"web_search"}' },
    ],
  },
  messages: {
    path: () => '/v1/messages',
    body: (rest) => `"max_tokens":100,"messages":[{"role":"user","content":"Hi"}],${rest}`,
    own: `{"name":"look","input_schema":${schema}}`,
    offers: [
      {
        tool: '{"type":"web_search_20250305","name":"web_search"}',
        name: 'tools.web_search_20250305',
        forced: '"tool_choice":{"type":"tool","name":"web_search"}',
      },
      { tool: '{"type":"code_execution_20260521","name":"run"}', name: 'tools.code_execution_20260521' },
    ],
  },
  gemini: {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (rest) => `"contents":[{"parts":[{"text":"Hi"}]}],${rest}`,
    own: `{"functionDeclarations":[{"name":"look","parametersJsonSchema":${schema}}]}`,
    offers: [
      { tool: '{"googleSearch":{}}', name: 'tools.googleSearch' },
      { tool: '{"url_context":{}}', name: 'tools.urlContext' },
    ],
  },
}

const post = async (client: Client, model: string, rest: string) => {
  const response = await fetch(new URL(client.path(model), gateway.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: `{"model":"${model}",${client.body(rest)}}`,
  })
  return {
    status: response.status,
    dropped: response.headers.get('x-tollgate-dropped') ?? '',
    text: await response.text(),
  }
}

describe.each(Object.keys(clients) as (keyof typeof clients)[])('a client of %s', (dialect) => {
  const client = clients[dialect]

  test.each([...models])('before %s: the vendor never hears of it, and the client does', async (model) => {
    const vendor = vendors[models.indexOf(model)]
    for (const { tool, name } of client.offers) {
      const got = await post(client, model, `"tools":[${tool},${client.own}]`)
      expect(got).toMatchObject({ status: 200 })
      expect(got.dropped.split(', ')).toContain(name)
      const sent = JSON.stringify(vendor?.seen.at(-1)?.body)
      expect(sent).toContain('look')
      expect(sent).not.toMatch(/search|code_execution|url_?context/i)
    }
  })

  test('alone, or where it must be called, it is refused', async () => {
    for (const { tool, forced } of client.offers) {
      const model = 'gemini-3-pro-preview'
      expect(await post(client, model, `"tools":[${tool}]`)).toMatchObject({ status: 400 })
      if (forced !== undefined) {
        expect(await post(client, model, `"tools":[${tool},${client.own}],${forced}`)).toMatchObject({ status: 400 })
      }
    }
  })
})
