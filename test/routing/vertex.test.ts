/**
 * Vertex AI: a service account's assertion is exchanged for a token, which is kept, renewed, and requested once at a
 * time.
 */
import { beforeEach, expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { chat } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })

/** What the token endpoint does next, and what it and the models were asked. */
const services = { expiresIn: 3_600, status: 200, delayMs: 0, issued: 0, statements: [] as string[] }
const models = { revoked: new Set<string>(), tokens: [] as string[], paths: [] as string[], bodies: [] as string[] }

let vendor: Bun.Server<unknown>

const reply = {
  candidates: [{ content: { parts: [{ text: 'hello' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: 912,
    cachedContentTokenCount: 900,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 64,
    totalTokenCount: 996,
  },
  modelVersion: 'gemini-3.5-flash',
}

async function exchange(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text())
  services.statements.push(form.get('assertion') ?? '')
  await Bun.sleep(services.delayMs)
  if (services.status !== 200) return Response.json({ error: 'invalid_grant' }, { status: services.status })
  return Response.json({
    access_token: `token-${++services.issued}`,
    expires_in: services.expiresIn,
    token_type: 'Bearer',
  })
}

async function generate(request: Request, path: string): Promise<Response> {
  const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
  models.tokens.push(token)
  models.paths.push(path)
  models.bodies.push(await request.text())
  if (models.revoked.has(token)) {
    return Response.json({ error: { code: 401, message: 'expired', status: 'UNAUTHENTICATED' } }, { status: 401 })
  }
  if (request.method === 'GET')
    return Response.json({ publisherModels: [{ name: 'publishers/google/models/gemini-x' }] })
  if (!path.includes(':stream')) return Response.json(reply)
  return new Response(`data: ${JSON.stringify(reply)}\r\n\r\n`, { headers: { 'content-type': 'text/event-stream' } })
}

const gateway = useGateway(
  () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, search } = new URL(request.url)
        return pathname === '/token' ? exchange(request) : generate(request, pathname + search)
      },
    })
    const origin = `http://127.0.0.1:${vendor.port}`
    const account = {
      type: 'service_account',
      client_email: 'robot@example.com',
      private_key_id: 'kid1',
      private_key: pem,
      token_uri: `${origin}/token`,
    }
    const place = '/v1beta1/projects/p/locations/l/publishers/google'
    const offer = (provider: string): string =>
      `{ price: { input: 1, output: 2, cached_input: 0.1, reasoning: 3 }, offers: [{ provider: ${provider}, model: gemini-3.5-flash }] }`
    return {
      env: { ACCOUNT: JSON.stringify(account), BROKEN: JSON.stringify({ ...account, private_key: 'no key' }) },
      yaml: [
        'sandbox: false',
        'providers:',
        `  vertex: { preset: vertex, base_url: '${origin}${place}', allow_private: true, key: '\${ACCOUNT}' }`,
        `  broken: { preset: vertex, base_url: '${origin}${place}', allow_private: true, key: '\${BROKEN}' }`,
        `  nonsense: { preset: vertex, base_url: '${origin}${place}', allow_private: true, key: 'AIza' }`,
        `  guarded: { preset: vertex, base_url: 'https://aiplatform.googleapis.com${place}', key: '\${ACCOUNT}' }`,
        `  studio: { preset: gemini, base_url: '${origin}/v1beta', allow_private: true, key: 'AIza' }`,
        'models:',
        `  flash: ${offer('vertex')}`,
        `  again: ${offer('vertex')}`,
        `  broken: ${offer('broken')}`,
      ].join('\n'),
    }
  },
  () => vendor.stop(true),
)
beforeEach(() => {
  for (let i = 1; i <= services.issued; i++) models.revoked.add(`token-${i}`)
  Object.assign(services, { expiresIn: 3_600, status: 200, delayMs: 0, statements: [] })
  Object.assign(models, { tokens: [], paths: [], bodies: [] })
})

const ask = async (body: object = {}): Promise<number> => {
  const response = await chat(gateway, { model: 'flash', ...body })
  await response.text()
  return response.status
}

