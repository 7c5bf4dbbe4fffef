import { statement, type Row, type SqlValue, type WriteStep } from './statement.ts'

/** The two secrets that live beside the database. */
export type SecretName = 'key_pepper' | 'master_key'
export const secretNames = ['key_pepper', 'master_key'] as const

const upsertCheck = statement(
  'INSERT INTO secret_check (name, digest) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest',
)

type Queryable = { query(sql: string, bind?: readonly SqlValue[]): Promise<readonly Row[]> }

/** Tells a secret from another without telling it. No API key can have this text, so no digest of a key equals it. */
export const checkOf = (secret: Uint8Array): string =>
  new Bun.CryptoHasher('sha256', secret).update('tollgate: which secret is this').digest('hex')

/** The secrets a database belongs to, by their check. A database of before there were checks has none. */
export async function readChecks(store: Queryable): Promise<ReadonlyMap<SecretName, string>> {
  const rows = await store.query('SELECT name, digest FROM secret_check')
  return new Map(
    rows.map((row) => [row['name'] as SecretName, Buffer.from(row['digest'] as Uint8Array).toString('hex')]),
  )
}

/** The step that makes a secret the database's own. */
export const checkStep = (name: SecretName, secret: Uint8Array): WriteStep => ({
  run: upsertCheck,
  bind: [name, Buffer.from(checkOf(secret), 'hex')],
})
