/** Traces and metrics for an OpenTelemetry collector: what is sent, what is not, and a collector that is gone. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataEvent } from '../../src/lib/http/sse.ts'
import { freePort } from '../support/free-port.ts'
import { chat, startGateway } from '../support/gateway.ts'
import { readAttributes, type OtlpSpan } from '../support/otlp-check.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { useGateway } from '../support/use-gateway.ts'

const CLIENT_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CLIENT_SPAN = '00f067aa0ba902b7'
const PROMPT = 'xylophone-prompt'
const OUTPUT = 'zeppelin-output'
const VENDOR_MESSAGE = 'quixotic-message'

type VendorCall = { readonly model: string; readonly traceparent: string | null; readonly tracestate: string | null }
const calls: VendorCall[] = []
const lastOf = (model: string): VendorCall | undefined => calls.findLast((one) => one.model === model)

const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 2 },
}
const chunk = (delta: object, more: object = {}): string =>
  dataEvent(
    JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up',
      choices: [{ index: 0, delta, finish_reason: null }],
      ...more,
    }),
  )

function answerOf(body: { model: string; stream?: boolean }): Response {
  if (body.model === 'up-broken') return Response.json({ error: { message: VENDOR_MESSAGE } }, { status: 500 })
  if (body.stream) {
    const events = [chunk({ content: OUTPUT }), chunk({}, { choices: [], usage }), dataEvent('[DONE]')]
    return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
  }
  const message = { role: 'assistant', content: OUTPUT }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'up', choices, usage }
  return Response.json(answer, { headers: { 'x-request-id': 'vendor-request-1' } })
}

const vendor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = (await request.json()) as { model: string; stream?: boolean }
    const { headers } = request
    calls.push({ model: body.model, traceparent: headers.get('traceparent'), tracestate: headers.get('tracestate') })
    return answerOf(body)
  },
})

const yaml = `
sandbox: false
providers:
  steady: { preset: custom, base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
  broken: { preset: mistral, base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: k }
models:
  plain:
    price: { input: 1, output: 2 }
    offers: [{ provider: steady, model: up-plain }]
  second:
    price: { input: 1, output: 2 }
    offers:
      - { provider: broken, model: up-broken, priority: 0 }
      - { provider: steady, model: up-second, priority: 1 }
  dead:
    price: { input: 1, output: 2 }
    offers: [{ provider: broken, model: up-broken }]
`

const receiver = startOtlpReceiver()
const env = {
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b',
  OTEL_SERVICE_NAME: 'gate',
  OTEL_RESOURCE_ATTRIBUTES: 'service.version=9,service.instance.id=one',
  OTEL_BSP_SCHEDULE_DELAY: '20',
  OTEL_METRIC_EXPORT_INTERVAL: '100',
  OTEL_EXPORTER_OTLP_CERTIFICATE: '/none',
}

afterAll(async () => {
  await vendor.stop(true)
  await receiver.stop()
})

const messages = [{ role: 'user', content: PROMPT }]

/** The spans of the trace of a client's request, once they are there: that of the request and those of its attempts. */
async function traced(traceId: string, count: number): Promise<readonly OtlpSpan[]> {
  const found = (): OtlpSpan[] => receiver.spans.filter((span) => span.traceId === traceId)
  await receiver.until(() => found().length >= count)
  return found()
}

/** A new trace of a client. */
const newTrace = (): string => crypto.randomUUID().replaceAll('-', '')

type SpanView = { name: string; kind: number; attributes: Record<string, unknown>; isError: boolean }
const viewOf = ({ name, kind, attributes, status }: OtlpSpan): SpanView => ({
  name,
  kind,
  attributes: readAttributes(attributes),
  isError: status !== undefined,
})

