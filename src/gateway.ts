/** The wiring from a `Config` to a gateway. `serve` adds the servers. A single command needs no servers. */
import type { Accounts } from './accounts/accounts.ts'
import { hasRights } from './accounts/session-rights.ts'
import { throttlesOn } from './accounts/shared-throttle.ts'
import { openSqlAccounts } from './accounts/sql-accounts.ts'
import { openSqlPeople } from './accounts/sql-people.ts'
import { openSqlSavedViews } from './accounts/sql-saved-views.ts'
import { monthStartHour } from './accounts/calendar.ts'
import type { Limiter } from './accounts/limiter.ts'
import { openMemoryLimiter } from './accounts/memory-limiter.ts'
import { counterCheck } from './accounts/limit-counter-holds.ts'
import type { AdminServices, Verification } from './admin/operation.ts'
import { createBackup } from './backup.ts'
import type { Blobs } from './blobs/blobs.ts'
import type { Catalog } from './catalog/catalog.ts'
import { openSqlCatalog } from './catalog/sql-catalog.ts'
import type { Config } from './config.ts'
import { openChores, type Chores } from './store/chores.ts'
import { openConfiguredLedger } from './configured-ledger.ts'
import { openConfiguredStore, type StoreOpening } from './configured-store.ts'
import { appliesDeclaration, applyAccounts, makeAccount, type DeclarationOptions } from './declaration-start.ts'
import { accountCallsMax, connectionsMaxOf } from './connection-limit.ts'
import { DIED } from './formats/responses/conversation.ts'
import { timeOrderedId } from './lib/primitives/ids.ts'
import type { Log } from './lib/runtime/log.ts'
import { DiskRoom } from './lib/runtime/disk-room.ts'
import { outbound } from './outbound/send.ts'
import { openSqlCodes } from './ledger/sql-codes.ts'
import type { Ledger } from './ledger/ledger.ts'
import { openSqlLedgerQueries } from './ledger/sql-ledger-queries.ts'
import { holdLifeCheck, ledgerChecks } from './ledger/verify.ts'
import { findingsOf, type Check, type Finding } from './lib/primitives/checks.ts'
import type { Idempotency } from './records/idempotency.ts'
import type { CachedAnswers } from './records/cached-answers.ts'
import type { RecordFeed } from './records/feed.ts'
import { openLocalFeed } from './records/local-feed.ts'
import type { Records } from './records/records.ts'
import type { RefusedRequests } from './records/refused.ts'
import { openSqlAudit } from './records/sql-audit.ts'
import { forgetExpired, idempotencyChecks } from './records/sql-idempotency.ts'
import { openSqlRefusedRequests } from './records/sql-refused.ts'
import { openSqlRecords } from './records/sql-records.ts'
import { openSqlMovementQueries } from './records/sql-balance-movements.ts'
import { openSqlUsageRollups } from './records/sql-usage-rollups.ts'
import { priceChecks } from './records/price-checks.ts'
import { usageChecks } from './records/sql-usage.ts'
import type { UsageRollups } from './records/usage-rollups.ts'
import { detachedBounds, LiveCalls } from './relay/live-calls.ts'
import { HealthBook } from './relay/health-book.ts'
import { ProviderTally } from './relay/provider-tally.ts'
import { failExpired, turnCheck } from './responses/sql-turns.ts'
import type { Turns } from './responses/turns.ts'
import { openHostedFiles, type HostedFileParts } from './hosted-files.ts'
import { openKeptContent } from './kept-content.ts'
import { openSecrets, type Secrets } from './secrets.ts'
import { openRests } from './shared-rests.ts'
import type { WriteStep } from './store/statement.ts'
import type { Store } from './store/store.ts'
import { openSqlTasks, taskChecks } from './video/sql-tasks.ts'
import type { Tasks } from './video/tasks.ts'

export type Gateway = {
  readonly store: Store
  readonly accounts: Accounts
  readonly ledger: Ledger
  readonly catalog: Catalog
  readonly limiter: Limiter
  readonly records: Records
  readonly rollups: UsageRollups
  readonly idempotency: Idempotency
  readonly answers: CachedAnswers
  readonly turns: Turns
  readonly tasks: Tasks
  readonly blobs: Blobs
  readonly live: LiveCalls
  readonly room: DiskRoom
  readonly health: HealthBook
  readonly refused: RefusedRequests
  /** The periodic work that is this process's. */
  readonly chores: Chores
  readonly services: AdminServices
  /** The first key of the first account, made when the store was empty. It is shown once. */
  readonly firstKey: string | undefined
}

