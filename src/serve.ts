/** `tollgate serve` runs the gateway with its servers until a signal drains it. */
import { serveControl } from './admin/control.ts'
import { withNews } from './awaited-news.ts'
import type { Blobs } from './blobs/blobs.ts'
import { openFolderUploads } from './blobs/folder-uploads.ts'
import { uploadBounds } from './blobs/uploads.ts'
import type { Config } from './config.ts'
import { freeBounds } from './edge/unbilled-routes.ts'
import { bodyPace } from './inbound/connection-limits.ts'
import { createEdge } from './edge/edge.ts'
import type { Edge, EdgeOptions } from './edge/edge-options.ts'
import { unreadyEdge } from './edge/unready.ts'
import { Cors } from './edge/cors.ts'
import { drain, lameDuck, reasonsOf, type DrainState } from './drain.ts'
import { loadReaders } from './edge/reader-loading.ts'
import { setupUrl, withConsole } from './public-server.ts'
import { openGateway, type Gateway } from './gateway.ts'
import { collectGrowth } from './lib/runtime/gc-hint.ts'
import { createLog, type Log } from './lib/runtime/log.ts'
import { MemoryRoom } from './lib/runtime/memory-room.ts'
import { addressLimiter } from './edge/address-limiter.ts'
import { decoders } from './lib/runtime/picture.ts'
import { ReplyMemory } from './lib/runtime/reply-memory.ts'
import { SharedBudget } from './lib/primitives/shared-budget.ts'
import { metricsOf, openTelemetry, recorder, type Recorder } from './recorder.ts'
import { collectedBounds } from './relay/answer-cache.ts'
import { answerBounds, type Relay } from './relay/context.ts'
import type { LiveCalls } from './relay/live-calls.ts'
import { openRelayPort } from './relay/port.ts'
import { backgroundBounds, BackgroundResponses } from './relay/background.ts'
import { remainderBounds, RemainderReader } from './relay/remainder-reader.ts'
import { Pictures } from './relay/pictures.ts'
import { offerFailure } from './relay/keyed-choice.ts'
import { HedgeDelays } from './relay/hedge-delays.ts'
import { RetryBudget } from './relay/retry-budget.ts'
import { ProviderConcurrency } from './relay/provider-concurrency.ts'
import { TokenCounter } from './relay/token-counter.ts'
import { SandboxThread } from '../sandbox/thread.ts'
import { bindLate, bindPorts, linksOf, listenAddress, openCertificate, originOf } from './ports.ts'
import { NO_DATABASE, ReadinessGate } from './readiness-gate.ts'
import { startSweeps } from './maintenance-jobs.ts'
import { Workers } from './workers.ts'
import { Videos, type VideosOptions } from './video/videos.ts'

export type RunningServer = {
  /** `http://127.0.0.1:8080/v1`, with TLS `https`. */
  readonly baseUrl: string
  readonly firstKey: string | undefined
  /** The address at which the first operator chooses a password, or undefined once there is an operator. */
  readonly setupUrl: string | undefined
  readonly gateway: Gateway
  /** Starts answering. Requests that arrived earlier have waited. */
  readonly open: () => void
  /** Is not ready and serves on, until other processes have taken over or `skip` resolves. */
  readonly lameDuck: (skip: Promise<void>) => Promise<void>
  /** Refuses new work, lets running requests end, settles the rest and closes everything. */
  readonly drain: () => Promise<void>
}

/** Arriving bodies may take this part of the memory, and one account may take this part of that. */
const ARRIVING_PARTS = 4
/** Long replies may take this part of the memory. Reading and writing one needs over twice its size. */
const REPLY_PARTS = 8
/** One account may take this part of it. */
const REPLY_SHARES = 4
/** At this interval, a call that lost its permission ends within a second. */
const WATCH_MS = 500
/** By this time, the first answer is no longer delayed by loading. */
const READ_AHEAD_MS = 1_000

/** Where instances share the database, requests wait for what the others have changed. */
function sharedEdge({ store, accounts, services }: Gateway, { corsOrigins }: Config, edge: Edge): Edge {
  if (!store.changes.isShared) return edge
  const unready = unreadyEdge(new Cors(corsOrigins), NO_DATABASE)
  return withNews(edge, { accounts, catchUp: services.catchUp, unready })
}

/** A process with a lame duck has others beside it. Their balancer takes a refused connection to one of them. */
const isAlone = ({ databaseUrl, limits }: Config): boolean => databaseUrl === undefined && limits.lameDuckMs === 0

