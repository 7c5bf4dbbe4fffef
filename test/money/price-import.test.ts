/** List prices in the real program: added by a vendor's key, imported by command, and charged to the nano-dollar. */
import { afterAll, expect, test } from 'bun:test'
import { runCommand, runJson } from '../support/command.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'

type ModelView = {
  readonly id: string
  readonly origin: string
  readonly price: { readonly input_usd_per_million: string; readonly tiers: readonly object[] }
  readonly limits: { readonly context_tokens: number | null; readonly output_tokens_max: number | null }
}
type ImportView = {
  readonly changes: readonly {
    readonly model: string
    readonly kind: string
    readonly differences: readonly object[]
  }[]
  readonly unchanged: number
  readonly skipped: readonly { readonly what: string; readonly reason: string }[]
  readonly applied: boolean
}
type CardView = { readonly of: string; readonly input_usd_per_million: string; readonly effective_from: string }

/** A vendor that reports the usage it is told to. */
let reported = { prompt_tokens: 0, cached: 0, completion_tokens: 0 }
const vendor = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch() {
    const { cached, ...usage } = reported
    return Response.json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: 'gpt',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: {
        ...usage,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
        prompt_tokens_details: { cached_tokens: cached },
      },
    })
  },
})
afterAll(() => vendor.stop(true))

const modelIds = async ({ baseUrl, key }: TestGateway): Promise<string[]> => {
  const response = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } })
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}
const models = (gateway: TestGateway): Promise<ModelView[]> => gateway.operate<ModelView[]>('model.list')
const modelOf = async (gateway: TestGateway, id: string): Promise<ModelView | undefined> =>
  (await models(gateway)).find((model) => model.id === id)

test('a vendor’s key brings its priced models; a declared one and a stored one come first', async () => {
  const own = '{ price: { input: 7, output: 7 }, offers: [{ provider: openai, model: gpt-5 }] }'
  const options = { env: { OPENAI_API_KEY: 'sk-of-a-test', TOLLGATE_MARKUP: '20%' }, yaml: `models: { gpt-5: ${own} }` }
  const gateway = await startGateway(options)
  expect(await modelIds(gateway)).toEqual(expect.arrayContaining(['gpt-5', 'gpt-5-mini', 'gpt-5.4', 'sandbox-chat']))
  expect(await modelOf(gateway, 'gpt-5')).toMatchObject({
    origin: 'declared',
    price: { input_usd_per_million: '7.00' },
  })
  // $2.50 and 20 %, twice that above the line.
  expect(await modelOf(gateway, 'gpt-5.4')).toMatchObject({
    origin: 'environment',
    price: {
      input_usd_per_million: '3.00',
      output_usd_per_million: '18.00',
      tiers: [{ above_input_tokens: 271_999, input_usd_per_million: '6.00', output_usd_per_million: '27.00' }],
    },
    limits: { context_tokens: 1_050_000, output_tokens_max: 128_000 },
    offers: [{ provider: 'openai', cost: { input_usd_per_million: '2.50' } }],
  })
  const removed = await gateway.operate('model.remove', { id: 'gpt-5.4' }).catch(String)
  expect(removed).toContain('environment')

  const price = { input: '1', output: '2' }
  await gateway.operate('model.add', { id: 'gpt-5-mini', price, offers: [{ provider: 'openai', model: 'gpt-5-mini' }] })
  await gateway.crash()
  const again = await startGateway({ ...options, folder: gateway.folder, as: gateway })
  expect(await modelOf(again, 'gpt-5-mini')).toMatchObject({
    origin: 'stored',
    price: { input_usd_per_million: '1.00' },
  })
  await again.crash()
  // Without the key its models are gone, and what was made by command is not.
  const { OPENAI_API_KEY: _, ...env } = options.env
  const without = await startGateway({ yaml: '', env, folder: gateway.folder, as: gateway })
  expect((await models(without)).filter(({ id }) => id.startsWith('gpt-')).map(({ id }) => id)).toEqual(['gpt-5-mini'])
  await without.close()
})

