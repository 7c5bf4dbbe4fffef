/** `tollgate backup`: a verified copy of the database in one file, made while serving. */
import { existsSync, realpathSync, rmSync } from 'node:fs'
import { open, rename, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import type { BackupRequest, Result } from './admin/operations.ts'
import { countLedger, verifyLedger } from './ledger/verify.ts'
import type { Finding } from './lib/primitives/checks.ts'
import type { Secrets } from './secrets.ts'
import { openCopy, writeManifest } from './store/copy.ts'
import { DATABASE, type Store } from './store/store.ts'
import { MIB } from './lib/primitives/units.ts'
import { limit } from './lib/primitives/limit.ts'

/** What a verified copy holds. */
export type Contents = {
  /** How many migrations the database has had. */
  readonly schema: number
  readonly accounts: number
  readonly bookings: number
  readonly charges: number
  readonly open_holds: number
}

/** What the checks of a copy found. */
export type BackupCheck =
  | { readonly kind: 'sound'; readonly contents: Contents }
  | { readonly kind: 'broken'; readonly message: string }

/** Free space that a backup leaves on the disk. A backup must never fill the disk under a serving gateway. */
const SPARE_BYTES = limit(
  'backupSpareBytes',
  64 * MIB,
  'A backup that would leave less free space on the disk is refused.',
)

/**
 * The operation `backup` of one gateway. It runs once at a time, because two copies would compete for disk space.
 * `files` is where images and videos are. They are not in a backup, and its answer says so.
 */
export function createBackup(
  store: Store,
  secrets: Secrets,
  files: string,
): (request: BackupRequest) => Promise<Result> {
  let isRunning = false
  return async (request) => {
    if (isRunning) return { ok: false, code: 'conflict', message: 'a backup is already running' }
    isRunning = true
    try {
      const made = await makeBackup(store, secrets, request)
      return made.ok ? { ok: true, value: { ...(made.value as object), files_left_out: files } } : made
    } finally {
      isRunning = false
    }
  }
}

const refused = (code: 'conflict' | 'failed', message: string): Result => ({ ok: false, code, message })

async function makeBackup(store: Store, secrets: Secrets, request: BackupRequest): Promise<Result> {
  const file = resolve(request.file)
  const problem = await problemOf(store, { ...request, file })
  if (problem) return problem
  const unfinished = join(dirname(file), `.${basename(file)}.tmp`)
  const made = await copyTo(store, secrets, { ...request, file, unfinished })
  return withoutRemains(made, [unfinished, `${unfinished}-journal`])
}

type UnfinishedBackup = BackupRequest & { readonly unfinished: string }

async function copyTo(store: Store, secrets: Secrets, request: UnfinishedBackup): Promise<Result> {
  const { file, unfinished } = request
  const startedMs = performance.now()
  try {
    rmSync(unfinished, { force: true }) // It is left when a process died during a backup.
    const madeAtMs = Date.now()
    await store.copy(unfinished)
    const own = request.secrets === 'included' ? secrets : undefined
    writeManifest(unfinished, {
      madeAtMs,
      program: manifest.version,
      keyPepper: own?.key_pepper,
      masterKey: own?.master_key,
    })
    const verdict = await verifyCopy(unfinished)
    if (verdict.kind === 'broken') return refused('failed', `nothing was written: ${verdict.message}`)
    await sync(unfinished)
    await rename(unfinished, file)
    await sync(dirname(file))
    return {
      ok: true,
      value: {
        file,
        bytes: (await stat(file)).size,
        made_at: new Date(madeAtMs).toISOString(),
        ...verdict.contents,
        secrets: request.secrets,
        verified: true,
        took_ms: Math.round(performance.now() - startedMs),
      },
    }
  } catch (error) {
    return refused('failed', `no backup was made: ${backupErrorText(error, dirname(file))}`)
  }
}

const FORBIDDEN = new Set(['EROFS', 'EACCES', 'EPERM'])

/**
 * Under systemd, a server sees most of the machine as read-only, whatever the mode of the folder is. The message says
 * so.
 */
export function backupErrorText(error: unknown, folder: string): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  if (!FORBIDDEN.has(code)) return message
  return `the server may not write to ${folder} (${code}); under systemd, name that folder in ReadWritePaths=`
}

/** Removes the temporary files of a copy. They may hold secrets, so the message names those that cannot be removed. */
function withoutRemains(made: Result, files: readonly string[]): Result {
  for (const file of files) {
    try {
      rmSync(file, { force: true })
    } catch {
      if (!made.ok && existsSync(file)) return { ...made, message: `${made.message}; ${file} could not be removed` }
    }
  }
  return made
}

const IN_POSTGRES = 'instances share a PostgreSQL database: back that up with its own means, see docs/cluster.md'

/** The reason why a backup cannot start, if there is one. */
async function problemOf(store: Store, { file, existing }: BackupRequest): Promise<Result | undefined> {
  if (store.instance !== undefined) return refused('failed', IN_POSTGRES)
  const folder = dirname(file)
  if (!existsSync(folder)) return refused('failed', `there is no folder ${folder}`)
  if (realpathSync(folder) === realpathSync(store.folder)) {
    return refused('conflict', 'a backup cannot go into the data folder itself: name another folder, or one inside it')
  }
  if (existsSync(file)) {
    if (!(await stat(file)).isFile()) return refused('conflict', `${file} is not a file`)
    if (existing === 'kept') return refused('conflict', `${file} already exists; --force replaces it`)
  }
  const [{ size }, { bavail, bsize }] = await Promise.all([stat(join(store.folder, DATABASE)), statfs(folder)])
  if (bavail * bsize >= size + SPARE_BYTES) return undefined
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`
  return refused(
    'failed',
    `${folder} has ${megabytes(bavail * bsize)} free, ${megabytes(size + SPARE_BYTES)} are needed`,
  )
}

/** Reads a whole copy: every page, then every invariant of the ledger. It runs on another thread. */
export async function verifyCopy(path: string): Promise<BackupCheck> {
  const copy = await openCopy(path)
  try {
    const pages = (await copy.query('PRAGMA integrity_check')).map((row) => String(row['integrity_check']))
    if (pages[0] !== 'ok')
      return { kind: 'broken', message: `the database is damaged: ${pages.slice(0, 3).join('; ')}` }
    const findings = await verifyLedger(copy)
    if (findings.length > 0) return { kind: 'broken', message: `the ledger is broken: ${listed(findings)}` }
    const [version] = await copy.query('PRAGMA user_version')
    const { accounts, bookings, charges, openHolds } = await countLedger(copy)
    const schema = Number(version?.['user_version'])
    return { kind: 'sound', contents: { schema, accounts, bookings, charges, open_holds: openHolds } }
  } finally {
    await copy.close()
  }
}

const listed = (findings: readonly Finding[]): string =>
  findings
    .slice(0, 3)
    .map(({ invariant, subject, detail }) => `${invariant}: ${subject} (${detail})`)
    .join('; ')

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
