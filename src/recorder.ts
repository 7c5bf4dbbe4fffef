/** Passes on what happens in the gateway: to the metrics, the traces, the tally, the feed and the log. */
import type { CertificateWatch } from './certificate.ts'
import type { Config } from './config.ts'
import { Metrics, type ProviderReading } from './edge/metrics.ts'
import type { Gateway } from './gateway.ts'
import type { Server } from './inbound/server.ts'
import type { Log } from './lib/runtime/log.ts'
import { decoders } from './lib/runtime/picture.ts'
import type { RequestRecord } from './records/records.ts'
import { steadyNowMs } from './lib/primitives/steady-clock.ts'
import { logRecord } from './request-log.ts'
import { healthy } from './router/health.ts'
import type { RequestTrace } from './telemetry/request-trace.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Videos } from './video/videos.ts'

/** Opens the traces and metrics for a collector, if the operator has named one. */
export async function openTelemetry(
  { catalog }: Gateway,
  { telemetry: settings, tls }: Config,
  log: Log,
): Promise<Telemetry | undefined> {
  if (!settings) return undefined
  const module = await import('./telemetry/telemetry.ts')
  return new module.Telemetry(settings, { catalog, scheme: tls ? 'https' : 'http', log })
}

type MeteredParts = {
  readonly certificate: CertificateWatch | undefined
  readonly telemetry: Telemetry | undefined
  /** A function, because these exist only after the metrics are made. */
  readonly parts: () => { readonly videos: Videos; readonly server: Server }
}

export const metricsOf = (gateway: Gateway, { certificate, telemetry, parts }: MeteredParts): Metrics =>
  new Metrics({
    openHolds: () => gateway.ledger.openHolds(),
    writesQueued: () => gateway.store.queued(),
    liveCalls: () => gateway.live.size,
    answerCacheBytes: () => gateway.answers.bytes,
    videoTasks: () => parts().videos.size,
    connections: () => parts().server.connections,
    dismissed: () => parts().server.dropped.dismissed,
    turnedAway: () => parts().server.dropped.turnedAway,
    decoders,
    certificateEndMs: certificate && (() => certificate.endMs),
    providers: () => readProviders(gateway),
    spans: telemetry && (() => telemetry.counts),
  })

/** The providers with their offers, in one pass over the catalogue. */
function readProviders({ catalog, health }: Gateway): ProviderReading[] {
  const nowMs = steadyNowMs()
  const byId = new Map<string, { offers: number; resting: number }>()
  for (const { offers } of catalog.models()) {
    for (const { id, providerId } of offers) {
      let count = byId.get(providerId)
      if (!count) byId.set(providerId, (count = { offers: 0, resting: 0 }))
      count.offers++
      if ((health.all.get(id) ?? healthy).restUntilMs > nowMs) count.resting++
    }
  }
  return catalog.providers().map(({ id, state, keys = [] }) => {
    const restingKeys = keys.filter((key) => health.keys.standingOf(key).restUntilMs > nowMs).length
    return { id, isServing: state !== 'drained', restingKeys, ...(byId.get(id) ?? { offers: 0, resting: 0 }) }
  })
}

/** The end of a request: its record, and what the call knew besides. A task has no call. */
export type Recorder = (
  record: RequestRecord,
  call?: {
    readonly clientAddress: string
    readonly trace: RequestTrace | undefined
    readonly cacheUse: { readonly kind: string } | undefined
  },
) => void

type Recipients = { readonly metrics: Metrics; readonly telemetry: Telemetry | undefined; readonly log: Log }

export function recorder({ services: { tally, feed } }: Gateway, { metrics, telemetry, log }: Recipients): Recorder {
  return (record, call) => {
    const trace = call?.trace
    metrics.recorded(record, trace?.exemplar)
    if (call?.cacheUse) metrics.askedCache(record.model, call.cacheUse.kind)
    telemetry?.recorded(record, trace)
    tally.noted(record.attempts)
    feed.published(record)
    logRecord(log, record, call?.clientAddress)
  }
}
