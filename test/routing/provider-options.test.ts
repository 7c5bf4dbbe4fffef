/** Providers with a proxy, headers and parameters of their own, declared and stored, in a gateway with `HTTP_PROXY`. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { filesOf, found } from '../support/canary.ts'
import { startConnectProxy, type TestProxy } from '../support/connect-proxy.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { startSocksProxy, type SocksProxy } from '../support/socks-proxy.ts'

const planted = {
  proxyPassword: `planted-proxy-${crypto.randomUUID()}`,
  header: `planted-header-${crypto.randomUUID()}`,
  query: `planted-query-${crypto.randomUUID()}`,
  key: `planted-key-${crypto.randomUUID()}`,
}

type VendorCall = { readonly path: string; readonly headers: Headers }
let seen: VendorCall[] = []
let vendor: Bun.Server<unknown>
let general: TestProxy
let own: SocksProxy
let gateway: TestGateway

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      seen.push({ path: pathname + search, headers: request.headers })
      if (pathname.endsWith('/models')) return Response.json({ object: 'list', data: [{ id: 'm', object: 'model' }] })
      const refusal = `no: ${request.headers.get('x-secret')} ${search} ${request.headers.get('authorization')}`
      if (pathname.includes('refusing')) return Response.json({ error: { message: refusal } }, { status: 400 })
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      })
    },
  })
  general = await startConnectProxy()
  own = await startSocksProxy({ secret: `me:${planted.proxyPassword}` })
  const base = `http://127.0.0.1:${vendor.port}`
  const secret = `headers: { X-Secret: ${planted.header} }, query: { token: ${planted.query}, api-version: 2024-10-21 }`
  gateway = await startGateway({
    env: { HTTP_PROXY: `http://127.0.0.1:${general.port}`, TOLLGATE_LOG: 'debug' },
    yaml: `
providers:
  environment: { base_url: '${base}/env', allow_private: true, key: ${planted.key} }
  direct: { base_url: '${base}/direct', allow_private: true, proxy: direct, organization: org-1, project: p-1 }
  own:
    base_url: ${base}/own
    allow_private: true
    proxy: socks5h://me:${planted.proxyPassword}@127.0.0.1:${own.port}
    ${secret.replace('}, query', '}\n    query')}
  refusing: { base_url: '${base}/refusing', allow_private: true, key: ${planted.key}, ${secret} }
  dead: { base_url: '${base}/dead', allow_private: true, proxy: 'http://127.0.0.1:1' }
models:
${['environment', 'direct', 'own', 'refusing', 'dead']
  .map((id) => `  ${id}: { price: { input: 1, output: 1 }, offers: [{ provider: ${id}, model: m }] }`)
  .join('\n')}
`,
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
  general.stop()
  own.stop()
}, 30_000)

const ask = async (model: string): Promise<{ status: number; text: string }> => {
  seen = []
  const response = await chat(gateway, { model, messages: [{ role: 'user', content: 'hi' }] })
  return { status: response.status, text: await response.text() }
}

const refusalOf = (input: object): Promise<string> =>
  gateway.operate('provider.add', input).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  )

test('each provider goes its own way, and the sandbox goes none', async () => {
  expect((await ask('environment')).status).toBe(200)
  expect(general.requests.map(({ target }) => new URL(target).pathname)).toEqual(['/env/chat/completions'])
  expect((await ask('direct')).status).toBe(200)
  expect((await ask('own')).status).toBe(200)
  expect((await ask('sandbox-mini')).status).toBe(200)
  expect(general.requests).toHaveLength(1)
  expect(own.targets).toEqual([{ kind: 'ipv4', host: '127.0.0.1', port: vendor.port ?? 0 }])
  expect([...general.faults, ...own.faults]).toEqual([])
})

test('headers and parameters reach the vendor', async () => {
  await ask('own')
  expect(seen[0]?.path).toBe(`/own/chat/completions?token=${planted.query}&api-version=2024-10-21`)
  expect(seen[0]?.headers.get('x-secret')).toBe(planted.header)
  await ask('direct')
  expect(seen[0]?.headers.get('openai-organization')).toBe('org-1')
  expect(seen[0]?.headers.get('openai-project')).toBe('p-1')
})

test('a dead proxy is named in the record, and nothing is charged', async () => {
  const { status } = await ask('dead')
  expect(status).toBeGreaterThanOrEqual(500)
  const wanted = { account: gateway.accountId, limit: 1 }
  const [record] = await gateway.operate<{ attempts: string; charged: string }[]>('request.list', wanted)
  expect(record).toMatchObject({ charged: '0' })
  expect(record?.attempts).toContain('the proxy cannot be reached (ECONNREFUSED)')
})

test('a stored provider takes options, shows no values, and needs its secrets again where others could read them', async () => {
  const base = { id: 'stored', base_url: `http://127.0.0.1:${vendor.port}/stored`, allow_private: true }
  const proxy = `http://me:${planted.proxyPassword}@127.0.0.1:${general.port}`
  const headers = { 'X-Secret': planted.header }
  const made = await gateway.operate('provider.add', { ...base, key: planted.key, proxy, headers, query: { a: 'b' } })
  const shown = { proxy: `http://127.0.0.1:${general.port}`, headers: ['x-secret'], query: ['a'], has_ca: false }
  expect(made).toMatchObject(shown)
  const before = general.requests.length
  seen = []
  expect(await gateway.operate('provider.test', { id: 'stored' })).toMatchObject({ ok: true, models: ['m'] })
  expect(seen[0]?.path).toBe('/stored/models?a=b')
  expect(seen[0]?.headers.get('x-secret')).toBe(planted.header)
  expect(general.requests.length).toBe(before + 1)
  // Without TLS, another proxy could read the key.
  const change = { id: 'stored', proxy: `http://127.0.0.1:${own.port}` }
  expect(await refusalOf(change)).toContain('give the key, headers and query again')
  await gateway.operate('provider.add', { ...change, key: planted.key, headers: null, query: null, proxy: null })
  expect(await gateway.operate('provider.add', { id: 'stored', organization: 'o' })).toMatchObject({
    proxy: null,
    headers: ['openai-organization'],
    has_key: true,
  })
  expect(await refusalOf({ id: 'stored', headers: { host: 'x' } })).toContain('headers has a name that is no header')
})

test('no secret of a provider is in an answer, the log or the data folder', async () => {
  const { text } = await ask('refusing')
  expect(seen).toHaveLength(1)
  expect(found(Buffer.from(text).toString('latin1'), planted)).toEqual([])
  expect(found(Buffer.from(gateway.output()).toString('latin1'), planted)).toEqual([])
  for (const [file, bytes] of gateway.folders.flatMap((folder) => [...filesOf(folder)]))
    expect([file, found(bytes, planted)]).toEqual([file, []])
})
