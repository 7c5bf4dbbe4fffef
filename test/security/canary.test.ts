/**
 * Secrets are planted wherever a request can carry one, and every kind of failure is caused. Afterwards none of them
 * may be in what the gateway keeps or sends to others: database, log, metrics, control socket, other answers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, found, spellingsOf } from '../support/canary.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawClient } from '../support/raw-client.ts'

/** Long and odd enough not to be there by chance; with characters that encodings change. */
const canary = (name: string): string => `canary/${name}+${crypto.randomUUID()}"é`
const headerCanary = (name: string): string => `canary-${name}-${crypto.randomUUID()}`

const planted = {
  upstreamCredential: headerCanary('credential'),
  metricsToken: headerCanary('metrics'),
  prompt: canary('prompt'),
  promptWord: headerCanary('prompt-word').slice(0, 48),
  output: canary('output'),
  toolArguments: canary('arguments'),
  imageUrl: `https://pictures.example/${headerCanary('image')}.png?sig=${headerCanary('sig')}`,
  imageData: Buffer.from(canary('pixels')).toString('base64'),
  queryKey: headerCanary('query'),
  wrongKey: headerCanary('wrong-key'),
  userField: canary('user'),
  malformed: canary('malformed'),
  stopWord: canary('stop'),
  cookie: headerCanary('cookie'),
  keptOutput: canary('kept'),
}
/** May be kept, for a day, in the rows made for them and nowhere else. */
const idempotencyKey = headerCanary('idempotency')

