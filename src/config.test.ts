import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from './config.ts'
import { ConfigError } from './setting.ts'
import { readDeclaration } from './declaration.ts'
import { sandboxModels } from './sandbox-provider.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const empty = join(folder, 'empty.yaml')
await Bun.write(empty, '')

test.each(['https://me:pw@gate.example', 'https://gate.example/?a', 'https://gate.example/#a', 'ftp://gate.example'])(
  'not a public address: %s',
  async (address) => {
    const env = { TOLLGATE_PUBLIC_URL: address, TOLLGATE_CONFIG: '' }
    const refused = await loadConfig(env).then(() => 'taken', String)
    expect(refused).toContain('TOLLGATE_PUBLIC_URL')
    expect(refused).not.toContain('pw@')
  },
)

test('defaults: loopback, port 8080, the sandbox with priced models', async () => {
  const config = await loadConfig({ TOLLGATE_CONFIG: empty })
  expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, sandbox: true, publicUrl: undefined })
  const models = config.declared.models.map(({ id }) => id)
  expect(models).toEqual(sandboxModels.map(({ id }) => id))
  expect(models).toEqual(
    expect.arrayContaining(['sandbox-chat', 'sandbox-embedding', 'sandbox-image', 'sandbox-video']),
  )
})

test('a vendor key in the environment adds its provider', async () => {
  const { declared } = await loadConfig({ TOLLGATE_CONFIG: empty, GROQ_API_KEY: 'secret' })
  expect(declared.providers).toContainEqual({
    id: 'groq',
    preset: 'groq',
    baseUrl: undefined,
    reach: 'public',
    secret: 'secret',
  })
})

test('it brings the vendor’s models at list price plus the mark-up, unless the declaration has them', async () => {
  const ids = async (env: Record<string, string>): Promise<string[]> =>
    (await loadConfig({ TOLLGATE_CONFIG: empty, ...env })).declared.vendorModels.map(({ id }) => id)
  const key = { OPENAI_API_KEY: 'secret' }
  expect(await ids({})).toEqual([])
  expect(await ids(key)).toContain('gpt-5')
  expect(await ids({ ...key, TOLLGATE_MARKUP: 'off' })).toEqual([])
  const { vendorModels } = (await loadConfig({ TOLLGATE_CONFIG: empty, ...key, TOLLGATE_MARKUP: '20%' })).declared
  const model = vendorModels.find(({ id }) => id === 'gpt-5')
  expect([model?.price.inputFresh, model?.offers[0]?.cost.inputFresh]).toEqual([1_500_000_000n, 1_250_000_000n])
  const file = join(folder, 'own.yaml')
  const offer = '{ provider: openai, model: gpt-5 }'
  writeFileSync(file, `models: { gpt-5: { price: { input: 9, output: 9 }, offers: [${offer}] } }`)
  const own = (await loadConfig({ ...key, TOLLGATE_CONFIG: file })).declared
  expect(own.vendorModels.map(({ id }) => id)).not.toContain('gpt-5')
  expect(own.vendorModels.map(({ id }) => id)).toContain('gpt-5-mini')
  // A declared provider lists its models itself.
  writeFileSync(file, "providers: { openai: { preset: openai, key: '${OPENAI_API_KEY}' } }")
  expect(await ids({ ...key, TOLLGATE_CONFIG: file })).toEqual([])
})

test('a declared key that no header can carry is refused by its line, and not shown', async () => {
  const file = join(folder, 'key.yaml')
  writeFileSync(file, "providers:\n  groq:\n    preset: groq\n    key: '${SECRET}'\n")
  const told = await loadConfig({ TOLLGATE_CONFIG: file, SECRET: 'geheim\n' }).catch((error: Error) => error.message)
  expect(told).toMatch(/key\.yaml:4.*no header can carry/)
  expect(told).not.toContain('geheim')
})

