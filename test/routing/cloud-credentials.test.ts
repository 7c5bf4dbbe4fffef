/**
 * Credentials of clouds: requests to Bedrock that are signed with keys, with those of a profile or with those of a
 * role, and tokens of Entra for Azure.
 */
import { beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat } from '../support/gateway.ts'
import { refusalOf } from '../support/s3-signature.ts'
import { useGateway } from '../support/use-gateway.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const folder = mkdtempSync(join(tmpdir(), 'aws-'))

let vendor: Bun.Server<unknown>
/** What the places that give keys and tokens do next, and what they were asked. */
const places = {
  lifeMs: 3_600_000,
  status: 200,
  asked: [] as string[],
  forms: [] as string[],
  authorizations: [] as string[],
}
const models = {
  paths: [] as string[],
  faults: [] as (string | undefined)[],
  tokens: [] as string[],
  /** The headers of the last request beside its own ones. */
  extra: '' as string | null,
  denies: false,
}

const answer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** Keys of a role, as the metadata services of containers and machines give them. */
const keysOf = (name: string): object => ({
  AccessKeyId: name,
  SecretAccessKey: SECRET,
  Token: `session-of-${name}`,
  Expiration: new Date(Date.now() + places.lifeMs).toISOString(),
})

/** As in the example of https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html. */
const assumed = (): string => `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <Credentials>
      <SessionToken>session-of-WEB</SessionToken>
      <SecretAccessKey>${SECRET}</SecretAccessKey>
      <Expiration>${new Date(Date.now() + places.lifeMs).toISOString()}</Expiration>
      <AccessKeyId>WEB</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`

async function give(request: Request, path: string): Promise<Response> {
  places.asked.push(`${request.method} ${path}`)
  places.authorizations.push(request.headers.get('authorization') ?? '')
  if (places.status !== 200) return new Response('no', { status: places.status })
  if (path === '/container') return Response.json(keysOf('CONTAINER'))
  if (path === '/latest/api/token') return new Response('session-1')
  if (path.startsWith('/latest/')) {
    if (request.headers.get('x-aws-ec2-metadata-token') !== 'session-1') return new Response('', { status: 401 })
    return path.endsWith('/robot') ? Response.json({ Code: 'Success', ...keysOf('INSTANCE') }) : new Response('robot\n')
  }
  places.forms.push(await request.text())
  if (path === '/sts') return new Response(assumed(), { headers: { 'content-type': 'text/xml' } })
  return Response.json({ token_type: 'Bearer', expires_in: 3_599, access_token: `entra-token-${places.forms.length}` })
}

async function serve(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (!pathname.startsWith('/openai')) return give(request, pathname)
  const headers = Object.fromEntries(request.headers)
  const body = await request.text()
  models.paths.push(pathname + search)
  models.tokens.push(headers['x-amz-security-token'] ?? headers['authorization'] ?? headers['api-key'] ?? '')
  models.extra = request.headers.get('x-extra')
  // As AWS does for a wrong signature, it quotes what was signed.
  if (models.denies) return Response.json({ message: `Canonical: ${JSON.stringify(headers)}` }, { status: 403 })
  const [, accessKeyId = ''] = /Credential=([^/]+)/.exec(headers['authorization'] ?? '') ?? []
  if (accessKeyId !== '') {
    const identity = { accessKeyId, secretAccessKey: SECRET, region: 'eu-west-1', service: 'bedrock' }
    const sent = { method: request.method, target: pathname + search, headers, body }
    const fault = refusalOf(sent, identity, Date.now())
    models.faults.push(fault?.code)
    if (fault) return Response.json({ message: fault.message }, { status: fault.status })
  }
  if (request.method === 'GET') return Response.json({ data: [{ id: 'gpt-x' }] })
  if (body === '{}') return Response.json({ message: 'model is required' }, { status: 400 })
  if (!body.includes('"stream":true')) return Response.json(answer)
  const { message } = answer.choices[0] ?? expect.unreachable()
  const chunk = {
    ...answer,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: message, finish_reason: 'stop' }],
  }
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
}

