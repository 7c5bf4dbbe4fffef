/** `tollgate db`: the schema, the state and the contents of the database that instances share. */
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Result } from './admin/operations.ts'
import { verifyCopy } from './backup.ts'
import { appliedAt } from './catalog/applied-declaration.ts'
import type { Config } from './config.ts'
import { alsoOnExpiry, verifyBooks } from './gateway.ts'
import { timeOrderedId } from './lib/primitives/ids.ts'
import { expireOrphans } from './ledger/sqlite-expiry.ts'
import { secretMismatch } from './secrets.ts'
import { openCopy } from './store/copy.ts'
import { lockFolder } from './store/lock.ts'
import { migrate } from './store/migrate.ts'
import { examineDatabase } from './store/postgres/examination.ts'
import { schemaVersion, servingInstances, type ServingInstance } from './store/postgres/instances.ts'
import { postgresSchema } from './store/postgres/migrate.ts'
import { openPostgresStore } from './store/postgres/store.ts'
import {
  copyToPostgres,
  copyToSqlite,
  differingPart,
  TargetNotEmpty,
  type CopiedRows,
} from './store/postgres/transfer.ts'
import { DATABASE, openStore, type Store } from './store/store.ts'

const refused = (code: 'conflict' | 'failed', message: string): Result => ({ ok: false, code, message })

/** The process would otherwise go on with a store that did not write. */
const onFatal = (message: string): never => {
  throw new Error(message)
}

const SECRETS_OF_FOLDER = 'Set the secrets of the folder (its key.pepper and master.key) in the environment'

type SharedConfig = Config & { readonly databaseUrl: string }

/** Runs `use` with a configuration that names a database. Other configurations are refused. */
async function withDatabase(config: Config, use: (config: SharedConfig) => Promise<Result>): Promise<Result> {
  const { databaseUrl } = config
  if (databaseUrl !== undefined) return use({ ...config, databaseUrl })
  return refused('failed', 'TOLLGATE_DATABASE_URL is not set: the data folder holds everything')
}

/**
 * Opens the database, which makes or upgrades its tables, while `use` runs. Whoever writes is an instance, also this
 * command, but it serves nobody.
 */
async function onDatabase<T>(
  { databaseUrl, dataFolder }: SharedConfig,
  use: (store: Store, serving: () => Promise<readonly ServingInstance[]>) => Promise<T>,
): Promise<T> {
  const instance = timeOrderedId('run_')
  const store = await openPostgresStore(databaseUrl, { folder: dataFolder, instance, onFatal })
  try {
    return await use(store, async () => (await servingInstances(store)).filter(({ id }) => id !== instance))
  } finally {
    await store.close()
  }
}

/** Makes or upgrades the tables. The value is that of `databaseStatus`. */
export const migrateDatabase = (config: Config): Promise<Result> =>
  withDatabase(config, (shared) =>
    onDatabase(shared, async (store, serving) => ({ ok: true, value: await statusOf(store, serving) })),
  )

/** The schema, the declaration and the instances. It changes nothing. */
export const databaseStatus = (config: Config): Promise<Result> =>
  withDatabase(config, async (shared) => {
    const { applied, known } = await postgresSchema(shared.databaseUrl)
    if (applied === known)
      return onDatabase(shared, async (store, serving) => ({ ok: true, value: await statusOf(store, serving) }))
    const value = { schema: applied, schema_known: known, declaration_applied_at: null, instances: [] }
    return { ok: true, value }
  })

/** What doctor says of the database. The value is a list of `DatabaseFinding`. */
export const databaseFindings = (config: Config): Promise<Result> =>
  withDatabase(config, async ({ databaseUrl }) => ({ ok: true, value: await examineDatabase(databaseUrl) }))