export type OpenOptions = DeclarationOptions & {
  /** The address of the built-in sandbox, or undefined if it does not run. */
  readonly sandboxUrl: () => string | undefined
  /** Whether an empty store gets its first account and key. */
  readonly firstAccount: 'make' | 'leave'
}

const FIRST_ACCOUNT = 'default'
const FIRST_BALANCE_NANO_USD = 1_000_000_000n

/** What else becomes of a request when its hold expires: its idempotency key is free, and its response has failed. */
export const alsoOnExpiry = (holdId: string): readonly WriteStep[] => [
  ...forgetExpired(holdId),
  ...failExpired(holdId, DIED),
]

/** Opens the data folder or the shared database. Throws `FolderInUse` when another process uses the folder. */
export async function openGateway(config: Config, options: OpenOptions): Promise<Gateway> {
  const { databaseUrl } = config
  if (databaseUrl === undefined) return openParts(config, options)
  const { startInTurn } = await import('./store/postgres/start-lock.ts')
  return startInTurn(databaseUrl, () => openParts(config, options))
}

async function openParts(config: Config, options: OpenOptions): Promise<Gateway> {
  const { log, sandboxUrl, firstAccount } = options
  if (config.outboundProxies.shown) outbound.useProxies(config.outboundProxies)
  // Memory and disk disagree, so nothing more may be promised to a client.
  const stop = (event: string, message: string): never => {
    log('error', event, { message })
    process.exit(1)
  }
  const onFatal: StoreOpening['onFatal'] = (message, event) => stop(event, fatalText(message, config))
  const instance = timeOrderedId('run_')
  const store = await openConfiguredStore(config, { log, instance, onFatal })
  const room = new DiskRoom(config.dataFolder, config.limits.diskFloorBytes)
  const [live, health] = [new LiveCalls(detachedBounds), new HealthBook()]
  const secrets = await openSecrets(config, store)
  const people = await openSqlPeople(store)
  const accounts = await openSqlAccounts(store, {
    pepper: secrets.key_pepper,
    onBarred: (barred) => live.bar(barred),
    hasRights: (holder) => hasRights(people, holder),
  })
  const onBroken = (message: string): never => stop('ledger.broken', message)
  const { ledger, expired } = await openConfiguredLedger(store, { instance, onBroken, alsoOnExpiry })
  if (expired > 0) log('warn', 'ledger.expired', { holds: expired })
  const applies = await appliesDeclaration(store, config, options)
  const catalog = await openSqlCatalog(store, {
    masterKey: secrets.master_key,
    sandboxUrl,
    declared: config.declared,
    applies,
  })
  if (applies) await applyAccounts(config, { store, accounts, ledger, catalog })
  const requests = await openRequestPorts(store, config, { room, log })
  const limiter = await openLimiter(config, { store, ledger, rollups: requests.rollups })
  const firstKey = firstAccount === 'make' ? await makeFirstKey(accounts, ledger) : undefined
  const services = servicesOf(store, config, {
    accounts,
    catalog,
    ledger,
    limiter,
    live,
    healthBook: health,
    resume: await openRests(store, { catalog, health }),
    secrets,
    instance,
    ...requests,
    ...people,
  })
  return {
    store,
    accounts,
    ledger,
    catalog,
    limiter,
    ...requests,
    ...(await openKeptContent(store, config.limits, { room, log, masterKey: secrets.master_key })),
    live,
    room,
    health,
    chores: openChores(store, store.instance),
    services,
    firstKey,
  }
}

/** Opens the limiter. Where the store decides about money, it also decides about limits. */
async function openLimiter(config: Config, parts: Pick<Gateway, 'store' | 'ledger' | 'rollups'>): Promise<Limiter> {
  const past = await parts.rollups.chargedByDay(monthStartHour(Date.now()))
  const options = { accountMax: accountCallsMax(config) }
  const isShared = parts.store.changes.isShared && parts.ledger.decides === 'when_written'
  if (!isShared) return openMemoryLimiter(past, options)
  const { openPostgresLimiter } = await import('./accounts/postgres-limiter.ts')
  return openPostgresLimiter(parts.store, past, options)
}

type RequestPorts = Pick<Gateway, 'records' | 'rollups' | 'refused' | 'tasks' | 'blobs'> & Pick<AdminServices, 'feed'>

/**
 * Opens the storage of request records and of the files and tasks that requests make. If other instances share the
 * database, this one is the owner of its rows.
 */
