/**
 * OpenRouter's own SDKs, unmodified, with the routing hints of its guides (docs/guides/routing, as of 2026-08-22). They
 * are skipped unless `npm run clients` installed them.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startWordVendor, type WordVendor } from '../support/word-vendor.ts'
import { useGateway } from '../support/use-gateway.ts'
import { findPackage } from './installed.ts'

let vendor: WordVendor
const gateway = useGateway(
  () => {
    vendor = startWordVendor()
    const providers = ['openai', 'together', 'deepinfra'].map(
      (id) => `  ${id}: { base_url: '${vendor.origin}/v1', allow_private: true }\n`,
    )
    const model = (id: string, offers: readonly string[]): string =>
      `  '${id}': { price: { input: 1, output: 2 }, offers: [${offers.map((one) => `{ provider: ${one} }`).join(', ')}] }\n`
    return {
      yaml: `
sandbox: false
providers:
${providers.join('')}
models:
${model('openai/gpt-5-mini', ['openai, model: openai-5-words'])}
${model('mistralai/mixtral-8x7b-instruct', ['deepinfra, model: deepinfra-5-words', 'together, model: together-5-words'])}
${model('~anthropic/claude-sonnet-latest', ['openai, model: status-500'])}
${model('gryphe/mythomax-l2-13b', ['together, model: together-5-words'])}
`,
    }
  },
  () => vendor.stop(),
)

const messages = [{ role: 'user', content: 'What is the meaning of life?' }]
const WORDS = ' word'.repeat(5)
/** The model that the vendor was last asked for. */
const lastAsked = (): unknown => vendor.asked.at(-1)?.body['model']

type ChatRequest = Readonly<Record<string, unknown>>
type ChatAnswer = { model: string; choices: { message: { content: string } }[] }
type OpenRouterSdk = {
  OpenRouter: new (options: object) => { chat: { send(request: { chatRequest: ChatRequest }): Promise<unknown> } }
}

const sdk = findPackage('@openrouter/sdk')
test.skipIf(!sdk)('its SDK sends the examples of the guides, and reads the answers', async () => {
  const { OpenRouter } = (await import(join(sdk ?? '', 'esm/index.js'))) as OpenRouterSdk
  const client = new OpenRouter({ apiKey: gateway.key, serverURL: gateway.baseUrl, retryConfig: { strategy: 'none' } })
  const send = async (chatRequest: ChatRequest): Promise<ChatAnswer> =>
    (await client.chat.send({ chatRequest: { messages, stream: false, ...chatRequest } })) as ChatAnswer
  const fallback = await send({ models: ['~anthropic/claude-sonnet-latest', 'gryphe/mythomax-l2-13b'] })
  expect([fallback.model, fallback.choices[0]?.message.content]).toEqual(['gryphe/mythomax-l2-13b', WORDS])
  const mixtral = 'mistralai/mixtral-8x7b-instruct'
  const provider = { order: ['openai', 'together'], allowFallbacks: false }
  expect((await send({ model: mixtral, provider })).model).toBe(mixtral)
  expect(lastAsked()).toBe('together-5-words')
  for (const sort of ['price', 'throughput', { by: 'latency', partition: 'none' }]) {
    expect((await send({ model: mixtral, provider: { sort, maxPrice: { prompt: '1', completion: '2' } } })).model).toBe(
      mixtral,
    )
  }
  expect((await send({ model: `${mixtral}:nitro`, provider: { ignore: ['deepinfra'] } })).model).toBe(mixtral)
  expect(lastAsked()).toBe('together-5-words')
  // The SDK expects a number as the code of an error. Its own error has what came.
  const refused = await send({ model: mixtral, provider: { dataCollection: 'deny' } }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ rawValue: { error: { param: 'provider.data_collection' } } })
  const events = (await client.chat.send({
    chatRequest: { messages, stream: true, models: ['~anthropic/claude-sonnet-latest', 'openai/gpt-5-mini'] },
  })) as AsyncIterable<{ model: string; choices: { delta: { content?: string } }[] }>
  let text = ''
  for await (const { model, choices } of events) {
    expect(model).toBe('openai/gpt-5-mini')
    text += choices[0]?.delta.content ?? ''
  }
  expect(text).toBe(WORDS)
})

type AiSdk = { generateText: (options: object) => Promise<{ text: string; response: { modelId: string } }> }
type AiProvider = { createOpenRouter: (options: object) => (model: string, settings: object) => unknown }

const aiProvider = findPackage('@openrouter/ai-sdk-provider')
test.skipIf(!aiProvider)('its provider for the Vercel AI SDK does, too', async () => {
  const folder = aiProvider ?? ''
  const { generateText } = (await import(Bun.resolveSync('ai', folder))) as AiSdk
  const { createOpenRouter } = (await import(Bun.resolveSync('@openrouter/ai-sdk-provider', folder))) as AiProvider
  const openrouter = createOpenRouter({ apiKey: gateway.key, baseURL: gateway.baseUrl })
  const model = openrouter('~anthropic/claude-sonnet-latest', {
    models: ['mistralai/mixtral-8x7b-instruct'],
    provider: { order: ['together'], allow_fallbacks: true },
  })
  const { text, response } = await generateText({ model, prompt: 'Hello', maxRetries: 0 })
  expect([text, response.modelId]).toEqual([WORDS, 'mistralai/mixtral-8x7b-instruct'])
  expect(lastAsked()).toBe('together-5-words')
})
