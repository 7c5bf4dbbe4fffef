/** Accounts and keys as rows: the statements that write them, and what the rows say. */
import type { Account, AccountStatus, ApiKey } from '../domain/account.ts'
import type { PriceOrigin } from '../domain/catalog.ts'
import { limitsOf } from '../domain/limits.ts'
import { statement, type Row, type SqlValue, type Statement, type WriteStep } from '../store/statement.ts'

export const insertAccount = statement(
  'INSERT INTO account (id, name, status, allowed_models, limits, declared, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
/** Each field has its own statement, so that two instances that change different fields both succeed. */
export const update = {
  account: {
    status: statement('UPDATE account SET status = ? WHERE id = ?'),
    allowedModels: statement('UPDATE account SET allowed_models = ? WHERE id = ?'),
    limits: statement('UPDATE account SET limits = ? WHERE id = ?'),
    lowBalance: statement('UPDATE account SET low_balance = ? WHERE id = ?'),
    origin: statement('UPDATE account SET declared = ? WHERE id = ?'),
  },
  key: {
    name: statement('UPDATE api_key SET name = ? WHERE id = ?'),
    allowedModels: statement('UPDATE api_key SET allowed_models = ? WHERE id = ?'),
    limits: statement('UPDATE api_key SET limits = ? WHERE id = ?'),
  },
}
export const insertKey = statement(
  'INSERT INTO api_key (id, account_id, name, kind, digest, last4, allowed_models, limits, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
)
export const revokeKey = statement('UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')

const listOf = (text: unknown): readonly string[] | undefined =>
  typeof text === 'string' ? (JSON.parse(text) as string[]) : undefined
export const jsonOf = (list: readonly string[] | undefined): string | null => (list ? JSON.stringify(list) : null)

export const declaredFlag = (origin: PriceOrigin): 0 | 1 => (origin === 'declared' ? 1 : 0)

export const readAccount = (row: Row): Account => ({
  id: row['id'] as string,
  name: row['name'] as string,
  status: row['status'] as AccountStatus,
  allowedModels: listOf(row['allowed_models']),
  limits: limitsOf(row['limits'] as string | null),
  lowBalance: (row['low_balance'] as bigint | null) ?? undefined,
  origin: row['declared'] === 1n ? 'declared' : 'stored',
  createdAtMs: Number(row['created_at']),
})

export const readKey = (row: Row): ApiKey => ({
  id: row['id'] as string,
  accountId: row['account_id'] as string,
  name: row['name'] as string,
  kind: row['kind'] as ApiKey['kind'],
  last4: row['last4'] as string,
  allowedModels: listOf(row['allowed_models']),
  limits: limitsOf(row['limits'] as string | null),
  createdAtMs: Number(row['created_at']),
  revokedAtMs: row['revoked_at'] === null ? undefined : Number(row['revoked_at']),
})

/** The steps that set the fields that a change names. */
export const fieldSteps = <Field extends string>(
  id: string,
  statements: Readonly<Record<Field, Statement>>,
  values: Readonly<Record<Field, SqlValue | undefined>>,
): WriteStep[] =>
  (Object.keys(statements) as Field[]).flatMap((field) => {
    const value = values[field]
    return value === undefined ? [] : [{ run: statements[field], bind: [value, id], changes: 1 }]
  })
