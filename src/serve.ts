/** `tollgate serve`: the gateway with its servers, until a signal drains it. */
import { serveControl } from './admin/control.ts'
import { Blobs } from './blobs/blobs.ts'
import { Uploads } from './blobs/uploads.ts'
import type { Config } from './config.ts'
import { createEdge } from './edge/edge.ts'
import { Cors } from './edge/cors.ts'
import { Metrics } from './edge/metrics.ts'
import { answerBounds, backgroundBounds, bodyPace, drainBounds, freeBounds, uploadBounds } from './fixed-limits.ts'
import { listen, type Server, type ServerOptions } from './inbound/server.ts'
import { openGateway, verifyBooks, type Gateway } from './gateway.ts'
import { createLog, type Log } from './lib/log.ts'
import { Shares } from './lib/shares.ts'
import { inputTokens, outputTokens } from './domain/usage.ts'
import type { RequestRecord } from './records/records.ts'
import type { Relay } from './relay/context.ts'
import { Backgrounds } from './relay/background.ts'
import { Drains } from './relay/drains.ts'
import { HealthBook } from './relay/health-book.ts'
import { Pictures } from './relay/pictures.ts'
import { RetryBudget } from './relay/retry-budget.ts'
import { TokenCounter } from './relay/token-counter.ts'
import { startOnDemand } from './sandbox/on-demand.ts'

export type Served = {
  /** `http://127.0.0.1:8080/v1` */
  readonly baseUrl: string
  readonly firstKey: string | undefined
  readonly gateway: Gateway
  /** Refuses new work, lets the running requests end, settles the rest, closes everything. */
  readonly drain: () => Promise<void>
}

const HOUR_MS = 3_600_000
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/
/** Files that have expired are gone from the disk so soon after. */
const SWEEP_MS = 30_000
/** An account may have the n-th part of what bodies may take while they arrive. */
const ARRIVING_PARTS = 4
const SOCKETS_CLOSE_MS = 1_000

/** Starts everything. Resolves when the public port answers. */
export async function serve(config: Config): Promise<Served> {
  const log = createLog(config.logLevel)
  const sandbox = config.sandbox ? startOnDemand() : undefined
  const gateway = await openGateway(config, { log, sandboxUrl: sandbox?.url, firstAccount: 'make' })
  const { store, accounts, ledger, catalog, limiter, idempotency, turns, live, room } = gateway
  const metrics = new Metrics({
    openHolds: () => ledger.openHolds(),
    writesQueued: () => store.queued(),
    liveCalls: () => live.size,
  })
  let draining = false
  const tokens = new TokenCounter()
  const blobs = new Blobs(store)
  await blobs.sweepStrays()
  const relay: Relay = {
    accounts,
    catalog,
    ledger,
    health: new HealthBook(),
    retries: new RetryBudget(),
    live,
    tokens,
    pictures: new Pictures(blobs, config.limits.imageUrlMs),
    idempotency,
    turns,
    backgrounds: new Backgrounds(backgroundBounds),
    drains: new Drains(drainBounds),
    limits: { ...config.limits, ...answerBounds },
    log,
    notReady: () => (draining ? 'shutting down' : undefined),
    onRecord: (record, { clientAddress }) => {
      metrics.recorded(record)
      logRecord(log, record, clientAddress)
    },
  }
  const edge = createEdge({
    relay,
    metrics,
    log,
    limiter,
    free: freeBounds,
    arriving: arrivingShares(config),
    cors: new Cors(config.corsOrigins),
    proxies: config.trustedProxies,
    blobs,
    uploads: new Uploads(config.dataFolder, room, new Shares(uploadBounds)),
    links: { publicUrl: config.publicUrl, isLoopback: LOOPBACK.test(config.host) },
    metricsToken: config.metricsToken,
    chatBody: { bytesMax: config.limits.bodyBytesMax, ...bodyPace },
  })
  const control = serveControl(config.dataFolder, gateway.office)
  const { handle, monitor, refuse } = edge
  const onError = (error: Error): void =>
    log('error', 'inbound.internal', { message: String(error), stack: error.stack })
  const { host: hostname, port, limits } = config
  const server = listen({ hostname, port, handle, refuse, limits, onError })
  const monitoring = openMonitoring(config, log, { handle: monitor, refuse, onError })
  if (gateway.expiredHolds > 0) log('warn', 'ledger.expired', { holds: gateway.expiredHolds })
  const hourly = setInterval(() => {
    verifyHourly(gateway, log).catch((error: unknown) => {
      // A shutdown does not wait for it.
      if (!draining) log('error', 'ledger.unverified', { message: String(error) })
    })
    sweepStore(gateway, log)
  }, HOUR_MS)
  // A gateway that never lives an hour would never forget.
  sweepStore(gateway, log)
  const sweeping = sweepEvery(Math.min(SWEEP_MS, limits.imageUrlMs), blobs, log)
  const everySecond = setInterval(() => live.endOverdue(limits.requestTimeoutMs), 1_000)
  return {
    baseUrl: `${config.publicUrl ?? `http://${urlHost(config.host)}:${server.port}`}/v1`,
    firstKey: gateway.firstKey,
    gateway,
    async drain() {
      if (draining) return
      draining = true
      log('info', 'drain.start', { live: live.size })
      clearInterval(hourly)
      clearInterval(everySecond)
      clearInterval(sweeping)
      await live.idle(config.limits.drainMs)
      live.cancelAll('shutdown')
      await live.idle(SOCKETS_CLOSE_MS * 5)
      // The last bytes of settled answers are on their way; a short grace lets them leave.
      server.stop()
      for (let i = 0; i < 20 && server.connections > 0; i++) await Bun.sleep(SOCKETS_CLOSE_MS / 20)
      server.close()
      monitoring?.close()
      await live.idle(SOCKETS_CLOSE_MS * 5)
      tokens.stop()
      await control.stop()
      await sandbox?.stop()
      await store.close()
      log('info', 'drain.done')
    },
  }
}