const gateway = useGateway(
  () => {
    vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve })
    const origin = `http://127.0.0.1:${vendor.port}`
    writeFileSync(
      join(folder, 'credentials'),
      `[default]\naws_access_key_id = WRONG\n\n[work]\naws_access_key_id = PROFILE\naws_secret_access_key = ${SECRET}\n`,
    )
    writeFileSync(join(folder, 'token'), 'agent-token\n')
    const region = { region: 'eu-west-1' }
    const application = { tenant_id: 't', client_id: 'app', client_secret: 'hush', token_uri: `${origin}/entra` }
    const keys: Readonly<Record<string, readonly [preset: string, key: object | string]>> = {
      keys: ['bedrock', { access_key_id: 'KEYS', secret_access_key: SECRET, ...region }],
      wrong: ['bedrock', { access_key_id: 'KEYS', secret_access_key: 'other', ...region }],
      profile: ['bedrock', { profile: 'work', ...region }],
      nobody: ['bedrock', { profile: 'nobody', ...region }],
      container: ['bedrock', { role: 'container', ...region }],
      instance: ['bedrock', { role: 'instance', ...region }],
      web: ['bedrock', { role: 'web_identity', ...region }],
      nonsense: ['bedrock', { user: 'x' }],
      bearer: ['bedrock', 'ABSK-key'],
      entra: ['azure', application],
      old: ['azure-deployments', application],
      plain: ['azure', 'azure-key'],
      partial: ['azure', { tenant_id: 't' }],
    }
    const ids = Object.keys(keys)
    return {
      env: {
        AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
        AWS_EC2_METADATA_SERVICE_ENDPOINT: origin,
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/robot',
        AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
        AWS_ENDPOINT_URL_STS: `${origin}/sts`,
      },
      yaml: [
        'sandbox: false',
        'providers:',
        ...Object.entries(keys).map(([id, [preset, key]]) => {
          const text = typeof key === 'string' ? key : JSON.stringify(key)
          const path = preset === 'azure-deployments' ? '/openai' : '/openai/v1'
          return `  ${id}: { preset: ${preset}, base_url: '${origin}${path}', allow_private: true, key: '${text}' }`
        }),
        'models:',
        ...ids.map(
          (id) => `  ${id}: { price: { input: 1, output: 2 }, offers: [{ provider: ${id}, model: 'eu.gpt:0' }] }`,
        ),
      ].join('\n'),
    }
  },
  async () => {
    await vendor.stop(true)
    rmSync(folder, { recursive: true })
  },
)
beforeEach(() => {
  Object.assign(places, { lifeMs: 3_600_000, status: 200, asked: [], forms: [], authorizations: [] })
  Object.assign(models, { paths: [], faults: [], tokens: [], extra: '', denies: false })
})

const ask = async (model: string, body: object = {}): Promise<number> => {
  const response = await chat(gateway, { model, ...body })
  await response.text()
  return response.status
}

test('Bedrock takes a signature of the whole request, and a key of its own as a bearer', async () => {
  expect([await ask('keys'), await ask('keys', { stream: true, user: 'zoë' })]).toEqual([200, 200])
  expect(models.faults).toEqual([undefined, undefined])
  expect(await ask('bearer')).toBe(200)
  expect(models.tokens.at(-1)).toBe('Bearer ABSK-key')
})

test('a wrong secret is the operator’s affair, and is not in any output', async () => {
  expect(await ask('wrong')).toBe(503)
  expect(models.faults).toEqual(['SignatureDoesNotMatch'])
  expect(gateway.output()).not.toContain(SECRET)
})

test('the keys of a profile sign, and a profile without keys is named', async () => {
  expect(await ask('profile')).toBe(200)
  expect(await gateway.operate('provider.test', { id: 'nobody' })).toMatchObject({
    ok: false,
    problem: expect.stringContaining('the profile has no keys'),
  })
})

test('the keys of a container’s role are got once, with the token of its file, and sign with their session', async () => {
  expect(await Promise.all(['a', 'b', 'c'].map((user) => ask('container', { user })))).toEqual([200, 200, 200])
  expect(places.asked).toEqual(['GET /container'])
  expect(places.authorizations).toEqual(['agent-token'])
  expect(models.tokens).toEqual(Array.from({ length: 3 }, () => 'session-of-CONTAINER'))
})