describe('a gateway with a collector', () => {
  const gateway = useGateway({ yaml, env })

  const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    chat(
      gateway,
      { messages, ...body },
      { headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers } },
    )

  test('goes on with the trace of the client, and passes it on with the span of the attempt', async () => {
    const response = await ask(
      { model: 'plain' },
      { traceparent: `00-${CLIENT_TRACE}-${CLIENT_SPAN}-01`, tracestate: 'rojo=1, congo=2' },
    )
    const [server, attempt, ...others] = await traced(CLIENT_TRACE, 2)
    expect(others).toEqual([])
    expect(server).toMatchObject({ parentSpanId: CLIENT_SPAN, flags: 0x301, traceState: 'rojo=1,congo=2' })
    expect(attempt).toMatchObject({ parentSpanId: server?.spanId, flags: 0x101 })
    expect(lastOf('up-plain')).toEqual({
      model: 'up-plain',
      traceparent: `00-${CLIENT_TRACE}-${attempt?.spanId}-01`,
      tracestate: 'rojo=1,congo=2',
    })
    const id = response.headers.get('x-request-id')
    expect(viewOf(server as OtlpSpan)).toEqual({
      name: 'POST /v1/chat/completions',
      kind: 2,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'http.route': '/v1/chat/completions',
        'url.path': '/v1/chat/completions',
        'url.scheme': 'http',
        'tollgate.account.id': gateway.accountId,
        'tollgate.charged_nano_usd': 25_000,
        'tollgate.model': 'plain',
        'tollgate.outcome': 'completed',
        'tollgate.request.id': id,
        'tollgate.upstream_cost_nano_usd': 25_000,
      },
      isError: false,
    })
    expect(viewOf(attempt as OtlpSpan)).toEqual({
      name: 'chat up-plain',
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'custom',
        'gen_ai.request.model': 'up-plain',
        'gen_ai.usage.cache_read.input_tokens': 3,
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
        'gen_ai.usage.reasoning.output_tokens': 2,
        'server.address': '127.0.0.1',
        'server.port': vendor.port,
        'tollgate.provider.id': 'steady',
        'tollgate.upstream.request_id': 'vendor-request-1',
      },
      isError: false,
    })
  })

  test('makes a span of each attempt, with its error', async () => {
    const trace = newTrace()
    await ask({ model: 'second' }, { traceparent: `00-${trace}-${CLIENT_SPAN}-01` })
    const [server, failed, served] = (await traced(trace, 3)).map(viewOf)
    expect(server?.isError).toBe(false)
    expect(failed).toMatchObject({ name: 'chat up-broken', isError: true })
    expect(failed?.attributes).toMatchObject({
      'error.type': 'server',
      'gen_ai.provider.name': 'mistral_ai',
      'http.response.status_code': 500,
    })
    expect(served).toMatchObject({ name: 'chat up-second', isError: false })
    const sent = ['up-broken', 'up-second'].map((model) => lastOf(model)?.traceparent?.split('-')[2])
    expect(receiver.spans.filter(({ traceId }) => traceId === trace).map(({ spanId }) => spanId)).toEqual([
      expect.any(String),
      ...(sent as string[]),
    ])
  })

  test('a stream ends with its last byte, and has the time to its first event', async () => {
    const trace = newTrace()
    const response = await ask({ model: 'plain', stream: true }, { traceparent: `00-${trace}-${CLIENT_SPAN}-01` })
    expect(await response.text()).toContain(OUTPUT)
    const [, attempt] = (await traced(trace, 2)).map(viewOf)
    expect(attempt?.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.output_tokens': 7,
    })
  })

  test('a request that no vendor served is an error', async () => {
    const trace = newTrace()
    const response = await ask({ model: 'dead' }, { traceparent: `00-${trace}-${CLIENT_SPAN}-01` })
    expect(response.status).toBe(502)
    const spans = (await traced(trace, 2)).map(viewOf)
    const code = ((await response.json()) as { error: { code: string } }).error.code
    expect(spans[0]).toMatchObject({ isError: true, attributes: { 'error.type': code, 'tollgate.outcome': 'failed' } })
    // One span for the request, although it was both recorded and refused.
    expect(spans.filter(({ kind }) => kind === 2)).toHaveLength(1)
  })

  test('refused requests have a span without an error of the server, and without their own words', async () => {
    const [wrongModel, wrongKey, noRoute] = [newTrace(), newTrace(), newTrace()]
    const from = (trace: string): { traceparent: string } => ({ traceparent: `00-${trace}-${CLIENT_SPAN}-01` })
    await ask({ model: PROMPT }, from(wrongModel))
    await ask({ model: 'plain' }, { ...from(wrongKey), authorization: 'Bearer sk-none' })
    await fetch(new URL(`/v1/none/sk-${PROMPT}`, gateway.baseUrl), { method: 'PUT', headers: from(noRoute) })
    const [model] = (await traced(wrongModel, 1)).map(viewOf)
    expect(model).toMatchObject({ name: 'POST /v1/chat/completions', kind: 2, isError: false })
    expect(model?.attributes).toMatchObject({
      'http.response.status_code': 404,
      'tollgate.account.id': gateway.accountId,
      'tollgate.error.code': 'model_not_found',
    })
    const [key] = (await traced(wrongKey, 1)).map(viewOf)
    expect(key?.attributes).toMatchObject({
      'http.response.status_code': 401,
      'tollgate.error.code': 'invalid_api_key',
    })
    expect(key?.attributes).not.toHaveProperty(['tollgate.account.id'])
    const [route] = (await traced(noRoute, 1)).map(viewOf)
    expect(route).toMatchObject({ name: 'PUT', attributes: { 'url.path': 'other' } })
    expect(route?.attributes).not.toHaveProperty(['http.route'])
  })

  test('a malformed trace begins a new one, and one that the client does not record is passed on as such', async () => {
    const trace = newTrace()
    await ask({ model: 'plain' }, { traceparent: `00-${trace}-${CLIENT_SPAN}-00` })
    expect(lastOf('up-plain')?.traceparent).toMatch(new RegExp(`^00-${trace}-[\\da-f]{16}-00$`))
    await ask({ model: 'plain' }, { traceparent: 'garbage', tracestate: 'a=1' })
    const { traceparent, tracestate } = lastOf('up-plain') ?? {}
    const [, begun = ''] = traceparent?.split('-') ?? []
    expect(traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)
    expect(tracestate).toBeNull()
    expect((await traced(begun, 2))[0]?.parentSpanId).toBeUndefined()
    expect(receiver.spans.some(({ traceId }) => traceId === trace)).toBe(false)
  })

  test('metrics are those of the conventions, of attempts and of requests', async () => {
    const names = [
      'gen_ai.client.operation.duration',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.client.token.usage',
      'gen_ai.server.request.duration',
      'gen_ai.server.time_to_first_token',
    ]
    await receiver.until(() => names.every((name) => receiver.metrics.has(name)))
    const pointsOf = (name: string) => receiver.metrics.get(name)?.histogram.dataPoints ?? []
    const broken = pointsOf('gen_ai.client.operation.duration')
      .map(({ attributes }) => readAttributes(attributes))
      .filter((attributes) => attributes['gen_ai.request.model'] === 'up-broken')
    expect(broken).toMatchObject([{ 'error.type': 'server', 'gen_ai.provider.name': 'mistral_ai' }])
    const output = pointsOf('gen_ai.client.token.usage').find(
      ({ attributes }) => readAttributes(attributes)['gen_ai.token.type'] === 'output',
    )
    expect(output?.sum).toBe(7 * Number(output?.count))
    const served = pointsOf('gen_ai.server.request.duration').map(({ attributes }) => readAttributes(attributes))
    expect(served.map((attributes) => attributes['gen_ai.request.model'])).toContain('second')
  })

  test('the process is named as the operator says', () => {
    expect(receiver.resource).toMatchObject({
      'service.name': 'gate',
      'service.version': '9',
      'service.instance.id': 'one',
    })
    expect(receiver.headers.every((headers) => headers.get('x-team') === 'a b')).toBe(true)
    expect(gateway.output()).toContain('"variables":["OTEL_EXPORTER_OTLP_CERTIFICATE"]')
  })

  test('OpenMetrics has exemplars, and the older format has none', async () => {
    const address = new URL('/metrics', gateway.baseUrl)
    const authorization = 'Bearer token-of-the-tests'
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3'
    const open = await fetch(address, { headers: { authorization, accept } })
    expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    const text = await open.text()
    expect(text.endsWith('\n# EOF\n')).toBe(true)
    expect(text).not.toContain('\n\n')
    const [, traceId = ''] =
      /^tollgate_request_seconds_bucket\{le="[\d.]+",model="second"\} \d+ # \{trace_id="([\da-f]{32})",span_id="[\da-f]{16}"\} [\d.e-]+ \d+\.\d{3}$/m.exec(
        text,
      ) ?? []
    expect(receiver.spans.some((span) => span.traceId === traceId)).toBe(true)
    expect(await gateway.metrics()).not.toContain('trace_id')
  })

  test('a collector that is busy gets the spans again, and what it refuses is counted', async () => {
    receiver.answer = { status: 503, headers: { 'retry-after': '0' } }
    const before = receiver.headers.length
    const [first, second] = [newTrace(), newTrace()]
    await ask({ model: 'plain' }, { traceparent: `00-${first}-${CLIENT_SPAN}-01` })
    await receiver.until(() => receiver.headers.length > before + 1)
    receiver.answer = undefined
    expect(await traced(first, 2)).toHaveLength(2)
    receiver.answer = { status: 400 }
    await ask({ model: 'plain' }, { traceparent: `00-${second}-${CLIENT_SPAN}-01` })
    while (!(await gateway.metrics()).includes('\ntollgate_spans_dropped_total 2\n')) await Bun.sleep(20)
    receiver.answer = { status: 200, body: { partialSuccess: { rejectedSpans: '1', errorMessage: 'no' } } }
    await ask({ model: 'plain' }, { traceparent: `00-${second}-${CLIENT_SPAN}-01` })
    while (!(await gateway.metrics()).includes('\ntollgate_spans_dropped_total 3\n')) await Bun.sleep(20)
    receiver.answer = undefined
    expect(gateway.output()).toContain('"telemetry.failing"')
  })

  test('nothing was malformed, and no prompt, output, message or key was sent', () => {
    expect(receiver.faults).toEqual([])
    expect(receiver.bodies.length).toBeGreaterThan(5)
    const all = receiver.bodies.join('\n')
    for (const secret of [PROMPT, OUTPUT, VENDOR_MESSAGE, gateway.key]) expect(all).not.toContain(secret)
  })
})

