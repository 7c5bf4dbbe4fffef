/** What `tollgate doctor` says of a PostgreSQL server: settings and states under which promises would not hold. */
import type { SQL } from 'bun'
import { openClient } from './client.ts'

/** `fail`: charges that clients were told of can be lost. `warn`: they can be in rare cases, or it gets slow. */
export type DatabaseFinding = {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly detail: string
}

type Facts = {
  readonly version: number
  readonly version_text: string
  readonly encoding: string
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly standby_names: string
  readonly is_standby: boolean
  readonly statement_timeout: string
  readonly clock_ms: number
  readonly connections: number
  readonly connections_max: number
  readonly snapshot_s: number | null
  /** The states of connected standbys. Empty too if the role may not see them. */
  readonly standbys: string
  readonly instances: number
}

const VERSION_MIN = 140_000
const CLOCK_MS_MAX = 1_000
const SNAPSHOT_S_MAX = 60
/** The connections of an instance: one writes, one polls, and up to eight read. */
const CONNECTIONS_PER_INSTANCE = 10

const FACTS = `SELECT current_setting('server_version_num')::int AS version,
  current_setting('server_version') AS version_text,
  current_setting('server_encoding') AS encoding,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS standby_names,
  pg_is_in_recovery() AS is_standby,
  current_setting('statement_timeout') AS statement_timeout,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock_ms,
  (SELECT count(*)::int FROM pg_stat_activity) AS connections,
  current_setting('max_connections')::int AS connections_max,
  (SELECT extract(epoch FROM max(clock_timestamp() - xact_start))::float8 FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()) AS snapshot_s,
  (SELECT coalesce(string_agg(sync_state, ', '), '') FROM pg_stat_replication) AS standbys,
  (SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'tollgate writer%') AS instances`

/** Rejects if the database cannot be reached. */
export async function examineDatabase(url: string): Promise<readonly DatabaseFinding[]> {
  const sql = openClient(url, 'doctor', { max: 1 })
  try {
    const askedMs = Date.now()
    const [facts] = (await sql.unsafe(FACTS)) as [Facts]
    // The answer is on its way for half of the time.
    const offsetMs = Math.round(facts.clock_ms - (askedMs + Date.now()) / 2)
    return [versionOf(facts), ...(await durabilityOf(sql, facts)), ...healthOf(facts, offsetMs)]
  } finally {
    await sql.close()
  }
}

const finding = (name: string, state: DatabaseFinding['state'], detail: string): DatabaseFinding => ({
  name,
  state,
  detail,
})

function versionOf({ version, version_text: text, encoding }: Facts): DatabaseFinding {
  if (version < VERSION_MIN) return finding('postgresql', 'fail', `${text}: 14 or newer is needed`)
  if (encoding !== 'UTF8') return finding('postgresql', 'fail', `encoding ${encoding}: UTF8 is needed`)
  return finding('postgresql', 'ok', text)
}

async function durabilityOf(sql: SQL, facts: Facts): Promise<readonly DatabaseFinding[]> {
  if (facts.is_standby) return [finding('durability', 'fail', 'this server is a standby, which takes no writes')]
  const off = (['fsync', 'full_page_writes'] as const).filter((name) => facts[name] === 'off')
  if (facts.synchronous_commit === 'off') off.push('synchronous_commit' as never)
  const durability =
    off.length === 0
      ? finding('durability', 'ok', 'a commit is on disk')
      : finding('durability', 'fail', `${off.join(' and ')} off: a crash loses charges that clients were told of`)
  return [durability, await standbyOf(sql, facts)]
}

async function standbyOf(sql: SQL, facts: Facts): Promise<DatabaseFinding> {
  const { standby_names: names, standbys, synchronous_commit: commit } = facts
  if (names === '') {
    const [flag] = (await sql`SELECT pg_has_role('pg_monitor', 'member') AS sees`) as { sees: boolean }[]
    const seen = flag?.sees || standbys !== '' ? ` (standbys: ${standbys || 'none'})` : ''
    return finding('standby', 'warn', `none is synchronous${seen}: a failover can lose charges`)
  }
  if (commit === 'local') return finding('standby', 'fail', 'synchronous_commit is local: no commit waits for it')
  return finding('standby', 'ok', `a commit waits for ${names}`)
}

function healthOf(facts: Facts, offsetMs: number): readonly DatabaseFinding[] {
  const { statement_timeout: timeout, connections, connections_max: max, snapshot_s: snapshotS, instances } = facts
  const free = max - connections
  return [
    timeout === '0'
      ? finding('statement timeout', 'ok', 'none')
      : finding('statement timeout', 'warn', `${timeout} for this role: a long read ends with an error`),
    Math.abs(offsetMs) <= CLOCK_MS_MAX
      ? finding('clock', 'ok', `${offsetMs} ms from that of the database`)
      : finding('clock', 'warn', `${offsetMs} ms from that of the database: lists may show a different order`),
    free >= CONNECTIONS_PER_INSTANCE
      ? finding('database connections', 'ok', `${connections} of ${max}, with ${instances} instances`)
      : finding('database connections', 'warn', `${connections} of ${max}: one more instance needs up to 10`),
    (snapshotS ?? 0) <= SNAPSHOT_S_MAX
      ? finding('snapshots', 'ok', 'none is old')
      : finding('snapshots', 'warn', `one is ${Math.round(snapshotS ?? 0)} s old: busy accounts get slow`),
  ]
}
