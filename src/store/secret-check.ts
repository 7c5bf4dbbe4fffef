import { statement, type Row, type SqlValue, type WriteStep } from './statement.ts'

/** The two secrets that are kept beside the database. */
export type SecretName = 'key_pepper' | 'master_key'
export const secretNames = ['key_pepper', 'master_key'] as const

const upsertCheck = statement(
  'INSERT INTO secret_check (name, digest) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest',
)

type Queryable = { query(sql: string, bind?: readonly SqlValue[]): Promise<readonly Row[]> }

/** Identifies a secret without revealing it. No API key can have this text, so no digest of a key equals it. */
export const checkOf = (secret: Uint8Array): string =>
  new Bun.CryptoHasher('sha256', secret).update('tollgate: which secret is this').digest('hex')

/** The checks of the secrets that the database belongs to. An old database may have none. */
export async function readChecks(store: Queryable): Promise<ReadonlyMap<SecretName, string>> {
  const rows = await store.query('SELECT name, digest FROM secret_check')
  return new Map(
    rows.map((row) => [row['name'] as SecretName, Buffer.from(row['digest'] as Uint8Array).toString('hex')]),
  )
}

/** The step that binds a secret to the database. */
export const checkStep = (name: SecretName, secret: Uint8Array): WriteStep => ({
  run: upsertCheck,
  bind: [name, Buffer.from(checkOf(secret), 'hex')],
})
