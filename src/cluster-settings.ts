/** The settings of several instances: the database that they share, and the processes of one machine. */
import { maskedAddress } from './lib/primitives/masked-address.ts'
import { ConfigError, integer, type Environment } from './setting.ts'

const SECRETS = ['TOLLGATE_KEY_PEPPER', 'TOLLGATE_MASTER_KEY'] as const

/** Secrets that one instance made would be unknown to the others, so a shared database needs given ones. */
export function databaseUrl(env: Environment): string | undefined {
  const text = env['TOLLGATE_DATABASE_URL']
  if (!text) return undefined
  if (!URL.canParse(text) || !/^postgres(?:ql)?:$/.test(new URL(text).protocol)) {
    const wanted = 'an address such as postgres://user:password@host:5432/database'
    throw new ConfigError(`TOLLGATE_DATABASE_URL must be ${wanted}, not '${maskedAddress(text)}'`)
  }
  const missing = SECRETS.filter((name) => !env[name])
  if (missing.length === 0) return text
  throw new ConfigError(`with TOLLGATE_DATABASE_URL, set ${missing.join(' and ')} too (openssl rand -hex 32)`)
}

export type WorkerSettings = {
  /** The serving processes on this port, each an instance. Above 1 only with a database. */
  readonly workers: number
  /** The number of this process among them. The first one starts the others. */
  readonly worker: number
}

/** More processes than this have other bounds, such as the connections of the database. */
const WORKERS_MAX = 64

export function workersOf(env: Environment): WorkerSettings {
  const bounds = { fallback: 1, min: 1, max: WORKERS_MAX }
  const workers = integer(env, 'TOLLGATE_WORKERS', bounds)
  if (workers > 1 && !env['TOLLGATE_DATABASE_URL']) {
    throw new ConfigError('TOLLGATE_WORKERS needs TOLLGATE_DATABASE_URL: a data folder belongs to one process')
  }
  // Elsewhere the system does not share the connections among the processes of a port.
  if (workers > 1 && process.platform !== 'linux') throw new ConfigError('TOLLGATE_WORKERS needs Linux')
  return { workers, worker: integer(env, 'TOLLGATE_WORKER', bounds) }
}
