import { describe, expect, test } from 'bun:test'
import { chat } from '../support/gateway.ts'
import { useSandbox } from '../support/use-gateway.ts'

const { gateway } = useSandbox((sandbox) => ({
  yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
  billing-on: { base_url: '${sandbox.baseUrl}', allow_private: true, hang_up: bills_on }
models:
  org/model-x:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: sandbox-chat }]
  slow:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!pace=20' }]
  drained:
    price: { input: 1, output: 2 }
    offers: [{ provider: billing-on, model: 'sandbox-chat!pace=1' }]
  late:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=500' }]
  cut:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!cutAfterBytes=2000' }]
  no-usage:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!noUsage' }]
  wrong-usage:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!wrongUsage' }]
  no-done:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: 'sandbox-chat!noDone' }]
  capped:
    price: { input: 1, output: 2 }
    output_tokens_max: 50
    offers: [{ provider: vendor, model: sandbox-chat }]
`,
  env: { TOLLGATE_BODY_BYTES_MAX: '100000' },
}))

type Envelope = { error: { message: string; type: string; param: string | null; code: string } }

async function refusal(response: Response | Promise<Response>): Promise<Envelope['error'] & { status: number }> {
  const settled = await response
  const { error } = (await settled.json()) as Envelope
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(settled.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(settled.headers.get('x-request-id')).toMatch(/^req_/)
  return { ...error, status: settled.status }
}

const post = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body,
  })

type Member = { account: string; key: string; baseUrl: string; keyId: string }
let serial = 0

/** An account of its own, so that a test's balance is its own. */
async function member(options: { balance?: string; models?: string[]; keyModels?: string[] } = {}): Promise<Member> {
  const name = `member-${serial++}`
  const { balance, models, keyModels } = options
  const account = await gateway.operate<{ id: string }>('account.create', {
    name,
    ...(balance && { balance }),
    ...(models && { models }),
  })
  const made = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account: name,
    name: 'k',
    ...(keyModels && { models: keyModels }),
  })
  return { account: account.id, key: made.secret, keyId: made.id, baseUrl: gateway.baseUrl }
}

type Record_ = Record<
  'attempts' | 'charged' | 'held' | 'outcome' | 'usage_source' | 'input_fresh' | 'output_text',
  string
>

/** The record of a request, which may still be on its way when the client has left. */
async function recordOf(account: string): Promise<Record_> {
  for (let tries = 0; tries < 250; tries++) {
    const [record] = await gateway.operate<Record_[]>('request.list', { account, limit: 1 })
    if (record) return record
    await Bun.sleep(20)
  }
  throw new Error('no record')
}

describe('refusals come in the envelope', () => {
  test('unknown routes and wrong methods', async () => {
    const origin = new URL(gateway.baseUrl).origin
    expect(await refusal(fetch(`${origin}/nope`))).toMatchObject({ status: 404, code: 'not_found' })
    for (const [path, meant] of [
      ['/chat/completions', '/v1/chat/completions'],
      ['/v1/v1/chat/completions', '/v1/chat/completions'],
      ['/messages', '/v1/messages'],
      ['/v1/v1/messages', '/v1/messages'],
      ['/models/x:generateContent', '/v1beta/models/x:generateContent'],
      ['/v1/v1beta/models/x:generateContent', '/v1beta/models/x:generateContent'],
    ]) {
      const answer = await fetch(`${origin}${path}`, { method: 'POST', body: '{}' })
      const { error } = (await answer.json()) as { error: { message: string } }
      const hint = `There is POST ${meant}: check the base URL of your client.`
      expect([answer.status, error.message]).toEqual([404, `There is no POST ${path}. ${hint}`])
    }
    const nowhere = await refusal(fetch(`${origin}/v1/nope`, { method: 'POST', body: '{}' }))
    expect(nowhere).toMatchObject({ status: 404, message: 'There is no POST /v1/nope.' })
    const wrong = await fetch(`${gateway.baseUrl}/chat/completions`)
    expect(wrong.headers.get('allow')).toBe('POST')
    expect(await refusal(wrong)).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(await refusal(fetch(`${gateway.baseUrl}/models`, { method: 'DELETE' }))).toMatchObject({ status: 405 })
  })

  test('keys: missing, malformed, unknown, in the wrong scheme', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer sk-tg-x',
      `Basic ${gateway.key}`,
      `Bearer ${gateway.key.toLowerCase()}`,
      'Bearer sk-tg-' + 'A'.repeat(49),
    ]) {
      const error = await refusal(post('{}', { authorization }))
      expect(error).toMatchObject({ status: 401, type: 'invalid_request_error', code: 'invalid_api_key' })
    }
  })

  test('bodies: media type, encoding, syntax, UTF-8, depth, size', async () => {
    expect(await refusal(post('{}', { 'content-type': 'text/plain' }))).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    })
    expect(await refusal(post('{}', { 'content-encoding': 'gzip' }))).toMatchObject({ status: 415 })
    expect(await refusal(post(''))).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await refusal(post('{"model":'))).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await refusal(post(Uint8Array.of(0x22, 0xff, 0x22)))).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await refusal(post('[1]'))).toMatchObject({ status: 400, code: 'invalid_type' })
    expect(await refusal(post('['.repeat(100) + ']'.repeat(100)))).toMatchObject({ status: 400, code: 'invalid_value' })
    expect(await refusal(post(`"${'x'.repeat(100_001)}"`))).toMatchObject({ status: 413, code: 'request_too_large' })
    const chunked = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(50_000).fill(0x20))
      },
    })
    expect(await refusal(post(chunked))).toMatchObject({ status: 413, code: 'request_too_large' })
  })

  const message = { role: 'user', content: 'x' }
  const cases: [string, object, string, string][] = [
    ['model missing', { model: undefined }, 'missing_required_parameter', 'model'],
    ['model null', { model: null }, 'invalid_type', 'model'],
    ['model a number', { model: 5 }, 'invalid_type', 'model'],
    ['messages missing', { messages: undefined }, 'missing_required_parameter', 'messages'],
    ['messages a text', { messages: 'x' }, 'invalid_type', 'messages'],
    ['messages empty', { messages: [] }, 'invalid_value', 'messages'],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'invalid_value', 'messages[0].role'],
    ['a role that is a number', { messages: [{ role: 1, content: 'x' }] }, 'invalid_type', 'messages[0].role'],
    ['no content', { messages: [message, { role: 'user' }] }, 'missing_required_parameter', 'messages[1].content'],
    ['content a number', { messages: [{ role: 'user', content: 1 }] }, 'invalid_type', 'messages[0].content'],
    [
      'a tool message without id',
      { messages: [{ role: 'tool', content: 'x' }] },
      'missing_required_parameter',
      'messages[0].tool_call_id',
    ],
    ['max_tokens 0', { max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    ['max_tokens a fraction', { max_tokens: 1.5 }, 'invalid_type', 'max_tokens'],
    ['temperature 2.1', { temperature: 2.1 }, 'invalid_value', 'temperature'],
    ['temperature a text', { temperature: '1' }, 'invalid_type', 'temperature'],
    ['top_p -1', { top_p: -1 }, 'invalid_value', 'top_p'],
    ['stream a text', { stream: 'true' }, 'invalid_type', 'stream'],
    ['stop a number', { stop: 1 }, 'invalid_type', 'stop'],
    ['stop of numbers', { stop: [1] }, 'invalid_type', 'stop[0]'],
    ['tools an object', { tools: {} }, 'invalid_type', 'tools'],
    [
      'a function without name',
      { tools: [{ type: 'function', function: {} }] },
      'missing_required_parameter',
      'tools[0].function.name',
    ],
    [
      'a function with an empty name',
      { tools: [{ type: 'function', function: { name: '' } }] },
      'invalid_value',
      'tools[0].function.name',
    ],
    ['tool_choice unknown', { tool_choice: 'maybe' }, 'invalid_value', 'tool_choice'],
    ['tool_choice a number', { tool_choice: 1 }, 'invalid_type', 'tool_choice'],
    ['n 0', { n: 0 }, 'invalid_value', 'n'],
  ]
  for (const [name, fields, code, param] of cases) {
    test(`a body with ${name}`, async () => {
      const error = await refusal(chat(gateway, { model: 'org/model-x', messages: [message], ...fields }))
      expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code, param })
    })
  }

  test('null counts as absent', async () => {
    const response = await chat(gateway, {
      model: 'org/model-x',
      temperature: null,
      stop: null,
      tools: null,
      max_tokens: null,
      stream: null,
      n: null,
    })
    expect(response.status).toBe(200)
  })
})

describe('models', () => {
  const get = (path: string, key = gateway.key): Promise<Response> =>
    fetch(`${gateway.baseUrl}/models${path}`, { headers: { authorization: `Bearer ${key}` } })

  test('the list names what this key may use', async () => {
    const { data } = (await (await get('')).json()) as {
      data: { id: string; object: string; created: number; owned_by: string }[]
    }
    expect(data.find(({ id }) => id === 'org/model-x')).toMatchObject({
      endpoints: ['chat.completions', 'responses', 'messages', 'gemini'],
    })
    for (const model of data)
      expect(model).toMatchObject({ object: 'model', created: expect.any(Number), owned_by: expect.any(String) })
    const limited = await member({ balance: '1', models: ['slow', 'org/model-x'], keyModels: ['slow', 'cut'] })
    const { data: few } = (await (await get('', limited.key)).json()) as { data: { id: string }[] }
    expect(few.map(({ id }) => id)).toEqual(['slow'])
    expect(await refusal(get('/cut', limited.key))).toMatchObject({
      status: 403,
      code: 'model_not_allowed',
      param: 'model',
    })
    expect(await refusal(chat(limited, { model: 'cut' }))).toMatchObject({ status: 403, code: 'model_not_allowed' })
  })

  test('an id with a slash is found encoded and raw', async () => {
    for (const path of ['/org/model-x', '/org%2Fmodel-x'])
      expect(await (await get(path)).json()).toMatchObject({ id: 'org/model-x' })
    expect(await refusal(get('/org/none'))).toMatchObject({ status: 404, code: 'model_not_found' })
    expect(await refusal(chat(gateway, { model: 'none' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    })
    expect(await refusal(get('', 'sk-tg-x'))).toMatchObject({ status: 401 })
  })
})

describe('what is charged', () => {
  test('a reply is charged by its usage, and says so in its headers', async () => {
    const mine = await member({ balance: '1' })
    const response = await chat(mine, { model: 'org/model-x', max_tokens: 30 })
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } }
    const nano = BigInt(usage.prompt_tokens) * 1000n + BigInt(usage.completion_tokens) * 2000n
    expect(await recordOf(mine.account)).toMatchObject({
      charged: nano.toString(),
      usage_source: 'reported',
      outcome: 'completed',
    })
    expect(Number(response.headers.get('x-tollgate-cost-usd')) * 1e9).toBeCloseTo(Number(nano))
    const { posted_nano_usd: posted } = await gateway.operate<Record<string, string>>('account.show', {
      account: mine.account,
    })
    expect(posted).toBe((1_000_000_000n - nano).toString())
  })

  test('usage that does not add up is put right, usage that is missing is counted and marked', async () => {
    const wrong = (await (await chat(gateway, { model: 'wrong-usage' })).json()) as { usage: Record<string, number> }
    expect(wrong.usage['total_tokens']).toBe(
      (wrong.usage['prompt_tokens'] ?? 0) + (wrong.usage['completion_tokens'] ?? 0),
    )
    const response = await chat(gateway, { model: 'no-usage' })
    expect(response.headers.get('x-tollgate-usage')).toBe('estimated')
    expect(await response.json()).toMatchObject({
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    })
    const stream = await (
      await chat(gateway, { model: 'no-usage', stream: true, stream_options: { include_usage: true } })
    ).text()
    expect(stream).toContain('"choices":[],"usage":{"prompt_tokens":')
  })

  test('the usage chunk goes only to those who asked', async () => {
    expect(await (await chat(gateway, { model: 'org/model-x', stream: true })).text()).not.toContain('usage')
    const asked = await (
      await chat(gateway, { model: 'org/model-x', stream: true, stream_options: { include_usage: true } })
    ).text()
    expect(asked.match(/"choices":\[\]/g)).toHaveLength(1)
  })

  test('a balance of zero is a 401 that names it; so is one that does not cover the request', async () => {
    const broke = await member()
    const response = await chat(broke, { model: 'org/model-x' })
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await refusal(response)).toMatchObject({ status: 401, type: 'billing_error', code: 'insufficient_balance' })
    const poor = await member({ balance: '0.001' })
    const error = await refusal(chat(poor, { model: 'org/model-x', max_tokens: 100_000 }))
    expect(error.message).toMatch(
      /available \$0\.001, held \$0\.00, needed \$0\.2\d+\. A max_tokens of \d+ would fit\./,
    )
    const fitting = Number(/max_tokens of (\d+)/.exec(error.message)?.[1])
    expect((await chat(poor, { model: 'org/model-x', max_tokens: fitting })).status).toBe(200)
  })

  test('without a limit of its own a request gets what the balance affords, with one no more than the model gives', async () => {
    const poor = await member({ balance: '0.002' })
    const response = await chat(poor, {
      model: 'org/model-x',
      messages: [{ role: 'user', content: 'write 9000 tokens' }],
    })
    expect(response.headers.get('x-tollgate-max-output-tokens')).toMatch(/^\d{3}$/)
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'length' }] })
    const capped = await chat(gateway, {
      model: 'capped',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'write 500 tokens' }],
    })
    expect(capped.headers.get('x-tollgate-max-output-tokens')).toBe('50')
    expect(await capped.json()).toMatchObject({
      usage: { completion_tokens: 50 },
      choices: [{ finish_reason: 'length' }],
    })
  })
})

describe('streams that end early', () => {
  test('a stream the upstream cuts ends with an error in the band and no terminator; what arrived is charged', async () => {
    const mine = await member({ balance: '1' })
    const text = await (await chat(mine, { model: 'cut', stream: true })).text()
    expect(text).not.toContain('[DONE]')
    expect(text.trimEnd().split('\n').at(-1)).toContain('"code":"upstream_error"')
    const record = await recordOf(mine.account)
    expect(record).toMatchObject({ outcome: 'cut', usage_source: 'estimated' })
    // Nor is it one that its vendor did well.
    expect(JSON.parse(record.attempts)).toMatchObject([{ result: 'network', message: expect.any(String) as never }])
    expect(BigInt(record.charged)).toBeGreaterThan(0n)
  })

  test('a stream that ends without a terminator but finished is complete', async () => {
    const text = await (await chat(gateway, { model: 'no-done', stream: true })).text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('a client that hangs up stops the upstream and pays for what arrived', async () => {
    const mine = await member({ balance: '1' })
    const controller = new AbortController()
    const response = await chat(
      mine,
      { model: 'slow', stream: true, messages: [{ role: 'user', content: 'write 400 tokens' }] },
      { signal: controller.signal },
    )
    const reader = response.body?.getReader()
    for (let i = 0; i < 5; i++) await reader?.read()
    controller.abort()
    const record = await recordOf(mine.account)
    expect(record).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated' })
    expect(Number(record.output_text)).toBeLessThan(100)
    expect(BigInt(record.charged)).toBeGreaterThan(0n)
  })

  test('a vendor that bills on regardless is read to the end, and its own figure is paid', async () => {
    const mine = await member({ balance: '1' })
    const controller = new AbortController()
    const body = { model: 'drained', stream: true, messages: [{ role: 'user', content: 'write 100 tokens' }] }
    const response = await chat(mine, body, { signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    const record = await recordOf(mine.account)
    expect(record).toMatchObject({ outcome: 'client_closed', usage_source: 'reported', output_text: '100' })
  })

  test('a client that hangs up before the first byte pays the input', async () => {
    for (const stream of [true, false]) {
      const mine = await member({ balance: '1' })
      const controller = new AbortController()
      const pending = chat(mine, { model: 'late', stream }, { signal: controller.signal })
      // By then the vendor has been asked, also where a hold waits for the database.
      setTimeout(() => controller.abort(), 300)
      await pending.then((response) => response.text()).catch(() => undefined)
      const { outcome, attempts, charged } = await recordOf(mine.account)
      expect(outcome).toBe('client_closed')
      expect(BigInt(charged)).toBeGreaterThan(0n)
      // Not a fault of the vendor, whose rate of failures people are woken for.
      expect(attempts).toContain('"result":"aborted"')
    }
  })

  test('revoking a key cuts its running stream within a second and refuses the next call', async () => {
    const mine = await member({ balance: '1' })
    const response = await chat(mine, {
      model: 'slow',
      stream: true,
      messages: [{ role: 'user', content: 'write 1000 tokens' }],
    })
    const reader = response.body?.getReader()
    await reader?.read()
    await gateway.operate('key.revoke', { key: mine.keyId })
    const startedMs = performance.now()
    expect(await refusal(chat(mine, { model: 'slow' }))).toMatchObject({ status: 401, code: 'invalid_api_key' })
    let rest = ''
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      rest += new TextDecoder().decode(next.value)
    expect(performance.now() - startedMs).toBeLessThan(1_000)
    expect(rest).toContain('"code":"invalid_api_key"')
    expect(rest).not.toContain('[DONE]')
    expect((await recordOf(mine.account)).outcome).toBe('barred')
  })

  test.each([
    ['key.revoke', 401, 'invalid_api_key'],
    ['account.suspend', 403, 'account_suspended'],
  ] as const)(
    '%s cuts a whole call, which is recorded as what its client was told',
    async (operation, status, code) => {
      const mine = await member({ balance: '1' })
      const pending = refusal(chat(mine, { model: 'late' }))
      await Bun.sleep(60)
      await gateway.operate(operation, operation === 'key.revoke' ? { key: mine.keyId } : { account: mine.account })
      expect(await pending).toMatchObject({ status, code })
      const record = await recordOf(mine.account)
      expect(record).toMatchObject({ outcome: 'barred', status: String(status), error_code: code })
      expect(Number(record.charged)).toBeGreaterThan(0)
    },
  )

  test('a suspended account is refused, and served again once resumed', async () => {
    const mine = await member({ balance: '1' })
    await gateway.operate('account.suspend', { account: mine.account })
    expect(await refusal(chat(mine, { model: 'slow' }))).toMatchObject({ status: 403, code: 'account_suspended' })
    await gateway.operate('account.resume', { account: mine.account })
    expect((await chat(mine, { model: 'org/model-x' })).status).toBe(200)
  })
})