test('a wrong variable stops the start and is named', async () => {
  for (const [name, value] of [
    ['PORT', '99999'],
    ['PORT', 'http'],
    ['TOLLGATE_METRICS_PORT', '8080'],
    ['TOLLGATE_PUBLIC_URL', 'ftp://x'],
    ['TOLLGATE_LOG', 'loud'],
    ['TOLLGATE_MARKUP', '-5%'],
    ['TOLLGATE_CONFIG', join(folder, 'none.yaml')],
    ['GROQ_API_KEY', 'read from a file with its line end\n'],
  ] as const) {
    const thrown = await loadConfig({ TOLLGATE_CONFIG: empty, [name]: value }).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ConfigError)
    expect(String(thrown)).toContain(name)
  }
})

const read = (text: string, env: Record<string, string> = {}): ReturnType<typeof readDeclaration> =>
  readDeclaration(text, 'tollgate.yaml', env)

test('a declaration becomes providers, models and accounts', () => {
  const declared = read(
    `
providers:
  local: { preset: vllm, key: '\${SECRET}' }
models:
  fast:
    price: { input: 0.15, output: '0.60', cached_input: 0.075 }
    output_tokens_max: 16384
    offers: [{ provider: local, model: big/model, weight: 3 }]
accounts:
  acme: { opening_balance: 25.00, models: [fast] }
`,
    { SECRET: 's3' },
  )
  expect(declared.providers).toEqual([
    { id: 'local', preset: 'vllm', baseUrl: undefined, reach: 'public', secret: 's3', hangUp: undefined },
  ])
  expect(declared.models[0]).toMatchObject({
    id: 'fast',
    limits: { outputTokensMax: 16_384 },
    price: { inputFresh: 150_000_000n, inputCached: 75_000_000n, outputText: 600_000_000n },
    offers: [{ providerId: 'local', upstreamModel: 'big/model', priority: 0, weight: 3 }],
  })
  expect(declared.accounts).toEqual([
    { name: 'acme', openingBalance: 25_000_000_000n, allowedModels: ['fast'], limits: {}, prices: [] },
  ])
})

test('aliases name models, and replace models of the same id that nobody declares', async () => {
  const model = 'fast: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: x }] }'
  expect(read(`models: { ${model} }\naliases: { gpt-4: fast, old: stored }`).aliases).toEqual([
    { id: 'gpt-4', modelId: 'fast' },
    { id: 'old', modelId: 'stored' },
  ])
  expect(() => read(`models: { ${model} }\naliases:\n  fast: other`)).toThrow("3: there is a model 'fast'")
  expect(() => read('aliases:\n  a: b\n  b: m')).toThrow("2: 'b' is an alias itself; name the model")
  expect(() => read('aliases:\n  a: a')).toThrow("2: 'a' is an alias itself; name the model")
  const file = join(folder, 'aliases.yaml')
  writeFileSync(file, 'aliases: { gpt-4.1: fast, sandbox-chat: fast }')
  const { declared } = await loadConfig({ TOLLGATE_CONFIG: file, OPENAI_API_KEY: 'sk-x' })
  expect(declared.vendorModels.some(({ id }) => id === 'gpt-4.1-mini')).toBe(true)
  expect(
    [...declared.vendorModels, ...declared.models].filter(({ id }) => /^(gpt-4.1|sandbox-chat)$/.test(id)),
  ).toEqual([])
})

test('a wildcard brings the listed models of its provider behind a prefix, at the list price and the mark-up', async () => {
  const file = join(folder, 'wild.yaml')
  const declared = (text: string, env = {}) => {
    writeFileSync(file, text)
    return loadConfig({ TOLLGATE_CONFIG: file, TOLLGATE_MARKUP: '10%', ...env }).then((config) => config.declared)
  }
  const own = 'providers: { mine: { preset: openai, key: k } }'
  const { vendorModels } = await declared(`${own}\nwildcards: { gpt/*: { provider: mine, mark_up: 20% } }`)
  expect(vendorModels.every(({ id }) => id.startsWith('gpt/'))).toBe(true)
  expect(vendorModels.find(({ id }) => id === 'gpt/gpt-4.1')).toMatchObject({
    ownedBy: 'mine',
    price: { inputFresh: 2_400_000_000n },
    offers: [{ providerId: 'mine', upstreamModel: 'gpt-4.1', cost: { inputFresh: 2_000_000_000n } }],
  })
  // By default, the provider of its name and the usual mark-up. An own model of the same id is not replaced.
  const usual = await declared('wildcards: { openai/*: {} }\naliases: { openai/gpt-4.1: x }', { OPENAI_API_KEY: 'k' })
  const ids = usual.vendorModels.map(({ id }) => id)
  expect([ids.includes('gpt-4.1'), ids.includes('openai/gpt-4.1')]).toEqual([true, false])
  expect(usual.vendorModels.find(({ id }) => id === 'openai/gpt-4.1-mini')?.price.inputFresh).toBe(440_000_000n)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [text, message] of [
    ['wildcards: { openai: {} }', 'must be a name and /*, such as openai/*'],
    ['wildcards: { openai/*: {} }', "no provider 'openai' is declared"],
    ['providers: { v: { preset: vllm } }\nwildcards: { v/*: {} }', "no price list has the models of the provider 'v'"],
    [`${own}\nwildcards: { m/*: { provider: mine, mark_up: much } }`, 'must be a percentage, such as 20%'],
  ] as const) {
    expect(() => read(text)).toThrow(message)
  }
})