test('the keys of a machine’s role are got by a session, and again shortly before they end', async () => {
  places.lifeMs = 1_000
  expect(await ask('instance')).toBe(200)
  expect(places.asked).toEqual([
    'PUT /latest/api/token',
    'GET /latest/meta-data/iam/security-credentials/',
    'GET /latest/meta-data/iam/security-credentials/robot',
  ])
  await Bun.sleep(1_000)
  places.status = 404
  expect(await ask('instance')).toBe(503)
  expect(places.asked).toHaveLength(4)
})

test('a web identity takes a role with the token of its file', async () => {
  expect([await ask('web'), await ask('web')]).toEqual([200, 200])
  expect(models.tokens).toEqual(['session-of-WEB', 'session-of-WEB'])
  expect(places.forms.map((form) => Object.fromEntries(new URLSearchParams(form)))).toEqual([
    {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::123456789012:role/robot',
      RoleSessionName: 'tollgate',
      WebIdentityToken: 'agent-token',
    },
  ])
})

test('an application of Entra gets a token, for both forms of address', async () => {
  expect([await ask('entra'), await ask('entra'), await ask('old')]).toEqual([200, 200, 200])
  expect(models.tokens).toEqual(['Bearer entra-token-1', 'Bearer entra-token-1', 'Bearer entra-token-2'])
  expect(models.paths).toEqual([
    '/openai/v1/chat/completions',
    '/openai/v1/chat/completions',
    '/openai/deployments/eu.gpt%3A0/chat/completions?api-version=2024-10-21',
  ])
  expect(Object.fromEntries(new URLSearchParams(places.forms[0]))).toEqual({
    grant_type: 'client_credentials',
    client_id: 'app',
    client_secret: 'hush',
    scope: 'https://cognitiveservices.azure.com/.default',
  })
  expect(await ask('plain')).toBe(200)
  expect(models.tokens.at(-1)).toBe('azure-key')
})

test('`provider test` says what is wrong with a credential', async () => {
  const probe = (id: string): Promise<object> => gateway.operate('provider.test', { id })
  for (const id of ['keys', 'bearer', 'entra', 'old'])
    expect(await probe(id)).toMatchObject({ ok: true, models: ['gpt-x'] })
  expect(models.paths).toContain('/openai/models?api-version=2024-10-21')
  expect(await probe('nonsense')).toMatchObject({ ok: false, problem: expect.stringContaining('"role"') })
  expect(await probe('partial')).toMatchObject({ ok: false, problem: expect.stringContaining('client_secret') })
})

test('what a vendor quotes of a credential is not shown by `provider test`', async () => {
  models.denies = true
  for (const id of ['web', 'entra', 'bearer', 'plain']) {
    const { problem } = await gateway.operate<{ problem: string }>('provider.test', { id })
    expect(problem).toContain('[redacted]')
    expect(problem).not.toMatch(/session-of-WEB|entra-token-\d|ABSK-key|azure-key/)
  }
})

test('a changed header is sent at once, also with a token that stays', async () => {
  const origin = `http://127.0.0.1:${vendor.port}`
  const application = { tenant_id: 't', client_id: 'app', client_secret: 'hush', token_uri: `${origin}/entra` }
  const at = { id: 'changing', preset: 'azure', base_url: `${origin}/openai/v1`, allow_private: true }
  const offers = [{ provider: 'changing', model: 'm' }]
  await gateway.operate('provider.add', { ...at, key: JSON.stringify(application), headers: { 'x-extra': 'one' } })
  await gateway.operate('model.add', { id: 'changing', price: { input: '1', output: '1' }, offers })
  for (const value of ['one', 'two']) {
    await gateway.operate('provider.add', { id: 'changing', headers: { 'x-extra': value } })
    await gateway.caughtUp()
    expect(await ask('changing')).toBe(200)
    expect(models.extra).toBe(value)
  }
})
