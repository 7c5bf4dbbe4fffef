/** The instances that share a database, as its rows show them. */
import type { Queryable } from '../store.ts'

export type ServingInstance = {
  readonly id: string
  readonly state: 'alive' | 'draining'
  /** The number of its last batch of writes. */
  readonly batch: number
  readonly version: string | null
  /** The name of its machine, and its process id there. */
  readonly process: string | null
  /** The time since its last sign of life, by the clock of the database. */
  readonly silentMs: number
}

/** Instances that have not ended. One that was killed is among them until another one has declared it dead. */
export async function servingInstances(store: Queryable): Promise<readonly ServingInstance[]> {
  const rows = await store.query(
    `SELECT id, state, batch, version, process,
       round(1000 * extract(epoch FROM clock_timestamp() - beat))::bigint AS silent_ms
     FROM instance WHERE state IN ('alive', 'draining') ORDER BY id`,
  )
  return rows.map((row) => ({
    id: row['id'] as string,
    state: row['state'] as ServingInstance['state'],
    batch: Number(row['batch']),
    version: row['version'] as string | null,
    process: row['process'] as string | null,
    silentMs: Number(row['silent_ms']),
  }))
}

/** How many migrations the database has had. */
export async function schemaVersion(store: Queryable): Promise<number> {
  const [row] = await store.query('SELECT version FROM schema_version')
  return Number(row?.['version'])
}