test('prices of an account are declared as factors and cards', () => {
  const models = 'models: { m: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: x }] } }'
  const prices = '{ other: { factor: 0.8 }, m: { input: 2, output: 3, above: { 5: { input: 4, output: 4 } } } }'
  const { accounts } = read(`${models}\naccounts: { acme: { price_factor: 1.25, prices: ${prices} } }`)
  expect(accounts[0]?.prices).toMatchObject([
    { modelId: undefined, value: { kind: 'factor', factor: 1_250_000n } },
    { modelId: 'other', value: { kind: 'factor', factor: 800_000n } },
    {
      modelId: 'm',
      value: {
        kind: 'card',
        soldAs: 'text',
        units: { inputFresh: 2_000_000_000n, outputText: 3_000_000_000n },
        tiers: [{ aboveInputTokens: 5 }],
      },
    },
  ])
  const refusal = (account: string): string => {
    try {
      read(`${models}\naccounts:\n  acme: ${account}`)
      return 'taken'
    } catch (error) {
      return String(error)
    }
  }
  expect(refusal('{ price_factor: 0 }')).toContain('above 0')
  expect(refusal('{ price_factor: "1e2" }')).toContain('above 0')
  expect(refusal('{ prices: { m: { factor: 1, input: 1 } } }')).toContain('exclude each other')
  expect(refusal('{ prices: { m: { input: 1 } } }')).toContain('output')
  expect(refusal('{ prices: { gone: { input: 1, output: 1 } } }')).toContain("no model 'gone'")
  // It would be taken for the id of a model, and nobody would pay this price or meet this limit.
  expect(refusal('{ prices: { "v/*": { factor: 0.5 } } }')).toContain('one model')
  expect(refusal('{ limits: { models: { "v/*": { requests_per_minute: 1 } } } }')).toContain('one model')
})

test('a price of an account may name its model by an alias of the file', () => {
  const models = 'models: { m: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: x }] } }'
  const names = `${models}\naliases: { other: m }\naccounts:\n  acme: `
  const { accounts } = read(`${names}{ prices: { other: { input: 2, output: 3 } } }`)
  expect(accounts[0]?.prices).toMatchObject([{ modelId: 'm', value: { kind: 'card' } }])
  expect(() => read(`${names}{ prices: { other: { factor: 0.5 }, m: { factor: 2 } } }`)).toThrow('two prices')
})

test('prices of long requests are declared by the input above which they apply', () => {
  const above = '{ 200000: { input: 2, output: 3, cached_input: 0.2 }, 90000: { input: 1.5, output: 2 } }'
  const offers = '[{ provider: sandbox, model: x }, { provider: sandbox, model: y, cost: { input: 0, output: 0 } }]'
  const { models } = read(`models: { m: { price: { input: 1, output: 1, above: ${above} }, offers: ${offers} } }`)
  expect(models[0]?.priceTiers).toMatchObject([
    { aboveInputTokens: 90_000, nanoPerMillion: { inputFresh: 1_500_000_000n, inputCached: 1_500_000_000n } },
    { aboveInputTokens: 200_000, nanoPerMillion: { outputText: 3_000_000_000n, inputCached: 200_000_000n } },
  ])
  expect(models[0]?.offers.map(({ costTiers }) => costTiers?.length)).toEqual([2, 0])
})