/** Starts everything except answering on the ports. Throws if a port cannot be bound. */
export async function serve(config: Config): Promise<RunningServer> {
  const log = createLog(config.logLevel)
  const certificate = await openCertificate(config, log)
  const early = isAlone(config) ? bindPorts(config, log, certificate) : undefined
  // The sandbox starts on its own thread while the folder is opened.
  const sandbox = config.sandbox ? new SandboxThread({ onReplaced: (reason) => replaced(log, reason) }) : undefined
  const gateway = await openGateway(config, { log, sandboxUrl: () => sandbox?.url, firstAccount: 'make' })
  await sandbox?.ready
  const ports = early ?? (await bindLate(gateway.store, () => bindPorts(config, log, certificate)))
  const { server } = ports
  const { store, live, health } = gateway
  const telemetry = await openTelemetry(gateway, config, log)
  const metrics = metricsOf(gateway, { certificate, telemetry, parts: () => ({ videos, server }) })
  const state: DrainState = { phase: 'serving', port: 'open' }
  decoders.fitInto(memoryMaxOf(config))
  const readiness = new ReadinessGate(store, new MemoryRoom(memoryMaxOf(config)), log)
  const [tokens, blobs] = [new TokenCounter(), gateway.blobs]
  await blobs.recover()
  warnOfLocalFiles(config, blobs, log)
  const onRecord = recorder(gateway, { metrics, telemetry, log })
  const videos = openVideos(gateway, { log, blobs, health, config, onRecord })
  const notReady = reasonsOf(state, readiness)
  const relay = relayOf(gateway, config, { log, tokens, blobs, videos, onRecord, notReady: notReady.forWork })
  const port = openRelayPort(relay, repliesOf(config))
  const edge = edgeOf(gateway, config, { relay: port, metrics, telemetry, notReady: notReady.forBalancers, log })
  const control = serveControl(config.dataFolder, gateway.services, listenAddress(config, server))
  await videos.resume()
  const sweeps = startSweeps(gateway, blobs, {
    log,
    limits: config.limits,
    onInstances: (count) => shareLimits(relay, count),
    isDraining: () => state.phase === 'draining',
  })
  const watch = watchCalls(live, readiness, config)
  const ahead = setTimeout(() => void loadReaders().catch((error: Error) => giveUp(log, error)), READ_AHEAD_MS)
  const workers = new Workers({ config, port: server.port, log })
  const origin = originOf(listenAddress(config, server))
  return {
    baseUrl: `${origin}/v1`,
    setupUrl: await setupUrl(gateway, origin),
    firstKey: gateway.firstKey,
    gateway,
    open: () => {
      ports.open(sharedEdge(gateway, config, { ...edge, handle: withConsole(edge, gateway, { config, log }) }))
      workers.start()
    },
    lameDuck: (skip) => {
      void workers.leave(skip)
      return lameDuck(state, { ports, durationMs: config.limits.lameDuckMs, log }, skip)
    },
    drain: async () => {
      await drain(state, {
        gateway,
        ports,
        videos,
        sweeps,
        control,
        sandbox,
        certificate,
        tokens,
        telemetry,
        timers: { watch, ahead },
        drainMs: config.limits.drainMs,
        log,
      })
      await workers.ended()
    },
  }
}

/** Ends calls that may not go on, and looks at disk and memory. */
const watchCalls = (live: LiveCalls, readiness: ReadinessGate, { limits }: Config): Timer =>
  setInterval(() => {
    live.endOverdue(limits.requestTimeoutMs)
    live.cutLapsed()
    readiness.reason()
    collectGrowth()
  }, WATCH_MS)

/** The public API with its budgets and bounds. */
const edgeOf = (
  gateway: Gateway,
  config: Config,
  shared: Pick<EdgeOptions, 'relay' | 'metrics' | 'telemetry' | 'notReady' | 'log'>,
): Edge =>
  createEdge({
    ...shared,
    ...countersOf(gateway),
    ...boundsOf(config),
    cors: new Cors(config.corsOrigins),
    proxies: config.trustedProxies,
    blobs: gateway.blobs,
    addresses: addressLimiter(
      config.limits,
      gateway.store.changes.isShared ? gateway.services.openThrottle : undefined,
    ),
    visitors: { perMinute: config.limits.contentPerMinute, concurrent: config.limits.contentConcurrent },
    uploads: openFolderUploads(config.dataFolder, gateway.room, new SharedBudget(uploadBounds)),
    links: linksOf(config),
    metricsToken: config.metricsToken,
  })

/** Divides the limits of providers and of their keys among instances. */
function shareLimits({ concurrency, health }: Relay, instances: number): void {
  concurrency.shareAmong(instances)
  health.keys.shareAmong(instances)
}

