/** `tollgate restore`: a backup back in the data folder, verified before anything is replaced. */
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
 * How a secret stands to the restored database: `restored` from the backup; there already and it `matches`; there but
 * it `differs`; `missing`; or there, and the backup is of a version that did not say which it belongs to (`unknown`).
 */
export type SecretState = 'restored' | 'matches' | 'differs' | 'missing' | 'unknown'

const refused = (code: 'conflict' | 'failed', message: string): Result => ({ ok: false, code, message })

/** Restores into the configured data folder. Throws FolderInUse while a server has it, DatabaseTooNew. */
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
        return refused('conflict', `${path} exists; --force restores all the same and keeps it under another name`)
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
    // The database first: a process that dies behind it leaves one that refuses to start with the secrets there are.
    replaceDatabase(swap, { staged, path, aside })
    for (const { install } of plans) if (install) putSecret(swap, install.file, suffix)
    syncPath(config.dataFolder)
  } catch (error) {
    const left = swap.takeBack()
    const outcome = left.length === 0 ? 'nothing was changed' : `not all of it could be undone (${left.join('; ')})`
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

/** What becomes of a secret, decided before anything is changed. */
type SecretPlan = {
  readonly name: SecretName
  readonly state: SecretState
  /** Set where the backup's own takes the place of the file. */
  readonly install: { readonly file: string; readonly secret: Uint8Array } | undefined
}

/** The environment goes first: what it gives is in force, and no file would change that. */
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

/** A damaged file is another secret than the right one, no more: what follows sets it aside or says so. */
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
  rmSync(stagedSecret(file), { force: true }) // Of a process that died over it.
  writeSecret(stagedSecret(file), secret)
}

/** Puts a written secret in its place; another one there is kept beside it. */
function putSecret(swap: FileSwap, file: string, suffix: string): void {
  if (existsSync(file)) swap.keep(file, `${file}.${suffix}`)
  swap.rename(stagedSecret(file), file)
}

/** What the operator has to do before the next start. */
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
      return [`${place} is not the one of this backup: put the right one back before the next start`]
    case 'unknown':
      return [`the backup does not say whether ${place} is its own; keep it as it was when the backup was made`]
  }
}
