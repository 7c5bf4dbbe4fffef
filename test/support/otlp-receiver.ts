/** A collector for tests: it takes exports of OTLP/HTTP, checks each, and keeps what they hold. */
import { checkMetrics, checkTraces, type OtlpMetric, type OtlpSpan } from './otlp-check.ts'

export type OtlpReceiver = {
  readonly url: string
  readonly spans: OtlpSpan[]
  /** The metrics of the newest export, by name. */
  readonly metrics: ReadonlyMap<string, OtlpMetric>
  /** The texts of all exports, to look for what must not be in them. */
  readonly bodies: string[]
  readonly headers: Headers[]
  /** The attributes of the process, of the newest export. */
  resource: Readonly<Record<string, unknown>>
  /** What was wrong with the exports. */
  readonly faults: string[]
  /** The answer to the next exports instead of 200. */
  answer: { readonly status: number; readonly body?: object; readonly headers?: Record<string, string> } | undefined
  /** Resolves once it holds. Fails after ten seconds. */
  until(holds: () => boolean): Promise<void>
  stop(): Promise<void>
}

const WAIT_MS = 10_000

export function startOtlpReceiver(): OtlpReceiver {
  const metrics = new Map<string, OtlpMetric>()
  let [arrived, tell] = [Promise.withResolvers<void>(), (): void => undefined]
  tell = () => {
    arrived.resolve()
    arrived = Promise.withResolvers<void>()
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      const { pathname } = new URL(request.url)
      receiver.headers.push(request.headers)
      const { answer } = receiver
      if (answer) {
        tell()
        return Response.json(answer.body ?? {}, { status: answer.status, headers: answer.headers ?? {} })
      }
      receiver.bodies.push(body)
      try {
        take(request.method, pathname, body)
      } catch (error) {
        receiver.faults.push(String(error))
      }
      tell()
      return Response.json({})
    },
  })

  function take(method: string, path: string, body: string): void {
    if (method !== 'POST') throw new Error(`${method} instead of POST`)
    if (receiver.headers.at(-1)?.get('content-type') !== 'application/json') throw new Error('another content type')
    if (path === '/v1/traces') {
      const { resource, content } = checkTraces(body)
      receiver.resource = resource
      receiver.spans.push(...content)
    } else if (path === '/v1/metrics') {
      const { resource, content } = checkMetrics(body)
      receiver.resource = resource
      for (const metric of content) metrics.set(metric.name, metric)
    } else throw new Error(`there is no ${path}`)
  }

  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${server.port}`,
    spans: [],
    metrics,
    bodies: [],
    headers: [],
    resource: {},
    faults: [],
    answer: undefined,
    async until(holds) {
      const endMs = performance.now() + WAIT_MS
      while (!holds()) {
        const leftMs = endMs - performance.now()
        if (leftMs <= 0) throw new Error(`it did not come: ${JSON.stringify(receiver.spans.map(({ name }) => name))}`)
        await Promise.race([arrived.promise, Bun.sleep(leftMs)])
      }
    },
    stop: () => server.stop(true),
  }
  return receiver
}