test('an import shows what it would do, does that on approval, and what it made is charged', async () => {
  const gateway = await startGateway()
  const run = (...args: string[]): Promise<ImportView> => runJson(gateway.folder, ['price', 'import', ...args])
  await gateway.operate('provider.add', {
    id: 'openai',
    base_url: `http://127.0.0.1:${vendor.port}/v1`,
    allow_private: true,
    key: 'sk-of-a-test',
  })
  const wanted = ['--provider', 'openai', '--model', 'gpt-5', '--model', 'gpt-5.4', '--markup', '12.5%']
  const shown = await run(...wanted, '--dry-run')
  expect(shown).toMatchObject({ applied: false, changes: [{ model: 'gpt-5', kind: 'new' }, { model: 'gpt-5.4' }] })
  expect(await modelOf(gateway, 'gpt-5')).toBeUndefined()
  // Nobody to ask.
  expect(await runCommand(gateway.folder, ['price', 'import', ...wanted])).toMatchObject({ code: 2, out: '' })
  expect(await run(...wanted, '--yes')).toMatchObject({ applied: true, changes: shown.changes })
  expect(await run(...wanted, '--yes')).toMatchObject({ changes: [], unchanged: 2, applied: false })

  const charged = async (model: string, characters: number): Promise<string | undefined> => {
    const messages = [{ role: 'user', content: 'x'.repeat(characters) }]
    expect((await chat(gateway, { model, messages, max_tokens: 20 })).status).toBe(200)
    const records = await gateway.operate<{ charged: string }[]>('request.list', {
      account: gateway.accountId,
      limit: 1,
    })
    return records[0]?.charged
  }
  // $1.40625, $0.140625 cached and $11.25 for a million: 600×1,406.25 + 400×140.625 + 20×11,250.
  reported = { prompt_tokens: 1_000, cached: 400, completion_tokens: 20 }
  expect(await charged('gpt-5', 2_000)).toBe('1125000')
  // $2.8125, $0.28125, $16.875; above 271,999 input tokens $5.625, $0.5625, $25.3125.
  reported = { prompt_tokens: 271_999, cached: 200_000, completion_tokens: 20 }
  expect(await charged('gpt-5.4', 280_000)).toBe('259084688')
  reported = { ...reported, prompt_tokens: 272_000 }
  expect(await charged('gpt-5.4', 280_000)).toBe('518006250')

  // Another mark-up is a later card; the one before stays to be read.
  await run('--provider', 'openai', '--model', 'gpt-5', '--yes')
  const cards = await runJson<CardView[]>(gateway.folder, ['price', 'list', 'gpt-5'])
  expect(cards.filter(({ of }) => of === 'sale').map((card) => card.input_usd_per_million)).toEqual(['1.25', '1.40625'])
  expect(cards.filter(({ of }) => of === 'openai/gpt-5')).toHaveLength(1)
  const { out } = await runCommand(gateway.folder, ['price', 'list', 'gpt-5.4'])
  expect(out).toMatch(/gpt-5\.4 +sale .* 271999 +\$5\.6250? /)
  await gateway.close()
})

test('a model whose audio is dearer than its price says takes none', async () => {
  const gateway = await startGateway({ env: { GEMINI_API_KEY: 'of-a-test' } })
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is said?' }, audio] }]
  const response = await chat(gateway, { model: 'gemini-2.5-flash', messages })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 'model_not_supported' } })
  await gateway.close()
})

test('an approval is for what was shown', async () => {
  const gateway = await startGateway({ env: { OPENAI_API_KEY: 'sk-of-a-test' } })
  const input = { provider: 'openai', models: ['gpt-5'], markup: '1%' }
  const { fingerprint } = await gateway.operate<{ fingerprint: string }>('price.import', input)
  const price = { input: '1', output: '2' }
  await gateway.operate('model.add', { id: 'gpt-5', price, offers: [{ provider: 'openai', model: 'gpt-5' }] })
  expect(await gateway.operate('price.import', { ...input, approved: fingerprint }).catch(String)).toContain('changed')
  expect(await modelOf(gateway, 'gpt-5')).toMatchObject({ price: { input_usd_per_million: '1.00' } })
  await gateway.close()
})

test('what cannot be imported is named, and a command without a choice is refused', async () => {
  const gateway = await startGateway({ env: { PERPLEXITY_API_KEY: 'pplx', OPENAI_API_KEY: 'sk-of-a-test' } })
  const all = await runJson<ImportView>(gateway.folder, ['price', 'import', '--all', '--dry-run'])
  expect(all.skipped).toContainEqual(expect.objectContaining({ what: 'provider perplexity' }))
  expect(all.skipped).toContainEqual(expect.objectContaining({ what: 'gpt-audio' }))
  expect(await runCommand(gateway.folder, ['price', 'import'])).toMatchObject({ code: 2 })
  const unknown = await runJson<{ error: { code: string } }>(gateway.folder, ['price', 'import', '--provider', 'groq'])
  expect(unknown.error.code).toBe('not_found')
  await gateway.close()
})