async function openRequestPorts(store: Store, config: Config, shared: HostedFileParts): Promise<RequestPorts> {
  const { instance } = store
  return {
    records: openSqlRecords(store, instance),
    rollups: await openSqlUsageRollups(store),
    refused: openSqlRefusedRequests(store),
    tasks: openSqlTasks(store, instance),
    feed: instance === undefined ? openLocalFeed() : await openSharedFeed(store, shared.log),
    blobs: await openHostedFiles(store, config, shared),
  }
}

async function openSharedFeed(store: Store, log: Log): Promise<RecordFeed> {
  const { openPostgresFeed } = await import('./records/postgres-feed.ts')
  return openPostgresFeed(store, { onError: (error) => log('error', 'feed.unread', { message: String(error) }) })
}

/** Members that other parts of the gateway also use. */
type SharedServices = Pick<
  AdminServices,
  | ('accounts' | 'blobs' | 'catalog' | 'feed' | 'ledger' | 'limiter' | 'managementKeys')
  | ('records' | 'refused' | 'resume' | 'rollups' | 'sessions' | 'tasks' | 'users')
>
type Parts = SharedServices & {
  readonly live: LiveCalls
  readonly healthBook: HealthBook
  readonly secrets: Secrets
  /** The id of this instance, in its holds. */
  readonly instance: string
}

/** The services that operations work on. */
function servicesOf(
  store: Store,
  config: Config,
  { live, healthBook, secrets, instance, ...shared }: Parts,
): AdminServices {
  const startedAtMs = Date.now()
  let lastVerification: Verification | undefined
  const verify = async (): Promise<readonly Finding[]> => {
    const startedMs = Date.now()
    const findings = await verifyBooks(store, instance)
    lastVerification = { findings, atMs: startedMs, tookMs: Date.now() - startedMs }
    return findings
  }
  return {
    ...shared,
    catchUp: () => store.changes.catchUp(),
    openThrottle: throttlesOn(store),
    books: openSqlLedgerQueries(store),
    movements: openSqlMovementQueries(store, shared.rollups),
    audit: openSqlAudit(store),
    markUp: config.markUp === 'off' ? 0n : config.markUp,
    verify,
    lastVerification: () => lastVerification,
    health: () => healthBook.all,
    signals: healthBook.signals,
    providerKeys: healthBook.keys,
    tally: new ProviderTally(),
    savedViews: openSqlSavedViews(store),
    codes: openSqlCodes(store, shared.ledger),
    backup: createBackup(store, secrets, shared.blobs.place),
    status: () => ({
      data_folder: config.dataFolder,
      config_file: config.configFile ?? null,
      pid: process.pid,
      uptime_s: Math.round((Date.now() - startedAtMs) / 1000),
      connections_max: connectionsMaxOf(config),
      account_calls_max: accountCallsMax(config),
      upstream_messages: config.upstreamMessages === 'kept',
      live_requests: live.size,
      writes_queued: store.queued(),
      rss_bytes: process.memoryUsage.rss(),
    }),
    ignoredProxies: () => config.trustedProxies.ignored,
  }
}

/** The ledger's invariants and the checks of the tables beside it. `instance` is the id of this one. */
export const bookChecks = (instance: string, isShared = false): readonly Check[] => [
  ...ledgerChecks,
  holdLifeCheck(instance),
  ...usageChecks,
  ...priceChecks,
  ...idempotencyChecks,
  turnCheck,
  ...taskChecks,
  ...(isShared ? [counterCheck] : []),
]

/** Runs all checks on a thread of their own. They take seconds. */
export const verifyBooks = (store: Store, instance: string): Promise<readonly Finding[]> =>
  store.apart((reader) => findingsOf(reader, bookChecks(instance, store.changes.isShared)))

/** The last message of a process in which a commit has failed. */
function fatalText(message: string, { dataFolder }: Config): string {
  const help = message.startsWith('SQLITE_FULL')
    ? `; the disk that holds ${dataFolder} is full: make room and start`
    : ''
  return `${message}${help}. The process ends; everything that was answered is on disk`
}

/** Gives an empty store an account with a little money and a key, so that the first call is not refused with 401. */
async function makeFirstKey(accounts: Accounts, ledger: Ledger): Promise<string | undefined> {
  const [existing] = accounts.list()
  if (existing && accounts.keysOf(existing.id).length > 0) return undefined
  if (accounts.list().length > 1) return undefined
  const first = { name: FIRST_ACCOUNT, openingBalance: FIRST_BALANCE_NANO_USD }
  const accountId = existing?.id ?? (await makeAccount(accounts, ledger, first))
  return (await accounts.createKey({ accountId, name: 'first key' })).secret
}
