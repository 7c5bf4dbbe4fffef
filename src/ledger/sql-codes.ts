/** Codes in SQL. They are stored by digest, like every secret that gives access to something. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeVoucher, voucherOf } from '../lib/primitives/signed-token.ts'
import { tokenDigest } from '../lib/primitives/token.ts'
import { statement, type Row, type SqlValue } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import type { Code, CodeDraft, CodeFilter, CodePage, Codes, NewBatch, Redemption } from './codes.ts'
import type { Ledger } from './ledger.ts'
import { reasonOfCode } from './system-reasons.ts'

const insert = statement(
  `INSERT INTO redemption_code (id, batch_id, digest, last4, amount, note, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
)
const redeem = statement(
  `UPDATE redemption_code SET redeemed_at = ?1, redeemed_by = ?2
   WHERE id = ?3 AND redeemed_at IS NULL AND voided_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)`,
)
const voidCode = statement(
  'UPDATE redemption_code SET voided_at = ? WHERE id = ? AND redeemed_at IS NULL AND voided_at IS NULL',
)

export const openSqlCodes = (store: Store, ledger: Ledger): Codes => new SqlCodes(store, ledger)

class SqlCodes implements Codes {
  private readonly store: Store
  private readonly ledger: Ledger

  constructor(store: Store, ledger: Ledger) {
    this.store = store
    this.ledger = ledger
  }

  async create({ count, amount, note, expiresAtMs }: CodeDraft): Promise<NewBatch> {
    const batchId = timeOrderedId('batch_')
    const nowMs = Date.now()
    const codes = Array.from({ length: count }, () => ({ id: timeOrderedId('code_'), secret: makeVoucher() }))
    const steps = codes.map(({ id, secret }) => {
      const bind = [id, batchId, tokenDigest(secret), secret.slice(-4), amount, note, nowMs, expiresAtMs ?? null]
      return { run: insert, bind }
    })
    await mustWrite(this.store, steps)
    return { batchId, codes }
  }

  async redeem(typed: string, { accountId }: { readonly accountId: string }): Promise<Redemption> {
    const secret = voucherOf(typed)
    if (secret === undefined) return { kind: 'void' }
    const sql = 'SELECT id, amount, note FROM redemption_code WHERE digest = ?'
    const [row] = await this.store.query(sql, [tokenDigest(secret)])
    if (!row) return { kind: 'void' }
    const id = row['id'] as string
    const amount = row['amount'] as bigint
    const note = row['note'] as string
    const { kind } = await this.ledger.adjust({
      accountId,
      amount,
      kind: 'credit',
      ref: `code:${id}`,
      reason: reasonOfCode(secret.slice(-4), note),
      provided: { run: redeem, bind: [Date.now(), accountId, id], changes: 1 },
    })
    if (kind === 'booked') return { kind: 'redeemed', id, amount }
    return kind === 'too_large' ? { kind } : { kind: 'void' }
  }

  async void(id: string): Promise<boolean> {
    const outcome = await this.store.write([{ run: voidCode, bind: [Date.now(), id], changes: 1 }])
    return outcome.kind === 'written'
  }

  async list({ before, limit, ...filter }: CodeFilter & CodePage): Promise<readonly Code[]> {
    const { where, bind } = conditionsOf(filter)
    const sql = `SELECT * FROM redemption_code WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ?`
    return (await this.store.query(sql, [...bind, before ?? 'code_~', limit])).map(codeOf)
  }

  async count(filter: CodeFilter): Promise<number> {
    const { where, bind } = conditionsOf(filter)
    const [row] = await this.store.query(`SELECT count(*) AS n FROM redemption_code WHERE ${where}`, bind)
    return Number(row?.['n'] ?? 0)
  }

  async codeOfSecret(typed: string): Promise<Code | undefined> {
    const secret = voucherOf(typed)
    if (secret === undefined) return undefined
    const [row] = await this.store.query('SELECT * FROM redemption_code WHERE digest = ?', [tokenDigest(secret)])
    return row && codeOf(row)
  }

  async find(id: string): Promise<Code | undefined> {
    const [row] = await this.store.query('SELECT * FROM redemption_code WHERE id = ?', [id])
    return row && codeOf(row)
  }
}

const OPEN = 'redeemed_at IS NULL AND voided_at IS NULL'
/** `replace` is the only function of both databases that searches a text. It changes a text that has the word. */
const SHOWN = "lower(note || ' …' || last4)"
const FOUND = `replace(${SHOWN}, ?, '') <> ${SHOWN}`

type Condition = { readonly sql: string; readonly bind: readonly SqlValue[] }

function inState(state: Code['state'], nowMs: number): Condition {
  switch (state) {
    case 'open':
      return { sql: `${OPEN} AND (expires_at IS NULL OR expires_at > ?)`, bind: [nowMs] }
    case 'expired':
      return { sql: `${OPEN} AND expires_at <= ?`, bind: [nowMs] }
    case 'redeemed':
      return { sql: 'redeemed_at IS NOT NULL', bind: [] }
    case 'voided':
      return { sql: 'redeemed_at IS NULL AND voided_at IS NOT NULL', bind: [] }
  }
}

function conditionsOf({ batchId, state, text }: CodeFilter): { readonly where: string; readonly bind: SqlValue[] } {
  const wanted = text?.trim().toLowerCase()
  const conditions: Condition[] = [
    ...(batchId === undefined ? [] : [{ sql: 'batch_id = ?', bind: [batchId] }]),
    ...(state === undefined ? [] : [inState(state, Date.now())]),
    ...(wanted ? [{ sql: FOUND, bind: [wanted] }] : []),
  ]
  return {
    where: ['TRUE', ...conditions.map(({ sql }) => sql)].join(' AND '),
    bind: conditions.flatMap(({ bind }) => bind),
  }
}

function codeOf(row: Row): Code {
  const time = (name: string): number | undefined => (row[name] === null ? undefined : Number(row[name]))
  const expiresAtMs = time('expires_at')
  const isLate = expiresAtMs !== undefined && expiresAtMs <= Date.now()
  const open = isLate ? 'expired' : 'open'
  return {
    id: row['id'] as string,
    batchId: row['batch_id'] as string,
    last4: row['last4'] as string,
    amount: row['amount'] as bigint,
    note: row['note'] as string,
    state: row['redeemed_at'] !== null ? 'redeemed' : row['voided_at'] !== null ? 'voided' : open,
    createdAtMs: Number(row['created_at']),
    expiresAtMs,
    redeemedAtMs: time('redeemed_at'),
    redeemedBy: (row['redeemed_by'] as string | null) ?? undefined,
  }
}