test('the statement is signed, says who and what for, and its token serves until it ends', async () => {
  expect(await ask()).toBe(200)
  expect(await ask({ stream: true })).toBe(200)
  expect(services.statements).toHaveLength(1)
  expect(new Set(models.tokens).size).toBe(1)
  const [head = '', claims = '', signature = ''] = services.statements[0]?.split('.') ?? []
  const signed = verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
  expect(signed).toBeTrue()
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid1' })
  const { iat, exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iat: number; exp: number }
  expect(exp - iat).toBe(3_600)
  expect(rest).toEqual({
    iss: 'robot@example.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: `http://127.0.0.1:${vendor.port}/token`,
  } as object)
  expect(models.paths).toEqual([
    '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3.5-flash:generateContent',
    '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
  ])
})

test('a token that was revoked is renewed once, whole and streamed, and nobody notices', async () => {
  for (const stream of [false, true]) {
    models.revoked.add(`token-${services.issued}`)
    services.statements = []
    expect(await ask({ stream })).toBe(200)
    expect(services.statements).toHaveLength(1)
  }
})

test('many requests at once ask for one token', async () => {
  services.delayMs = 100
  models.revoked.add(`token-${services.issued}`)
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, i) => ask({ stream: i % 2 === 0 })))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(services.statements).toHaveLength(1)
})

test('a token is given up shortly before it ends', async () => {
  services.expiresIn = 1
  expect(await ask()).toBe(200)
  const before = services.statements.length
  await Bun.sleep(1_000)
  services.expiresIn = 3_600
  expect(await ask()).toBe(200)
  expect(services.statements.length).toBe(before + 1)
  // It was given up by the clock, not by a refusal.
  expect(models.tokens.at(-1)).not.toBe(models.tokens.at(-2) ?? '')
})

test('what was cached and what was thought have their own prices, whoever asks', async () => {
  const response = await chat(gateway, { model: 'flash' })
  expect(await response.json()).toMatchObject({
    usage: {
      prompt_tokens: 912,
      completion_tokens: 84,
      total_tokens: 996,
      prompt_tokens_details: { cached_tokens: 900 },
      completion_tokens_details: { reasoning_tokens: 64 },
    },
  })
  const google = await fetch(new URL('/v1beta/models/flash:generateContent', gateway.baseUrl), {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'hello' }] }] }),
  })
  // But for the model's name, byte for byte what the vendor sent.
  expect(await google.text()).toBe(JSON.stringify({ ...reply, modelVersion: 'flash' }))
  // 12 at $1, 900 at $0.1, 20 at $2 and 64 at $3 a million.
  const records = await gateway.operate<{ charged: string }[]>('request.list', { limit: 2 })
  expect(records.map(({ charged }) => charged)).toEqual(['334000', '334000'])
})

test('ids of calls stay behind, for this vendor refuses them', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'y' },
  ]
  expect(await ask({ messages })).toBe(200)
  expect(models.bodies.at(-1)).not.toContain('call_1')
})

test('`provider test` works for both of Google’s doors, and says what is wrong with a credential', async () => {
  const probe = (id: string): Promise<object> => gateway.operate('provider.test', { id })
  expect(await probe('vertex')).toMatchObject({ ok: true, models: ['gemini-x'] })
  expect(models.paths.at(-1)).toBe('/v1beta1/publishers/google/models')
  expect(await probe('studio')).toMatchObject({ ok: true })
  expect(await probe('nonsense')).toMatchObject({ ok: false, problem: expect.stringContaining('service account') })
  expect(await probe('broken')).toMatchObject({ ok: false, problem: expect.stringContaining('cannot sign') })
})

test('the token endpoint is called through the guard', async () => {
  const probed = await gateway.operate('provider.test', { id: 'guarded' })
  expect(probed).toMatchObject({ ok: false, problem: expect.stringContaining('no token') })
  expect(services.statements).toEqual([])
})

test('a refused exchange is the operator’s affair: a credential that failed, nothing charged, nothing leaked', async () => {
  const response = await chat(gateway, { model: 'broken' })
  const body = await response.text()
  expect(response.status).toBe(503)
  expect(body).not.toContain('PRIVATE')
  services.status = 400
  models.revoked.add(`token-${services.issued}`)
  expect(await ask({ model: 'again' })).toBe(503)
  const [record] = await gateway.operate<{ attempts: string; charged: string }[]>('request.list', { limit: 1 })
  expect(record).toMatchObject({ charged: '0', attempts: expect.stringContaining('"result":"auth"') })
  services.status = 200
  expect(await ask()).toBe(200)
  expect(gateway.output()).not.toContain('PRIVATE')
})