const choice = (message: object, finish = 'stop'): object => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
})
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: planted.toolArguments } }
const echo = (request: Request, body: string): object => ({
  error: { message: `bad ${body} with ${request.headers.get('authorization')}`, code: planted.output, param: body },
})
/** What looks like a vendor's code, and like a field's name, but is neither. */
const echoShort = (request: Request): object => {
  const [, credential = ''] = request.headers.get('authorization')?.split(' ') ?? []
  return { error: { message: 'no', code: credential, param: credential, type: credential } }
}
const sse = (...events: (object | string | null)[]): Response => {
  const stream = new ReadableStream({
    async start(controller) {
      for (const event of events) {
        if (event === null) return controller.error()
        const data = typeof event === 'string' ? event : JSON.stringify(event)
        controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`))
        await Bun.sleep(5)
      }
      controller.close()
    },
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
const delta = (content: string, finish: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
})

/** What the vendor does, by model; each says something that must not be repeated. */
const scripts: Record<string, (request: Request, body: string) => Response | Promise<Response>> = {
  good: () => Response.json(choice({ content: planted.output })),
  kept: () => Response.json(choice({ content: planted.keptOutput })),
  tools: () => Response.json(choice({ content: null, tool_calls: [call] }, 'tool_calls')),
  streamed: () => sse(delta(planted.output), delta(planted.output), delta('', 'stop'), '[DONE]'),
  breaks: () => sse(delta(planted.output), delta(planted.output), null),
  'errs-in-band': () => sse(delta(planted.output), { error: { message: planted.prompt, code: planted.output } }),
  'errs-without-code': () => sse(delta(planted.output), { error: { message: planted.prompt } }),
  'errs-at-once': () => sse({ error: { message: planted.prompt } }),
  'hides-error': () => Response.json({ error: { message: planted.prompt } }),
  garbage: () => new Response(`<html>${planted.output}${planted.prompt}`),
  'garbage-stream': () => sse(`{"${planted.output}`, planted.prompt),
  slow: async () => {
    await Bun.sleep(400)
    return sse(delta(planted.output), delta('', 'stop'), '[DONE]')
  },
}
for (const status of [400, 401, 403, 404, 422, 429, 500, 503])
  scripts[`echo-short-${status}`] = (request) => Response.json(echoShort(request), { status })
for (const status of [400, 401, 403, 404, 422, 429, 500, 503])
  scripts[`echo-prompt-${status}`] = (_, body) => {
    const word = body.includes(planted.promptWord) ? planted.promptWord : 'none'
    return Response.json({ error: { message: 'no', code: word, type: word } }, { status })
  }
/** Where an id of a request would be, and in a message beside words that are the vendor's own. */
for (const status of [200, 400, 401, 429, 500])
  scripts[`echo-id-${status}`] = (request, body) => {
    const word = body.includes(planted.promptWord) ? planted.promptWord : 'none'
    const [, credential = ''] = request.headers.get('authorization')?.split(' ') ?? []
    const headers = { 'x-request-id': status === 401 ? credential : word }
    if (status === 200) return Response.json(choice({ content: planted.output }), { headers })
    const own = [word, planted.imageUrl, planted.userField, planted.prompt, credential.slice(3, 30)]
    const quoted = word === 'none' ? word : own.join(', ')
    const error = { message: `shard 7 is out of memory for ${quoted}`, type: word, request_id: word }
    return Response.json({ error, request_id: word }, { status, headers })
  }
for (const status of [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 529])
  scripts[`echo-${status}`] = (request, body) => Response.json(echo(request, body), { status })

let vendor: Bun.Server<unknown>
let gateway: TestGateway
/** What others were told afterwards. */
const heard: string[] = []

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    error: () => new Response('', { status: 500 }),
    async fetch(request) {
      const body = await request.text()
      const model = /"model":"([\w-]+)"/.exec(body)?.[1] ?? ''
      return (await scripts[model]?.(request, body)) ?? new Response('', { status: 404 })
    },
  })
  const models = Object.keys(scripts).map(
    (name) => `  ${name}: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: ${name} }] }`,
  )
  gateway = await startGateway({
    yaml: `
sandbox: false
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: '\${VENDOR_KEY}' } }
models:
${models.join('\n')}
`,
    env: {
      VENDOR_KEY: planted.upstreamCredential,
      TOLLGATE_LOG: 'debug',
      TOLLGATE_METRICS_PORT: '',
      TOLLGATE_EVENT_GAP_TIMEOUT_MS: '1000',
    },
  })
  await provoke()
}, 60_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

const body = (model: string, more: object = {}): object => ({
  model,
  user: planted.userField,
  stop: [planted.stopWord],
  metadata: { note: planted.userField },
  messages: [
    { role: 'system', content: `${planted.prompt} ${planted.promptWord}` },
    {
      role: 'user',
      content: [
        { type: 'text', text: planted.prompt },
        { type: 'image_url', image_url: { url: planted.imageUrl } },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${planted.imageData}` } },
      ],
    },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: planted.toolArguments },
  ],
  ...more,
})

async function ask(model: string, more: object = {}): Promise<string> {
  return (await chat(gateway, body(model, more))).text().catch(() => '')
}

/** Everything that can happen to a request, with a secret in each of its places. */
async function provoke(): Promise<void> {
  for (const model of Object.keys(scripts)) {
    await ask(model)
    await ask(model, { stream: true })
  }
  await Promise.all(['streamed', 'slow', 'breaks'].map((model) => hangUp(model)))
  const { baseUrl, key } = gateway
  const authorized = { authorization: `Bearer ${key}`, 'content-type': 'application/json', cookie: planted.cookie }
  const send = async (path: string, init: RequestInit): Promise<void> => {
    await (await fetch(`${baseUrl}${path}`, init)).text()
  }
  const refused = [
    `{"model":"good","messages":"${planted.malformed}`,
    JSON.stringify({ model: planted.malformed, messages: [{ role: 'user', content: 'x' }] }),
    JSON.stringify({ model: 'good', messages: [{ role: planted.malformed, content: planted.prompt }] }),
    JSON.stringify({ model: 'good', [planted.malformed]: 1, temperature: planted.malformed, messages: [] }),
    JSON.stringify(body('good', { max_tokens: 1e12 })),
  ]
  for (const text of refused) await send('/chat/completions', { method: 'POST', headers: authorized, body: text })
  await send(`/chat/completions?key=${planted.queryKey}`, { method: 'POST', headers: { ...authorized }, body: '{' })
  await send(`/models?key=${planted.queryKey}`, {})
  await send(`/models/${encodeURIComponent(planted.malformed)}?key=${planted.queryKey}`, { headers: authorized })
  await send(`/${encodeURIComponent(planted.malformed)}`, { headers: authorized })
  await send('/models', { headers: { authorization: `Bearer ${planted.wrongKey}`, cookie: planted.cookie } })
  await send('/models', { headers: { authorization: `Basic ${planted.wrongKey}`, 'x-api-key': planted.wrongKey } })
  await fetch(new URL('/metrics', baseUrl), { headers: { authorization: `Bearer ${planted.metricsToken}` } })
  await malformedHead()
  for (let again = 0; again < 2; again++) {
    const headers = { ...authorized, 'idempotency-key': idempotencyKey }
    await send('/chat/completions', { method: 'POST', headers, body: JSON.stringify(body('kept')) })
  }
}

async function hangUp(model: string): Promise<void> {
  const leaving = new AbortController()
  const asked = chat(gateway, body(model, { stream: true }), { signal: leaving.signal })
  setTimeout(() => leaving.abort(), 100)
  await asked.then((answer) => answer.text()).catch(() => '')
}

async function malformedHead(): Promise<void> {
  const client = await rawClient(Number(new URL(gateway.baseUrl).port))
  client.send(`GET /${planted.queryKey} HTTP/9.9\r\nauthorization: Bearer ${planted.wrongKey}\0\r\n\r\n`)
  await client.ended()
  client.close()
}

const secrets = (): Record<string, string> => ({ ...planted, key: gateway.key })
/** The answer of the one request that asked for it to be kept. */
const withoutKept = (): Record<string, string> => {
  const { keptOutput: _, ...others } = secrets()
  return others
}

describe('of what was planted nothing is found', () => {
  test('by a search that finds it where it is', () => {
    for (const spelling of spellingsOf(planted.prompt)) {
      expect(found(`xx${Buffer.from(spelling).toString('latin1')}yy`, planted)).not.toEqual([])
    }
    const inner = Buffer.from(`a${planted.prompt}b`).toString('base64')
    expect(found(inner, planted).some((hit) => hit.startsWith('prompt'))).toBe(true)
  })

  test('in the database, its log and its index, nor in any other file', () => {
    const files = filesOf(gateway.folder)
    expect([...files.keys()]).toContain('tollgate.db-wal')
    // A copy as a backup makes it, in the folder of the test alone.
    const copy = join(gateway.folder, 'copy')
    mkdirSync(copy)
    for (const name of files.keys()) copyFileSync(join(gateway.folder, name), join(copy, name))
    expect(existsSync(join(copy, 'tollgate.db'))).toBe(true)
    for (const [name, bytes] of [...files, ...filesOf(copy)]) {
      expect({ name, found: found(bytes, withoutKept()) }).toEqual({ name, found: [] })
    }
  })

  test('in the log, at its most talkative', () => {
    // What serve prints for the operator on its first start is not the log.
    const log = gateway.output().slice(gateway.output().indexOf('{"time"'))
    expect(log.split('\n').length).toBeGreaterThan(40)
    expect(found(log, { ...secrets(), idempotencyKey })).toEqual([])
  })

  test('in the metrics', async () => {
    const text = await gateway.metrics()
    expect(text).toContain('tollgate_requests_total')
    expect(found(text, { ...secrets(), idempotencyKey })).toEqual([])
  })

  test('in what the control socket shows', async () => {
    const records = await gateway.operate<{ id: string }[]>('request.list', { limit: 1_000 })
    expect(records.length).toBeGreaterThan(30)
    const views = [records, await gateway.operate('doctor'), await gateway.operate('key.list')]
    for (const { id } of records) views.push(await gateway.operate('request.show', { request: id }))
    for (const name of ['account.list', 'provider.list', 'model.list']) views.push(await gateway.operate(name))
    expect(found(JSON.stringify(views), { ...secrets(), idempotencyKey })).toEqual([])
  })

  test('and what is the vendor’s own is there for the operator', async () => {
    const records = await gateway.operate<{ model: string; attempts: string }[]>('request.list', { limit: 1_000 })
    const [attempts = ''] = records.flatMap((record) => (record.model === 'echo-id-500' ? [record.attempts] : []))
    expect(attempts).toContain('shard 7 is out of memory for')
  })

  test('in what other clients are told', async () => {
    await gateway.operate('account.create', { name: 'other', balance: '1' })
    const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: 'other', name: 'k' })
    const other = { baseUrl: gateway.baseUrl, key: secret }
    for (const model of Object.keys(scripts).filter((name) => name.startsWith('echo') || name.startsWith('garbage'))) {
      for (const stream of [false, true]) {
        const answer = await chat(other, { model, stream })
        heard.push(JSON.stringify([...answer.headers]), await answer.text())
      }
    }
    const bare = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
    for (const path of ['/models', '/balance', '/models/none'])
      heard.push(await (await fetch(`${gateway.baseUrl}${path}`, { headers: bare })).text())
    // A vendor's own word for a refused request is passed on to whoever sent it: here it is not the planted one's.
    const { output: _, ...others } = secrets()
    expect(found(heard.join('\n'), others)).toEqual([])
  })

  test('except the answer that an idempotency key asks to keep: once, in its row', async () => {
    const { Database } = await import('bun:sqlite')
    const db = new Database(join(gateway.folder, 'tollgate.db'), { readonly: true })
    const rows = db.query('SELECT key, body, headers FROM idempotency').all() as Record<string, string>[]
    expect(rows).toHaveLength(1)
    expect(rows[0]?.['key']).toBe(idempotencyKey)
    expect(rows[0]?.['body']).toContain(JSON.stringify(planted.keptOutput).slice(1, -1))
    const tables = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
    for (const { name } of tables.filter((table) => table.name !== 'idempotency')) {
      const all = JSON.stringify(db.query(`SELECT * FROM ${name}`).all(), (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      )
      expect({ name, found: found(all, { ...secrets(), idempotencyKey }) }).toEqual({ name, found: [] })
    }
    db.close()
  })
})