/** Deletes what is too old, and gives the disk back what that took. */
function sweepStore({ turns, idempotency, store }: Gateway, log: Log): void {
  const swept = turns.sweep().catch((error: unknown) => log('error', 'responses.unswept', { message: String(error) }))
  const forgotten = idempotency
    .sweep()
    .catch((error: unknown) => log('error', 'idempotency.unswept', { message: String(error) }))
  Promise.all([swept, forgotten])
    .then(() => store.shrink())
    .catch((error: unknown) => log('error', 'store.unshrunk', { message: String(error) }))
}

/** One body can always arrive. */
function arrivingShares({ limits: { arrivingBytesMax, bodyBytesMax } }: Config): Shares {
  const shareMax = Math.max(arrivingBytesMax / ARRIVING_PARTS, bodyBytesMax)
  return new Shares({ max: Math.max(arrivingBytesMax, bodyBytesMax), shareMax })
}

function sweepEvery(ms: number, blobs: Blobs, log: Log): Timer {
  const onError = (error: unknown): void => log('error', 'blobs.unswept', { message: String(error) })
  return setInterval(() => void blobs.sweep().catch(onError), ms)
}

/** The operator's own port, where one is wished for. */
function openMonitoring(
  { metricsHost: hostname, metricsPort: port }: Config,
  log: Log,
  handlers: Omit<ServerOptions, 'hostname' | 'port'>,
): Server | undefined {
  if (port === undefined) return undefined
  const server = listen({ hostname, port, ...handlers })
  log('info', 'serve.monitoring', { monitoring: `http://${urlHost(hostname)}:${server.port}` })
  return server
}

const urlHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

async function verifyHourly({ store }: Gateway, log: Log): Promise<void> {
  for (const finding of await verifyBooks(store)) log('error', 'ledger.broken', finding)
}

/** The one line per request: who, what, how much, how long. No prompts, no outputs, no secrets. */
function logRecord(log: Log, record: RequestRecord, client: string): void {
  const { id: request, accountId: account, keyId: key, model, status, outcome, errorCode, attempts, usage } = record
  log('info', 'request', {
    request,
    account,
    key,
    client,
    endpoint: record.endpoint,
    model,
    stream: record.stream,
    status,
    outcome,
    ...(errorCode === undefined ? {} : { code: errorCode }),
    provider: record.providerId,
    attempts: attempts.map(({ providerId, result }) => `${providerId}:${result}`),
    inputTokens: inputTokens(usage),
    outputTokens: outputTokens(usage),
    usage: record.usageSource,
    heldNanoUsd: record.held.toString(),
    chargedNanoUsd: record.charged.toString(),
    firstEventMs: record.firstEventMs === undefined ? undefined : Math.round(record.firstEventMs),
    totalMs: Math.round(record.totalMs),
  })
}
