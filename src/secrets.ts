/** The key pepper and the master key. They are made at first use, and each is bound to one database. */
import { join } from 'node:path'
import type { Config } from './config.ts'
import { makeSecret, readSecret, writeSecret } from './lib/runtime/secret-file.ts'
import { checkOf, checkStep, readChecks, secretNames, type SecretName } from './store/secret-check.ts'
import { mustWrite, type Queryable, type Store } from './store/store.ts'

export type Secrets = Readonly<Record<SecretName, Uint8Array>>

type Place = { readonly file: string; readonly variable: string; readonly given: string | undefined }

class SecretMismatch extends Error {
  override readonly name = 'SecretMismatch'
}

/** The source of a secret: its variable if it is set, and its file otherwise. */
export const secretPlace = (config: Config, name: SecretName): Place =>
  name === 'key_pepper'
    ? { file: join(config.dataFolder, 'key.pepper'), variable: 'TOLLGATE_KEY_PEPPER', given: config.keyPepper }
    : { file: join(config.dataFolder, 'master.key'), variable: 'TOLLGATE_MASTER_KEY', given: config.masterKey }

/** The secret that is in force, or undefined if there is none yet. */
export function findSecret(config: Config, name: SecretName): Uint8Array | undefined {
  const { file, given } = secretPlace(config, name)
  return readSecret(file, given)
}

/** The consequence when a database runs under another secret than its own. */
const lossOf: Readonly<Record<SecretName, string>> = {
  key_pepper: 'every API key made so far would be refused',
  master_key: 'every stored vendor credential would be unreadable',
}

/**
 * The secrets of a database. New ones are made only for a database that has none yet. Throws `SecretMismatch` if the
 * secrets belong to another database. A server that started anyway would answer 401 to every customer.
 */
export async function openSecrets(config: Config, store: Store): Promise<Secrets> {
  const checks = await readChecks(store)
  const open = async (name: SecretName): Promise<Uint8Array> => {
    const own = checks.get(name)
    const found = findSecret(config, name)
    if (own === undefined) return adopt(config, store, name)
    if (found && checkOf(found) === own) return found
    const { file, variable, given } = secretPlace(config, name)
    const place = given === undefined ? file : variable
    throw new SecretMismatch(
      `${place} ${found ? 'is not the one of this database' : 'is missing'}: ${lossOf[name]}. ` +
        `Put the right one back (${file} or ${variable}); if it is lost: tollgate adopt-secrets`,
    )
  }
  return { key_pepper: await open('key_pepper'), master_key: await open('master_key') }
}

/** Why a database does not belong to the configured secrets, or undefined if it does. Nothing is made or written. */
export async function secretMismatch(config: Config, store: Queryable): Promise<string | undefined> {
  const checks = await readChecks(store)
  for (const name of secretNames) {
    const found = findSecret(config, name)
    const own = checks.get(name)
    if (own === undefined || (found && checkOf(found) === own)) continue
    return `${secretPlace(config, name).variable} is not the secret of this database: ${lossOf[name]}`
  }
  return undefined
}

/** What happened to each secret. `unchanged`: it already belonged to the database. `adopted`: it does from now on. */
export type SecretAdoption = Readonly<Record<SecretName, 'unchanged' | 'adopted'>>

/** Binds the secrets in force, or new ones, to the database. This is for secrets that were lost or replaced. */
export async function adoptSecrets(config: Config, store: Store): Promise<SecretAdoption> {
  const checks = await readChecks(store)
  const outcome: Record<SecretName, 'unchanged' | 'adopted'> = { key_pepper: 'unchanged', master_key: 'unchanged' }
  for (const name of secretNames) {
    if (checkOf(await adopt(config, store, name)) !== checks.get(name)) outcome[name] = 'adopted'
  }
  return outcome
}

async function adopt(config: Config, store: Store, name: SecretName): Promise<Uint8Array> {
  const found = findSecret(config, name)
  const secret = found ?? makeSecret()
  if (!found) writeSecret(secretPlace(config, name).file, secret)
  await mustWrite(store, [checkStep(name, secret)])
  return secret
}
