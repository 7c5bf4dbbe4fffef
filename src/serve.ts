/** `tollgate serve`: the gateway with its servers, until a signal drains it. */
import manifest from '../package.json' with { type: 'json' }
import { setupPath } from './accounts/users.ts'
import { serveControl } from './admin/control.ts'
import { Blobs } from './blobs/blobs.ts'
import { Uploads } from './blobs/uploads.ts'
import type { Config } from './config.ts'
import type { Facts } from './console/desk.ts'
import { isForConsole, openDoor } from './console/door.ts'
import { createEdge, type Edge } from './edge/edge.ts'
import { Cors } from './edge/cors.ts'
import { Metrics } from './edge/metrics.ts'
import { answerBounds, backgroundBounds, bodyPace, drainBounds, fixedLimits } from './fixed-limits.ts'
import type { Exchange } from './inbound/exchange.ts'
import { listen, type Server, type ServerOptions } from './inbound/server.ts'
import { openGateway, type Gateway } from './gateway.ts'
import { createLog, type Log } from './lib/log.ts'
import { inputTokens, outputTokens } from './domain/usage.ts'
import { formatMarkUp } from './prices/mark-up.ts'
import type { RequestRecord } from './records/records.ts'
import type { Relay } from './relay/context.ts'
import { Backgrounds } from './relay/background.ts'
import { Drains } from './relay/drains.ts'
import { Pictures } from './relay/pictures.ts'
import { RetryBudget } from './relay/retry-budget.ts'
import { TokenCounter } from './relay/token-counter.ts'
import { startOnDemand } from './sandbox/on-demand.ts'

export type Served = {
  /** `http://127.0.0.1:8080/v1` */
  readonly baseUrl: string
  readonly firstKey: string | undefined
  /** Where the first operator chooses a password; undefined once there is one. */
  readonly setupUrl: string | undefined
  readonly gateway: Gateway
  /** Refuses new work, lets the running requests end, settles the rest, closes everything. */
  readonly drain: () => Promise<void>
}

const HOUR_MS = 3_600_000
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/
/** Files that have expired are gone from the disk so soon after. */
const SWEEP_MS = 30_000
const SOCKETS_CLOSE_MS = 1_000

/** Starts everything. Resolves when the public port answers. */
export async function serve(config: Config): Promise<Served> {
  const log = createLog(config.logLevel)
  const sandbox = config.sandbox ? startOnDemand() : undefined
  const gateway = await openGateway(config, { log, sandboxUrl: sandbox?.url, firstAccount: 'make' })
  const { store, accounts, ledger, catalog, limiter, idempotency, turns, live } = gateway
  const metrics = metricsOf(gateway)
  let draining = false
  const tokens = new TokenCounter()
  const blobs = new Blobs(store)
  await blobs.sweepStrays()
  const relay: Relay = {
    accounts,
    catalog,
    ledger,
    health: gateway.health,
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
      gateway.office.tally.noted(record.attempts)
      logRecord(log, record, clientAddress)
    },
  }
  const edge = createEdge({
    relay,
    metrics,
    log,
    limiter,
    cors: new Cors(config.corsOrigins),
    proxies: config.trustedProxies,
    blobs,
    uploads: new Uploads(config.dataFolder),
    links: { publicUrl: config.publicUrl, isLoopback: LOOPBACK.test(config.host) },
    metricsToken: config.metricsToken,
    chatBody: { bytesMax: config.limits.bodyBytesMax, ...bodyPace },
  })
  const control = serveControl(config.dataFolder, gateway.office)
  const { monitor, refuse } = edge
  const handle = withConsole(edge, gateway, { config, log })
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
    sweepRows(gateway, log)
  }, HOUR_MS)
  // A gateway that never lives an hour would never forget.
  sweepRows(gateway, log)
  const sweeping = sweepEvery(Math.min(SWEEP_MS, limits.imageUrlMs), blobs, log)
  const everySecond = setInterval(() => live.endOverdue(limits.requestTimeoutMs), 1_000)
  const origin = config.publicUrl ?? `http://${urlHost(config.host)}:${server.port}`
  return {
    baseUrl: `${origin}/v1`,
    setupUrl: await setupUrl(gateway, origin),
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

const metricsOf = ({ ledger, store, live }: Gateway): Metrics =>
  new Metrics({
    openHolds: () => ledger.openHolds(),
    writesQueued: () => store.queued(),
    liveCalls: () => live.size,
  })

/** One port for both: the public API, and what is for people. */
function withConsole(
  edge: Edge,
  { office }: Gateway,
  { config, log }: { readonly config: Config; readonly log: Log },
): (exchange: Exchange) => void {
  const door = openDoor({ office, facts: factsOf(config), proxies: config.trustedProxies, log })
  const documents = documentsOf(log)
  return (exchange) => {
    const { path } = exchange.head
    if (isForConsole(path)) door(exchange)
    else if (isDocument(path)) documents(exchange)
    else edge.handle(exchange)
  }
}

const isDocument = (path: string): boolean =>
  path === '/docs' || path === '/openapi.json' || path === '/llms.txt' || path.startsWith('/docs/')

/** Made, and loaded, when somebody asks for the first. */
function documentsOf(log: Log): (exchange: Exchange) => void {
  const load = async () => {
    const { makeDocuments, replyWithDocument } = await import('./edge/documents.ts')
    const documents = makeDocuments(manifest.version)
    return (exchange: Exchange): void => replyWithDocument(exchange, documents)
  }
  let loaded: ReturnType<typeof load> | undefined
  return (exchange) => {
    loaded ??= load()
    loaded
      .then((reply) => exchange.isGone || reply(exchange))
      .catch((error: unknown) => {
        log('error', 'documents.internal', { message: String(error) })
        exchange.destroy()
      })
  }
}

/** Forgets what has had its time. */
function sweepRows({ turns, idempotency, usageDays, office: { sessions } }: Gateway, log: Log): void {
  for (const [name, swept] of Object.entries({ responses: turns, idempotency, sessions, usage: usageDays })) {
    swept.sweep().catch((error: unknown) => log('error', `${name}.unswept`, { message: String(error) }))
  }
}

/** A new link at each start until there is an operator: whoever missed the first is not locked out. */
async function setupUrl({ office: { users } }: Gateway, origin: string): Promise<string | undefined> {
  return users.hasOperator() ? undefined : origin + setupPath(await users.makeLink(undefined))
}

const factsOf = (config: Config): Facts => ({
  version: manifest.version,
  publicUrl: config.publicUrl,
  isSecure: config.publicUrl?.startsWith('https:') ?? false,
  settings: {
    host: config.host,
    port: config.port,
    public_url: config.publicUrl ?? null,
    data_folder: config.dataFolder,
    config_file: config.configFile ?? null,
    cors_origins: config.corsOrigins,
    log_level: config.logLevel,
    sandbox: config.sandbox,
    markup: config.markUp === 'off' ? 'off' : formatMarkUp(config.markUp),
    metrics: config.metricsToken === undefined ? 'no token' : 'behind a token',
    limits: config.limits,
    fixed_limits: fixedLimits,
  },
})

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

async function verifyHourly({ office }: Gateway, log: Log): Promise<void> {
  for (const finding of await office.verify()) log('error', 'ledger.broken', finding)
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