test('without a collector, the trace of a client goes no further', async () => {
  const gateway = await startGateway({ yaml })
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'content-type': 'application/json',
    traceparent: `00-${CLIENT_TRACE}-${CLIENT_SPAN}-01`,
    tracestate: 'a=1',
  }
  await chat(gateway, { model: 'plain' }, { headers })
  expect(lastOf('up-plain')).toEqual({ model: 'up-plain', traceparent: null, tracestate: null })
  expect(await gateway.metrics()).not.toContain('tollgate_spans')
  await gateway.close()
})

test('what is left is sent at the end, and a silent collector delays it by seconds at most', async () => {
  const late = await startGateway({ yaml, env: { ...env, OTEL_BSP_SCHEDULE_DELAY: '60000' } })
  const trace = newTrace()
  const traceparent = `00-${trace}-${CLIENT_SPAN}-01`
  const headers = { authorization: `Bearer ${late.key}`, 'content-type': 'application/json', traceparent }
  await chat(late, { model: 'plain' }, { headers })
  await late.close()
  expect(await traced(trace, 2)).toHaveLength(2)

  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const stuck = await startGateway({
    yaml,
    env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${silent.port}`, OTEL_BSP_SCHEDULE_DELAY: '10' },
  })
  const response = await chat(stuck, { model: 'plain' })
  expect(response.status).toBe(200)
  const startedMs = performance.now()
  await stuck.close()
  // The bound is two seconds. The time of an export is ten.
  expect(performance.now() - startedMs).toBeLessThan(8_000)
  silent.stop(true)
}, 30_000)

/** The collector of OpenTelemetry, where there is one: it is not a package of npm. It needs `otlp` and `debug`. */
const collector = process.env['TOLLGATE_TEST_COLLECTOR'] ?? Bun.which('otelcol') ?? undefined
if (collector === undefined) {
  console.warn('There is no OpenTelemetry collector here. Put otelcol in PATH or TOLLGATE_TEST_COLLECTOR.')
}

test.skipIf(collector === undefined)(
  'the collector of OpenTelemetry takes what is sent',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-otelcol-'))
    const port = freePort()
    const pipeline = '{ receivers: [otlp], exporters: [debug] }'
    writeFileSync(
      join(folder, 'otelcol.yaml'),
      `
receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:${port}' } } } }
exporters: { debug: { verbosity: detailed } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: ${pipeline}, metrics: ${pipeline} }
`,
    )
    const command = [collector as string, '--config', join(folder, 'otelcol.yaml')]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
    let said = ''
    const reading = (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text
    })()
    while (!said.includes('Everything is ready')) {
      if (child.exitCode !== null) throw new Error(said)
      await Bun.sleep(50)
    }
    const gateway = await startGateway({
      yaml,
      env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    })
    for (const body of [{ model: 'second' }, { model: 'plain', stream: true }, { model: 'dead' }]) {
      await (await chat(gateway, body)).text()
    }
    // The vendor that fails may be asked once more.
    while (!/\ntollgate_spans_sent_total [78]\n/.test(await gateway.metrics())) await Bun.sleep(50)
    const errors = gateway.output().match(/"telemetry\.(?:failing|refused)"/g)
    await gateway.close()
    while (!said.includes('gen_ai.server.request.duration')) await Bun.sleep(50)
    child.kill('SIGTERM')
    await child.exited
    await reading
    rmSync(folder, { recursive: true })
    expect(errors).toBeNull()
    for (const name of ['POST /v1/chat/completions', 'chat up-second', 'gen_ai.client.token.usage']) {
      expect(said).toContain(name)
    }
  },
  60_000,
)