/** The relay with its own parts: budgets, permits and counts of this process. */
function relayOf(gateway: Gateway, config: Config, { blobs, onRecord, ...shared }: RelayParts): Relay {
  return {
    ...ownedBy(gateway),
    ...shared,
    retries: new RetryBudget(),
    hedges: new HedgeDelays(),
    collected: new SharedBudget(collectedBounds),
    concurrency: new ProviderConcurrency(gateway.health.keys),
    pictures: new Pictures(blobs, config.limits.imageUrlMs, shared.log),
    backgrounds: new BackgroundResponses(backgroundBounds, gateway.turns.remote),
    remainders: new RemainderReader(remainderBounds),
    hiddenReasoners: new Set(),
    limits: { ...config.limits, ...answerBounds },
    upstreamMessages: config.upstreamMessages,
    onRecord,
  }
}

type RelayParts = Pick<Relay, 'log' | 'tokens' | 'videos' | 'notReady'> & {
  readonly blobs: Blobs
  readonly onRecord: Recorder
}

function replaced(log: Log, reason: string): void {
  log('error', 'sandbox.replaced', { reason })
}

/** Instances that share a database do not share a folder. */
function warnOfLocalFiles({ databaseUrl, s3 }: Config, { place }: Blobs, log: Log): void {
  if (databaseUrl === undefined || s3) return
  const help = 'only this machine can serve them; for several instances, set TOLLGATE_S3_ENDPOINT and its neighbors'
  log('warn', 'blobs.on_this_machine', { place, help })
}

/** A part of the program is missing. The runtime does not look for it a second time, so the process ends. */
function giveUp(log: Log, { message }: Error): never {
  log('error', 'serve.incomplete', { message })
  process.exit(1)
}

/** The memory that the process may use, in bytes. */
const memoryMaxOf = ({ limits, workers }: Config): number =>
  (limits.memoryBytesMax || process.constrainedMemory()) / workers

/** The parts of the gateway that the relay uses. */
function ownedBy(gateway: Gateway) {
  const { accounts, answers, catalog, ledger, records, idempotency, turns, live, health } = gateway
  return { accounts, answers, catalog, ledger, records, idempotency, turns, live, health }
}

/** The counters of accounts' requests, accepted and refused. */
const countersOf = ({ limiter, refused }: Gateway): Pick<EdgeOptions, 'limiter' | 'refused'> => ({ limiter, refused })

/** The bounds of request bodies and of free requests. */
function boundsOf(config: Config): Pick<EdgeOptions, 'free' | 'arriving' | 'chatBody'> {
  const { arrivingBytesMax, bodyBytesMax } = config.limits
  // Objects made from the bodies take up to three times as much. The bodies alone must not fill the memory.
  const max = Math.min(arrivingBytesMax, memoryMaxOf(config) / ARRIVING_PARTS)
  return {
    free: freeBounds,
    arriving: new SharedBudget({ max, shareMax: max / ARRIVING_PARTS }),
    chatBody: { bytesMax: bodyBytesMax, ...bodyPace },
  }
}

/** The memory for long whole replies of upstreams. */
function repliesOf(config: Config): ReplyMemory {
  const max = memoryMaxOf(config) / REPLY_PARTS
  return new ReplyMemory({ max, accountMax: max / REPLY_SHARES })
}

/** How tasks of videos use the keys of providers, and what their attempts say of them. */
const keyUseOf = (parts: Pick<Relay, 'health' | 'catalog'>): Pick<VideosOptions, 'withKey' | 'learn'> => ({
  withKey: (provider, offerId) => (provider.keys ? parts.health.keys.next(provider.keys, { offerId }) : provider),
  learn: (offerId, provider, failure) => {
    const learnt = failure && offerFailure(parts, { provider, offer: { id: offerId } }, failure)
    if (learnt) parts.health.failed(offerId, learnt)
    else if (!failure) parts.health.succeeded(offerId)
    return failure !== undefined && learnt === undefined
  },
})

type VideoParts = Pick<VideosOptions, 'log' | 'blobs' | 'onRecord'> &
  Pick<Relay, 'health'> & { readonly config: Config }

/** Opens the video tasks with the parts of the gateway that they use. */
function openVideos(gateway: Gateway, { health, config, ...shared }: VideoParts): Videos {
  const { limits, upstreamMessages } = config
  const { tasks, catalog, ledger, records, limiter, accounts } = gateway
  return new Videos({
    tasks,
    catalog,
    ledger,
    records,
    ...shared,
    upstreamMessages,
    pollMs: limits.videoPollMs,
    keptMs: limits.videoKeptMs,
    ...keyUseOf({ health, catalog }),
    reserve: ({ keyId, accountId, requestId, held }) => {
      const [key, account] = [accounts.findKey(keyId), accounts.find(accountId)]
      return key && account && limiter.resume({ key, account }, { id: requestId, amount: held })
    },
  })
}