async function statusOf(store: Store, serving: () => Promise<readonly ServingInstance[]>): Promise<object> {
  const [schema, instances, appliedAtMs] = await Promise.all([schemaVersion(store), serving(), appliedAt(store)])
  return {
    schema,
    schema_known: schema,
    declaration_applied_at: appliedAtMs === undefined ? null : new Date(appliedAtMs).toISOString(),
    instances: instances.map(({ silentMs, ...instance }) => ({ ...instance, silent_ms: silentMs })),
  }
}

/**
 * Copies a data folder into the empty database and verifies that the books are the same. Holds that a former process
 * left open in the folder expire first, as at its next start. Throws `FolderInUse` while a server has the folder.
 */
export const importFolder = (config: Config, from: string): Promise<Result> =>
  withDatabase(config, async (shared) => {
    const folder = resolve(from)
    const path = join(folder, DATABASE)
    if (!existsSync(path)) return refused('failed', `${folder} is not a data folder`)
    const startedMs = performance.now()
    const source = await openStore(folder, onFatal)
    let expired: number
    try {
      const problem = await secretMismatch(shared, source)
      if (problem !== undefined) return refused('failed', `nothing was copied: ${problem}. ${SECRETS_OF_FOLDER}`)
      expired = await expireOrphans(source, alsoOnExpiry)
    } finally {
      await source.close()
    }
    // The folder is locked again, so that no server starts on it meanwhile.
    const lock = lockFolder(folder)
    try {
      return await onDatabase(shared, async (target) => {
        const rows = await copyToPostgres(path, shared.databaseUrl)
        const problem = await differenceOf(path, target).catch((error: Error) => error.message)
        if (problem !== undefined) return refused('failed', `${problem}; empty the database before the next try`)
        return { ok: true, value: { ...report(rows, startedMs), folder, expired_holds: expired } }
      })
    } catch (error) {
      if (error instanceof TargetNotEmpty) return refused('conflict', `nothing was copied: ${error.message}`)
      throw error
    } finally {
      lock.release()
    }
  })

/** Copies the database into a new data folder and verifies it. Refused while an instance serves. */
export const exportFolder = (config: Config, to: string): Promise<Result> =>
  withDatabase(config, async (shared) => {
    const folder = resolve(to)
    const path = join(folder, DATABASE)
    if (existsSync(path)) return refused('conflict', `${path} exists: name another folder`)
    const startedMs = performance.now()
    return onDatabase(shared, async (source, instances) => {
      const serving = (await instances()).filter(({ silentMs }) => silentMs < SILENT_MS)
      const names = serving.map(({ id }) => id).join(', ')
      if (serving.length > 0) return refused('conflict', `${names} still serve: stop all instances first`)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      chmodSync(folder, 0o700)
      const lock = lockFolder(folder)
      try {
        migrate(path)
        chmodSync(path, 0o600)
        const rows = await copyToSqlite(shared.databaseUrl, path)
        const verdict = await verifyCopy(path)
        const problem = verdict.kind === 'broken' ? verdict.message : await differenceOf(path, source)
        if (problem !== undefined) throw new Error(problem)
        return { ok: true, value: { ...report(rows, startedMs), folder } }
      } catch (error) {
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
        return refused('failed', `nothing was written: ${(error as Error).message}`)
      } finally {
        lock.release()
      }
    })
  })

const report = (rows: CopiedRows, startedMs: number): object => ({
  rows,
  verified: true,
  took_ms: Math.round(performance.now() - startedMs),
})

/** An instance that was killed counts as serving until another one has declared it dead, or for this time. */
const SILENT_MS = 30_000

/** What is wrong with a copy, or undefined if every balance and every sum is the same and the books agree. */
async function differenceOf(path: string, database: Store): Promise<string | undefined> {
  const folder = await openCopy(path)
  try {
    const different = await differingPart(folder, database)
    if (different !== undefined) return `the ${different} of the copy differ`
    const [finding] = await verifyBooks(database, timeOrderedId('run_'))
    return finding && `the copy breaks ${finding.invariant}: ${finding.subject}, ${finding.detail}`
  } finally {
    await folder.close()
  }
}
