/** `tollgate restore` puts a backup back in the data folder. The backup is verified before anything is replaced. */
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Result } from './admin/operations.ts'
import { verifyCopy } from './backup.ts'
import type { Config } from './config.ts'
import { DamagedSecret, writeSecret } from './lib/runtime/secret-file.ts'
import { findSecret, secretPlace } from './secrets.ts'
import { openCopy, type Manifest } from './store/copy.ts'
import { FileSwap } from './store/file-swap.ts'
import { lockFolder } from './store/lock.ts'
import { syncPath } from './store/migrate.ts'
import { foldDatabase, removeDatabase, replaceDatabase, stageBackup } from './store/replace.ts'
import { checkOf, readChecks, secretNames, type SecretName } from './store/secret-check.ts'
import { DATABASE } from './store/store.ts'

export type RestoreRequest = { readonly file: string; readonly existing: 'kept' | 'replaced' }

/**
 * The state of a secret relative to the restored database. `restored`: taken from the backup. `matches`: the secret in
 * place is the right one. `differs`: the secret in place is another one. `missing`: there is none. `unknown`: there is
 * one, but the backup is of a version that did not record which secret it needs.
 */
export type SecretState = 'restored' | 'matches' | 'differs' | 'missing' | 'unknown'

const refused = (code: 'conflict' | 'failed', message: string): Result => ({ ok: false, code, message })

/** Restores into the configured data folder. Throws `FolderInUse` while a server has it, and `DatabaseTooNew`. */
export async function restoreBackup(config: Config, request: RestoreRequest): Promise<Result> {
  const file = resolve(request.file)
  if (!existsSync(file)) return refused('failed', `there is no file ${file}`)
  if (!statSync(file).isFile()) return refused('failed', `${file} is not a file`)
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 })
  chmodSync(config.dataFolder, 0o700)
  const lock = lockFolder(config.dataFolder)
  const staged = join(config.dataFolder, `${DATABASE}.restoring`)
  try {
    const path = join(config.dataFolder, DATABASE)
    if (existsSync(path)) {
      if (realpathSync(path) === realpathSync(file)) return refused('conflict', `${file} is the database in place`)
      if (request.existing === 'kept')
        return refused('conflict', `${path} exists; --force restores anyway and keeps it under another name`)
    }
    return await restoreLocked(config, { file, path, staged })
  } finally {
    removeDatabase(staged)
    for (const name of secretNames) rmSync(stagedSecret(secretPlace(config, name).file), { force: true })
    lock.release()
  }
}

type Paths = { readonly file: string; readonly path: string; readonly staged: string }

async function restoreLocked(config: Config, { file, path, staged }: Paths): Promise<Result> {
  const startedMs = performance.now()
  const backup = stageBackup(file, staged)
  if (backup.kind === 'refused') return refused('failed', `nothing was changed: ${backup.message}`)
  const verdict = await verifyCopy(staged)
  if (verdict.kind === 'broken') return refused('failed', `nothing was changed: ${verdict.message}`)
  const checks = await checksOf(staged)
  const isReplaced = existsSync(path)
  const suffix = `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  const aside = `${path}.${suffix}`
  const swap = new FileSwap()
  const plans: SecretPlan[] = []
  try {
    foldDatabase(staged)
    for (const name of secretNames) {
      plans.push(planSecret(config, name, { given: secretOf(backup.manifest, name), check: checks.get(name) }))
    }
    for (const { install } of plans) if (install) writeStaged(install)
    // The database goes first. If the process dies after it, the next start refuses to run with the old secrets.
    replaceDatabase(swap, { staged, path, aside })
    for (const { install } of plans) if (install) putSecret(swap, install.file, suffix)
    syncPath(config.dataFolder)
  } catch (error) {
    const left = swap.takeBack()
    const outcome = left.length === 0 ? 'nothing was changed' : `not everything could be undone (${left.join('; ')})`
    return refused('failed', `${outcome}: ${(error as Error).message}`)
  }
  return {
    ok: true,
    value: {
      file,
      data_folder: config.dataFolder,
      made_at: backup.manifest ? new Date(backup.manifest.madeAtMs).toISOString() : null,
      made_by: backup.manifest?.program ?? null,
      schema_before: backup.schema,
      ...verdict.contents,
      verified: true,
      kept: isReplaced ? aside : null,
      secrets: Object.fromEntries(plans.map(({ name, state }) => [name, state])),
      problems: plans.flatMap(({ name, state }) => problemOf(config, name, state)),
      took_ms: Math.round(performance.now() - startedMs),
    },
  }
}

async function checksOf(staged: string): Promise<ReadonlyMap<SecretName, string>> {
  const copy = await openCopy(staged)
  try {
    return await readChecks(copy)
  } finally {
    await copy.close()
  }
}

const secretOf = (manifest: Manifest | undefined, name: SecretName): Uint8Array | undefined =>
  name === 'key_pepper' ? manifest?.keyPepper : manifest?.masterKey

/** What is done with a secret. It is decided before anything is changed. */
type SecretPlan = {
  readonly name: SecretName
  readonly state: SecretState
  /** Set if the backup's secret replaces the file. */
  readonly install: { readonly file: string; readonly secret: Uint8Array } | undefined
}

/** A secret from the environment comes first. It is in force whatever the file says. */
function planSecret(
  config: Config,
  name: SecretName,
  { given, check }: { given: Uint8Array | undefined; check: string | undefined },
): SecretPlan {
  const found = findWhole(config, name)
  const plan = (state: SecretState): SecretPlan => ({ name, state, install: undefined })
  const own = given ? checkOf(given) : check
  if (found instanceof Uint8Array && own === checkOf(found)) return plan('matches')
  const place = secretPlace(config, name)
  if (given && place.given === undefined) {
    return { name, state: 'restored', install: { file: place.file, secret: given } }
  }
  if (found === undefined) return plan('missing')
  return plan(own === undefined && found !== 'damaged' ? 'unknown' : 'differs')
}

/** A damaged file counts as a wrong secret. The caller sets it aside or reports it. */
function findWhole(config: Config, name: SecretName): Uint8Array | 'damaged' | undefined {
  try {
    return findSecret(config, name)
  } catch (error) {
    if (error instanceof DamagedSecret) return 'damaged'
    throw error
  }
}

const stagedSecret = (file: string): string => `${file}.restoring`

function writeStaged({ file, secret }: NonNullable<SecretPlan['install']>): void {
  rmSync(stagedSecret(file), { force: true }) // It is left when a process died during a restore.
  writeSecret(stagedSecret(file), secret)
}

/** Moves a staged secret into place. An existing file is kept beside it. */
function putSecret(swap: FileSwap, file: string, suffix: string): void {
  if (existsSync(file)) swap.keep(file, `${file}.${suffix}`)
  swap.rename(stagedSecret(file), file)
}

/** Instructions for the operator before the next start. */
function problemOf(config: Config, name: SecretName, state: SecretState): string[] {
  const { file, variable, given } = secretPlace(config, name)
  const place = given === undefined ? file : variable
  switch (state) {
    case 'matches':
    case 'restored':
      return []
    case 'missing':
      return [`${file} is missing: put it back (or set ${variable}) before the next start`]
    case 'differs':
      return [`${place} does not belong to this backup: put the right one back before the next start`]
    case 'unknown':
      return [`the backup does not say which secret it needs; keep ${place} as it was when the backup was made`]
  }
}
