/** Vendors that report false usage, break the format or leak: the client's answer, and the entries of the ledger. */
import { expect, test } from 'bun:test'
import { chat } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'

const SECRET = 'vendor-secret-4711'
const bodies: Record<string, unknown>[] = []

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`
const chunk = (delta: object | null, rest: object = {}, finish: string | null = null): string =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [delta && { index: 0, delta, finish_reason: finish }],
    ...rest,
  })
const usage = (prompt: number, completion: number, reasoning = 0): object => ({
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    completion_tokens_details: { reasoning_tokens: reasoning },
  },
})
const whole = (choices: unknown, rest: object = {}): Response =>
  Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'x', choices, ...rest })
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => chunk({ content: ` word${i}` }))

/** Sends the texts, 2 ms apart; a number is a longer pause, `null` breaks the connection. */
function stream(...parts: (string | number | null)[]): Response {
  const body = new ReadableStream({
    async start(controller) {
      for (const part of parts) {
        if (typeof part === 'number') await Bun.sleep(part)
        else if (part === null) return controller.error()
        else controller.enqueue(new TextEncoder().encode(part))
        await Bun.sleep(2)
      }
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const good = [{ index: 0, message: { role: 'assistant', content: 'one two three' }, finish_reason: 'stop' }]
const answers: Record<string, () => Response> = {
  'huge-usage': () => whole(good, usage(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  'implausible-usage': () => whole(good, usage(5, 900_000_000)),
  'more-than-asked': () => whole(good, usage(5, 15_000)),
  'null-choice': () => whole([null]),
  'null-delta': () => stream(chunk(null)),
  'null-late': () => stream(...words(5), chunk(null), ...words(5)),
  'null-call': () => stream(...words(5), chunk({ tool_calls: [null] }), chunk({}, {}, 'stop'), 'data: [DONE]\n\n'),
  'breaks-after-finish': () => stream(...words(3), chunk({}, {}, 'stop'), 30, null),
  'early-usage': () => stream(chunk({ content: 'a' }, usage(10, 0)), ...words(60), 5_000),
  'thinks-aloud': () =>
    stream(
      chunk({ reasoning_content: 'Let me think about this for a while.' }, usage(10, 12, 12)),
      chunk({ reasoning_content: ' Or for two.' }, usage(10, 20, 20)),
      chunk({ content: 'One' }, usage(10, 21, 20)),
      null,
    ),
  'late-reasoning': () =>
    stream(
      ...words(3),
      chunk({}, {}, 'stop'),
      300,
      event({ id: 'c', choices: [], ...usage(10, 5_000, 4_990) }),
      'data: [DONE]\n\n',
    ),
  leaky: () =>
    Response.json(
      { error: { message: `bad prompt for upstream-leaky at key ${SECRET}`, code: 'secret code!' } },
      { status: 400 },
    ),
  flood: () => stream(...Array.from({ length: 400 }, () => chunk({ content: 'x'.repeat(50_000) }))),
  endless: () => endless(chunk({ content: 'more and '.repeat(500) })),
  'endless-thoughts': () => endless(chunk({ reasoning_content: 'hm '.repeat(2_000) })),
  overlong: () => whole([{ index: 0, message: { role: 'assistant', content: 'more and '.repeat(5_000) } }]),
  'implausible-end': () =>
    stream(
      ...words(3),
      chunk({}, {}, 'stop'),
      event({ id: 'c', choices: [], ...usage(5, 900_000_000) }),
      'data: [DONE]\n\n',
    ),
  echo: () => whole(good, usage(5, 3)),
  'zero-usage': () => whole(good, usage(0, 0)),
  'zero-input': () => whole(good, usage(0, 2)),
  'zero-output': () => whole(good, usage(7, 0)),
  'zero-streamed': () => stream(...words(3), chunk({}, usage(0, 0), 'stop'), 'data: [DONE]\n\n'),
  'zero-broken': () => stream(chunk({ content: 'One' }, usage(0, 1)), ...words(2), null),
  'zero-thoughtful': () =>
    stream(
      ...Array.from({ length: 60 }, () => chunk({ reasoning_content: ' hm' })),
      ...words(60),
      chunk({}, usage(7, 0), 'stop'),
      'data: [DONE]\n\n',
    ),
  'zero-truly': () => whole([{ index: 0, message: { role: 'assistant', content: '' } }], usage(0, 0)),
}

/** A stream that goes on until nobody takes it any more. */
function endless(text: string): Response {
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream({
    type: 'direct',
    async pull(controller) {
      for (let sent = 0; sent < 100_000_000; sent += bytes.length) {
        if ((await controller.write(bytes)) < 0) return
        await controller.flush()
      }
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

let vendor: Bun.Server<unknown>

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch(request) {
        const body = (await request.json()) as { model: string }
        bodies.push(body)
        return (answers[body.model.replace('upstream-', '')] ?? (() => new Response('?', { status: 404 })))()
      },
    })
    const models = Object.keys(answers).map(
      (name) => `
  ${name}:
    price: { input: 1, output: 2 }
    offers:
      - { provider: liar, model: upstream-${name} }${name.startsWith('null-') && name !== 'null-late' && name !== 'null-call' ? '\n      - { provider: sandbox, model: sandbox-mini, priority: 1 }' : ''}`,
    )
    return {
      yaml: `providers:\n  liar: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: ${SECRET} }\nmodels:${models.join('')}\n`,
    }
  },
  () => vendor.stop(true),
)

type StoredRecord = Record<
  'outcome' | 'usage_source' | 'charged' | 'output_text' | 'output_reasoning' | 'input_fresh',
  string
>
let serial = 0

async function member(): Promise<{ account: string; keyId: string; key: string; baseUrl: string }> {
  const { id: account } = await gateway.operate<{ id: string }>('account.create', {
    name: `m${serial++}`,
    balance: '10',
  })
  const { id: keyId, secret } = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account,
    name: 'k',
  })
  return { account, keyId, key: secret, baseUrl: gateway.baseUrl }
}

async function recordOf(account: string): Promise<StoredRecord> {
  for (let tries = 0; tries < 400; tries++) {
    const [record] = await gateway.operate<StoredRecord[]>('request.list', { account, limit: 1 })
    if (record) return record
    await Bun.sleep(20)
  }
  throw new Error('no record')
}

for (const model of ['huge-usage', 'implausible-usage']) {
  test(`${model} is not believed: our own count is charged, and the gateway lives`, async () => {
    const me = await member()
    const response = await chat(me, { model, max_tokens: 50 })
    expect(response.headers.get('x-tollgate-usage')).toBe('estimated')
    await response.text()
    expect(Number((await recordOf(me.account)).charged)).toBeLessThan(100_000)
  })
}

test('a report beyond the hold that may be true is charged, and the operator is told', async () => {
  const me = await member()
  const response = await chat(me, { model: 'more-than-asked', max_tokens: 50 })
  await response.text()
  const [held, cost] = ['held', 'cost'].map((what) => Number(response.headers.get(`x-tollgate-${what}-usd`)))
  expect(cost).toBe(0.030005)
  expect(held).toBeLessThan(0.001)
  const line =
    gateway
      .output()
      .split('\n')
      .find((text) => text.includes('ledger.over_hold')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    request: response.headers.get('x-request-id'),
    account: me.account,
    heldNanoUsd: String(Math.round((held ?? 0) * 1e9)),
    chargedNanoUsd: '30005000',
  })
})

// Ollama leaves out the input it has in its cache (ollama#5370); others send zeros where they have not counted.
for (const [model, reported] of [
  ['zero-usage', {}],
  ['zero-input', { output_text: '2' }],
  ['zero-output', { input_fresh: '7' }],
  ['zero-streamed', {}],
  ['zero-broken', {}],
] as const) {
  test(`${model}: what is there and said to be nothing is counted by ourselves, what is said is kept`, async () => {
    const me = await member()
    const streamed = model === 'zero-streamed' || model === 'zero-broken'
    await (await chat(me, { model, stream: streamed, max_tokens: 50 })).text()
    const record = await recordOf(me.account)
    expect(record).toMatchObject({ usage_source: 'estimated', ...reported })
    expect(Number(record.input_fresh)).toBeGreaterThan(0)
    expect(Number(record.output_text)).toBeGreaterThan(0)
    expect(BigInt(record.charged)).toBe(BigInt(record.input_fresh) * 1_000n + BigInt(record.output_text) * 2_000n)
  })
}

test('what we count is never above what was held for, and is what its client is told last', async () => {
  for (const model of ['zero-thoughtful', 'zero-streamed']) {
    const me = await member()
    const body = { model, stream: true, stream_options: { include_usage: true }, max_tokens: 50 }
    const told = (await (await chat(me, body)).text()).match(/"(prompt|completion)_tokens":\d+/g)?.slice(-2)
    const record = await recordOf(me.account)
    expect(told).toEqual([`"prompt_tokens":${record.input_fresh}`, `"completion_tokens":${record.output_text}`])
    if (model === 'zero-thoughtful') expect(record).toMatchObject({ input_fresh: '7', output_text: '50' })
  }
})

test('an answer of nothing that is said to be nothing is believed', async () => {
  const me = await member()
  const answer = (await (await chat(me, { model: 'zero-truly' })).json()) as { usage: object }
  expect(answer.usage).toMatchObject({ prompt_tokens: 0, completion_tokens: 0 })
  expect(await recordOf(me.account)).toMatchObject({ usage_source: 'reported', charged: '0' })
})

test('a null where a choice should be fails over before the first word, whole and streamed', async () => {
  for (const [model, streamed] of [
    ['null-choice', false],
    ['null-delta', true],
  ] as const) {
    const me = await member()
    const response = await chat(me, { model, stream: streamed, max_tokens: 10 })
    expect(response.status).toBe(200)
    await response.text()
    expect(await recordOf(me.account)).toMatchObject({ outcome: 'completed' })
  }
})

test('a null in the middle is a cut, and what arrived is paid', async () => {
  const me = await member()
  const text = await (await chat(me, { model: 'null-late', stream: true })).text()
  expect(text).toContain('"code":"upstream_error"')
  expect(text).not.toContain('[DONE]')
  const record = await recordOf(me.account)
  expect(record.outcome).toBe('cut')
  expect(Number(record.output_text)).toBeGreaterThan(4)
  expect((await (await chat(me, { model: 'null-call', stream: true })).text()).endsWith('[DONE]\n\n')).toBe(true)
})

test('one limit goes upstream: the smaller, in the field the vendor knows', async () => {
  const me = await member()
  for (const limits of [
    { max_completion_tokens: 3, max_tokens: 90_000 },
    { max_completion_tokens: 3 },
    { max_tokens: 3 },
  ]) {
    await (await chat(me, { model: 'echo', ...limits })).text()
    expect(bodies.at(-1)).toMatchObject({ max_tokens: 3 })
    expect(bodies.at(-1)).not.toHaveProperty('max_completion_tokens')
  }
  for (const fields of [{ Max_Tokens: 9 }, { ſtream: true }, { service_tier: 'priority' }, { best_of: 9 }]) {
    expect((await chat(me, { model: 'echo', ...fields })).status).toBe(400)
  }
  // A fall-back model that is not there is refused before anything is sent.
  expect((await chat(me, { model: 'echo', models: ['dear'] })).status).toBe(404)
})

test('a stream that breaks after its finish is complete', async () => {
  const me = await member()
  const text = await (await chat(me, { model: 'breaks-after-finish', stream: true })).text()
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(await recordOf(me.account)).toMatchObject({ outcome: 'completed' })
})

/** Reads a stream until a text has come, then hangs up. */
async function readUntil(me: { key: string; baseUrl: string }, model: string, text: string): Promise<void> {
  const controller = new AbortController()
  const response = await chat(me, { model, stream: true }, { signal: controller.signal })
  let got = ''
  for await (const bytes of response.body ?? []) {
    got += new TextDecoder().decode(bytes as Uint8Array)
    if (got.includes(text)) break
  }
  controller.abort()
}

test('a running usage that lags behind is not what a hang-up pays', async () => {
  const me = await member()
  await readUntil(me, 'early-usage', 'word50')
  const record = await recordOf(me.account)
  expect(record).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated', input_fresh: '10' })
  expect(Number(record.output_text)).toBeGreaterThan(50)
})

test('reasoning that was reported is not paid again as text when the stream breaks', async () => {
  const me = await member()
  const text = await (await chat(me, { model: 'thinks-aloud', stream: true })).text()
  expect(text).toContain('"code":"upstream_error"')
  expect(await recordOf(me.account)).toMatchObject({ input_fresh: '10', output_text: '1', output_reasoning: '20' })
})

test('hidden reasoning is paid by a client that leaves at the finish', async () => {
  const me = await member()
  await readUntil(me, 'late-reasoning', '"finish_reason":"stop"')
  expect(await recordOf(me.account)).toMatchObject({ usage_source: 'reported', output_reasoning: '4990' })
})

test('a vendor’s words reach the client without its names and secrets, and the record not at all', async () => {
  const me = await member()
  const response = await chat(me, { model: 'leaky' })
  const { error } = (await response.json()) as { error: { message: string; code: string } }
  expect(error).toMatchObject({ message: 'bad prompt for leaky at key [redacted]', code: 'invalid_value' })
  expect(JSON.stringify(await recordOf(me.account))).not.toContain(SECRET)
  expect(gateway.output()).not.toContain(SECRET)
})

test('a reader that stalls does not keep a revoked key’s hold open', async () => {
  const me = await member()
  const response = await chat(me, { model: 'flood', stream: true, max_tokens: 200_000 })
  const reader = response.body?.getReader()
  await reader?.read()
  await Bun.sleep(300)
  await gateway.operate('key.revoke', { key: me.keyId })
  await Bun.sleep(1_500)
  expect((await recordOf(me.account)).outcome).toBe('barred')
  expect(await gateway.operate('ledger.verify')).toMatchObject({ open_holds: 0, clean: true })
  await reader?.cancel()
})

test.each(['endless', 'endless-thoughts'])(
  '%s: a vendor that knows no limit is cut, and no more than the limit is charged',
  async (model) => {
    const me = await member()
    const text = await (await chat(me, { model, stream: true, max_tokens: 20 })).text()
    expect(text).toContain('"code":"upstream_error"')
    expect(text.length).toBeLessThan(1_500_000)
    const record = await recordOf(me.account)
    expect(record).toMatchObject({ outcome: 'cut', usage_source: 'estimated', output_text: '20' })
  },
)

test('an answer over its limit is charged up to it, where the vendor does not say what it was', async () => {
  const me = await member()
  const response = await chat(me, { model: 'overlong', max_tokens: 20 })
  expect(await response.json()).toMatchObject({ usage: { completion_tokens: 20 } })
  expect(await recordOf(me.account)).toMatchObject({ outcome: 'completed', output_text: '20' })
})

test('a usage that is not believed is not shown either', async () => {
  const me = await member()
  const whole = (await (await chat(me, { model: 'implausible-usage', max_tokens: 50 })).json()) as {
    usage: { completion_tokens: number }
  }
  expect(whole.usage.completion_tokens).toBeLessThan(50)
  const text = await (
    await chat(me, { model: 'implausible-end', stream: true, stream_options: { include_usage: true } })
  ).text()
  expect(text).not.toContain('900000000')
  const { output_text: billed } = await recordOf(me.account)
  expect(text).toContain(`"completion_tokens":${billed}`)
})
