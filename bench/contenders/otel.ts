/** Tollgate that sends every trace and its metrics to a collector, which takes them and is not counted. */
import type { Contender } from '../contender.ts'
import { ROOT, tollgate } from './tollgate.ts'

export function otel(bunArgs: readonly string[]): Contender {
  const gateway = tollgate({ name: 'otel', root: ROOT, bunArgs })
  // A collector that stopped taking spans would make the gateway cheaper.
  let taken = 0
  const collector = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      taken += (await request.text()).split('"parentSpanId"').length - 1
      return Response.json({})
    },
  })
  collector.unref()
  return {
    ...gateway,
    env: (field) => ({
      ...gateway.env?.(field),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      // Under full load a collector on the same cores is slow at times.
      OTEL_BSP_MAX_QUEUE_SIZE: '8192',
    }),
    async inspect(field, requests) {
      const found = (await gateway.inspect?.(field, requests)) ?? []
      // The last spans may still be waiting.
      return requests - taken > Math.max(2_000, requests / 50)
        ? [...found, `the collector has ${taken} of ${requests} traces`]
        : found
    },
  }
}
