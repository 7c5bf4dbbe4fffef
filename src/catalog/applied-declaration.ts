/**
 * The declaration that a shared database follows. Instances do not apply their own declarations at each start, because
 * two that differ would undo each other's changes during an update. `tollgate apply` does.
 */
import { statement, type WriteStep } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import type { CatalogOptions } from './catalog.ts'

const upsertApplied = statement(
  `INSERT INTO applied_declaration (id, digest, applied_at) VALUES (1, ?, ?)
   ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, applied_at = excluded.applied_at`,
)

/** What identifies a declaration: everything in it except the secrets, which are not stored. */
export function declarationDigest(declared: CatalogOptions['declared'] & { readonly accounts: unknown }): string {
  const text = JSON.stringify(declared, (key, value: unknown) => {
    if (key === 'secret') return value !== undefined
    // The values of headers and parameters may be secrets, too.
    if (key === 'headers' || key === 'query') return value && Object.keys(value)
    return typeof value === 'bigint' ? String(value) : value
  })
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

/** The digest of the declaration that was applied last, or undefined if none was. */
export async function appliedDigest(store: Queryable): Promise<string | undefined> {
  const [row] = await store.query('SELECT digest FROM applied_declaration')
  return row?.['digest'] as string | undefined
}

export const appliedStep = (digest: string): WriteStep => ({ run: upsertApplied, bind: [digest, Date.now()] })

/** When a declaration was applied last, or undefined if none was. */
export async function appliedAt(store: Queryable): Promise<number | undefined> {
  const [row] = await store.query('SELECT applied_at FROM applied_declaration')
  return row && Number(row['applied_at'])
}