const wrong: [string, string, string][] = [
  [
    'a tier without an output price',
    'models:\n  a:\n    price: { input: 1, output: 1, above: { 9: { input: 2 } } }\n    offers: [{ provider: sandbox, model: x }]\n',
    'tollgate.yaml:3: output: a text model needs its price',
  ],
  ['an unknown key', 'sandbox: true\nprovider: {}\n', "tollgate.yaml:2: provider: unknown key 'provider'"],
  [
    'an unknown limit',
    'accounts:\n  a:\n    limits: { rpm: 9 }\n',
    "accounts.a.limits.rpm: unknown key 'rpm'; there are requests_per_minute, tokens_per_minute, concurrent_requests, ",
  ],
  [
    'an unknown key inside',
    'models:\n  a:\n    price: { input: 1, output: 1 }\n    offer: []\n    offers: []\n',
    'tollgate.yaml:4:',
  ],
  [
    'an unset variable',
    'providers:\n  a:\n    base_url: http://x\n    key: ${NOPE}\n',
    'tollgate.yaml:4: the environment has no NOPE',
  ],
  [
    'an undeclared provider',
    'models:\n  a:\n    price: { input: 1, output: 1 }\n    offers:\n      - { provider: x, model: y }\n',
    'tollgate.yaml:5:',
  ],
  [
    'a vendor without its key',
    'models:\n  a:\n    price: { input: 1, output: 1 }\n    offers:\n      - { provider: openai, model: y }\n',
    "no provider 'openai'",
  ],
  ['a negative price', 'models:\n  a:\n    price: { input: -1, output: 1 }\n    offers: []\n', 'tollgate.yaml:3:'],
  [
    'a piece too dear for the store',
    'models:\n  a:\n    price: { each: { image: 9001 } }\n    offers: []\n',
    'at most 9000',
  ],
  ['a provider without an address', 'providers:\n  a: {}\n', "provider 'a' needs a base_url"],
  [
    'an address of this machine',
    'providers:\n  a:\n    preset: custom\n    base_url: http://127.0.0.1:8000/v1\n',
    'tollgate.yaml:4: base_url is at a private address (loopback): set allow_private: true',
  ],
  [
    'an address other than that of the local preset',
    'providers:\n  a:\n    preset: ollama\n    base_url: http://127.0.0.1:11435/v1\n',
    'tollgate.yaml:4: base_url is at a private address (loopback): set allow_private: true',
  ],
  [
    'an address that is never called',
    'providers:\n  a: { base_url: "http://0xa9fea9fe/v1", allow_private: true }\n',
    'tollgate.yaml:2: base_url is at an address that is never called (cloud metadata)',
  ],
  [
    'a credential in an address',
    'providers:\n  a:\n    base_url: https://user:secret@example.com/v1\n',
    'tollgate.yaml:3: base_url must not hold credentials',
  ],
  [
    'an address with a query',
    'providers:\n  a:\n    base_url: https://example.com/v1?version=1\n',
    'tollgate.yaml:3: base_url must have neither',
  ],
  ['another scheme', 'providers:\n  a:\n    base_url: file:///v1\n', 'tollgate.yaml:3: base_url must be an absolute'],
  ['broken syntax', 'a: [1\nb: 2\n', 'tollgate.yaml:'],
]
for (const [name, text, message] of wrong) {
  test(`${name} is an error with its line`, () => expect(() => read(text)).toThrow(message))
}

test('an address of this machine is accepted if it is allowed, or if a local preset has it', () => {
  const { providers } = read(`
providers:
  allowed: { base_url: 'http://LOCALHOST:8000/v1/', allow_private: true }
  own: { preset: ollama, base_url: http://127.0.0.1:11434/v2 }
  public: { base_url: 'https://API.example.com/v1' }
`)
  expect(providers.map(({ id, baseUrl, reach }) => [id, baseUrl, reach])).toEqual([
    ['allowed', 'http://localhost:8000/v1/', 'private'],
    ['own', 'http://127.0.0.1:11434/v2', 'public'],
    ['public', 'https://api.example.com/v1', 'public'],
  ])
})
