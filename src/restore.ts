/** `tollgate restore`: a backup back in the data folder, verified before anything is replaced. */
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Result } from './admin/operations.ts'
import { verifyCopy } from './backup.ts'
import type { Config } from './config.ts'
import { writeSecret } from './lib/secret-file.ts'
import { findSecret, secretPlace } from './secrets.ts'
import { openCopy, type Manifest } from './store/copy.ts'
import { lockFolder } from './store/lock.ts'
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
  if (!existsSync(file) || !statSync(file).isFile()) return refused('failed', `there is no file ${file}`)
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
  foldDatabase(staged)
  const suffix = `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  const secretState = (name: SecretName): SecretState => {
    const given = backup.manifest && secretOf(backup.manifest, name)
    return given ? installSecret(config, name, { given, suffix }) : compareSecret(config, name, checks.get(name))
  }
  const states = { key_pepper: secretState('key_pepper'), master_key: secretState('master_key') }
  const isReplaced = existsSync(path)
  const aside = `${path}.${suffix}`
  replaceDatabase(staged, { path, aside })
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
      secrets: states,
      problems: secretNames.flatMap((name) => problemOf(config, name, states[name])),
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

const secretOf = (manifest: Manifest, name: SecretName): Uint8Array | undefined =>
  name === 'key_pepper' ? manifest.keyPepper : manifest.masterKey

/** Writes a backup's secret to its file; another one there is kept beside it. The environment goes first. */
function installSecret(
  config: Config,
  name: SecretName,
  { given, suffix }: { given: Uint8Array; suffix: string },
): SecretState {
  const found = findSecret(config, name)
  if (found && checkOf(found) === checkOf(given)) return 'matches'
  const place = secretPlace(config, name)
  if (found && place.given !== undefined) return 'differs'
  if (found) renameSync(place.file, `${place.file}.${suffix}`)
  writeSecret(place.file, given)
  return 'restored'
}

function compareSecret(config: Config, name: SecretName, check: string | undefined): SecretState {
  const found = findSecret(config, name)
  if (!found) return 'missing'
  if (check === undefined) return 'unknown'
  return checkOf(found) === check ? 'matches' : 'differs'
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
