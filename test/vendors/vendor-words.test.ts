/**
 * The vendor's message of a failure and its request id. The operator sees them in the record, the log, the command and
 * the API, if the operator's switch is on. The client and the members of the account never see them.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runCommand, runJson } from '../support/command.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'

const WORDS = 'shard 7 of model pool eu-2 is out of memory'
const ID = 'req_VENDOR_42'
/** Where vendors put their ids. */
const headers = [
  'x-request-id',
  'request-id',
  'x-goog-request-id',
  'x-tt-logid',
  'x-amzn-requestid',
  'cf-ray',
  'apim-request-id',
  'x-ds-trace-id',
]

let vendor: Bun.Server<unknown>
let gateway: TestGateway
let silent: TestGateway

const OVERDUE = { error: { code: 'AccountOverdueError', message: WORDS, type: 'Forbidden' } }

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

function answer(model: string): Response {
  const error = { error: { message: WORDS, type: 'server_error', code: 'pool_exhausted' } }
  const [name = '', place = 'x-request-id'] = model.split('!')
  const known = { [place]: ID }
  switch (name) {
    case 'fails':
      return Response.json(error, { status: 500, headers: known })
    case 'in-body':
      return Response.json({ ...error, request_id: ID }, { status: 500 })
    case 'in-words':
      return Response.json({ error: { message: `${WORDS}. Request id: ${ID}` } }, { status: 500 })
    case 'hides':
      return Response.json(error, { headers: known })
    case 'breaks':
      return new Response(`${chunk('a word')}data: ${JSON.stringify(error)}\n\n`, {
        headers: { ...known, 'content-type': 'text/event-stream' },
      })
    case 'streams':
      return new Response(`${chunk('a word').replace('null}', '"stop"}')}data: [DONE]\n\n`, {
        headers: { ...known, 'content-type': 'text/event-stream' },
      })
    default:
      return Response.json(
        {
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
        { headers: known },
      )
  }
}

const models = [
  'works',
  'fails',
  'in-body',
  'in-words',
  'hides',
  'breaks',
  'streams',
  ...headers.map((name) => `fails!${name}`),
  ...headers.map((name) => `works!${name}`),
]
const idOf = (model: string): string => model.replace('!', '-')

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { model } = (await request.json()) as { model: string }
      const isMedia = /images|tasks/.test(new URL(request.url).pathname)
      return isMedia ? Response.json(OVERDUE, { status: 403, headers: { 'x-tt-logid': ID } }) : answer(model)
    },
  })
  const yaml = `
sandbox: false
providers:
  vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: k }
  ark: { preset: ark, base_url: 'http://127.0.0.1:${vendor.port}/api/v3', allow_private: true, key: k }
models:
  pic: { kind: image, price: { each: { image: 0.01 } }, image: { family: open }, offers: [{ provider: vendor, model: pic }] }
  film: { kind: video, price: { each: { second: 0.1 } }, video: { family: seedance-2 }, offers: [{ provider: ark, model: doubao-seedance-2-0-260128, cost: { each: { token: 0.000007 } } }] }
${models.map((model) => `  ${idOf(model)}: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: '${model}' }] }`).join('\n')}
`
  const env = { TOLLGATE_ATTEMPTS_MAX: '1' }
  gateway = await startGateway({ yaml, env })
  silent = await startGateway({ yaml: `${yaml}upstream_messages: false\n`, env })
}, 60_000)
afterAll(async () => {
  await Promise.all([gateway.close(), silent.close()])
  await vendor.stop(true)
}, 30_000)

type Attempt = {
  readonly result: string
  readonly status: number | null
  readonly code: string | null
  readonly type: string | null
  readonly message: string | null
  readonly upstream_request_id: string | null
}

async function asked(to: TestGateway, model: string, stream = false): Promise<{ id: string; text: string }> {
  const response = await chat(to, { model: idOf(model), stream, max_tokens: 5 })
  const text = JSON.stringify([...response.headers]) + (await response.text())
  return { id: response.headers.get('x-request-id') ?? '', text }
}

async function attemptOf(to: TestGateway, model: string, stream = false): Promise<Attempt> {
  const { id, text } = await asked(to, model, stream)
  // Never to the client.
  expect(text).not.toContain(ID)
  expect(text).not.toContain('shard')
  const { attempts } = await runJson<{ attempts: Attempt[] }>(to.folder, ['request', 'show', id])
  return attempts[0] as Attempt
}

test('the vendor’s id is kept of failures and of answers, wherever it stands', async () => {
  for (const model of models.filter((name) => !/breaks|streams/.test(name)))
    expect([model, (await attemptOf(gateway, model)).upstream_request_id]).toEqual([model, ID])
  for (const model of ['streams', 'breaks'])
    expect([model, (await attemptOf(gateway, model, true)).upstream_request_id]).toEqual([model, ID])
}, 60_000)

test('status, code, type and message of a failure are kept, in the middle of a stream as well', async () => {
  const said = { code: 'pool_exhausted', type: 'server_error', message: WORDS }
  expect(await attemptOf(gateway, 'fails')).toMatchObject({ result: 'server', status: 500, ...said })
  expect(await attemptOf(gateway, 'hides')).toMatchObject({ result: 'server', ...said })
  expect(await attemptOf(gateway, 'breaks', true)).toMatchObject({ result: 'server', ...said })
})

test('the log line of the request has them, and the command shows them to people', async () => {
  const { id } = await asked(gateway, 'fails')
  const line =
    gateway
      .output()
      .split('\n')
      .find((one) => one.includes(id)) ?? ''
  expect(line).toContain(ID)
  expect(line).toContain(WORDS)
  const { out } = await runCommand(gateway.folder, ['request', 'show', id])
  expect(out).toContain(ID)
  expect(out).toContain(`pool_exhausted, server_error, ${WORDS}`)
})

test('an operator who wants no words of vendors has none, and doctor says so', async () => {
  expect(await attemptOf(silent, 'fails')).toMatchObject({
    status: 500,
    code: 'pool_exhausted',
    type: 'server_error',
    message: null,
    upstream_request_id: ID,
  })
  expect(silent.output()).not.toContain('shard 7')
  expect(await silent.operate('doctor')).toMatchObject({ upstream_messages: false })
  expect(await gateway.operate('doctor')).toMatchObject({ upstream_messages: true })
})

test('of pictures and videos the operator has the details, too', async () => {
  const bodies = {
    'images/generations': { model: 'pic', prompt: 'a lighthouse' },
    videos: { model: 'film', content: [{ type: 'text', text: 'a lighthouse' }], duration: 5 },
  }
  for (const [path, body] of Object.entries(bodies)) {
    const response = await fetch(`${gateway.baseUrl}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([path, response.status]).toEqual([path, 503])
    expect(await response.text()).not.toContain('shard')
    const id = response.headers.get('x-request-id') ?? ''
    const { attempts } = await runJson<{ attempts: Attempt[] }>(gateway.folder, ['request', 'show', id])
    expect(attempts[0]).toMatchObject({
      result: 'funds',
      status: 403,
      code: 'AccountOverdueError',
      type: 'Forbidden',
      message: WORDS,
      upstream_request_id: ID,
    })
  }
})
