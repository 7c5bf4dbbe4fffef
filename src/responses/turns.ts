/**
 * Stored turns of conversations. Every read and write is one account's: there is no way to ask for a turn by its id
 * alone. A turn is written in the transaction that resolves its request's hold, so that it is there exactly when its
 * charge is.
 */
import type { KeptTurn, PastTurn } from '../formats/format.ts'
import { statement, type Row, type Step } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'

/** Whose turns are meant. */
export type AccountScope = { readonly accountId: string }

/** The turns before one, oldest first; or why they cannot be had. */
export type Chain =
  | { readonly kind: 'found'; readonly turns: readonly PastTurn[] }
  /** A turn of it is unknown, deleted, expired, or another account's: nobody is told which. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'too_long' }

export const KEPT_DAYS = 30
const KEPT_MS = KEPT_DAYS * 86_400_000
/** Bytes of one conversation that are read back: as much as a request may bring. */
const CHAIN_BYTES_MAX = 32 * 1024 * 1024
const CHAIN_TURNS_MAX = 10_000
/** A turn can be megabytes: a step of the sweep must not hold up the requests. */
const SWEEP_ROWS = 50

const put = statement(`INSERT INTO response
  (account_id, id, parent_id, state, head, standing, input, output, trace, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account_id, id) DO UPDATE SET state = excluded.state, head = excluded.head, standing = excluded.standing,
    output = excluded.output, trace = excluded.trace`)
const drop = statement('DELETE FROM response WHERE account_id = ? AND id = ? AND created_at >= ?')
const die = statement("UPDATE response SET state = 'ended', standing = ? WHERE id = ? AND state = 'running'")
const sweep = statement(
  `DELETE FROM response WHERE rowid IN (SELECT rowid FROM response WHERE created_at < ? LIMIT ${SWEEP_ROWS})`,
)

/** Through the key, turn by turn: what it costs follows the length of the conversation, not the number of turns. */
export const CHAIN_SQL = `WITH RECURSIVE chain (at, parent_id, depth, bytes) AS (
    SELECT rowid, parent_id, 0, octet_length(input) + octet_length(output) FROM response
      WHERE account_id = ?1 AND id = ?2 AND created_at >= ?3
    UNION ALL
    SELECT turn.rowid, turn.parent_id, chain.depth + 1,
        chain.bytes + octet_length(turn.input) + octet_length(turn.output)
      FROM chain CROSS JOIN response AS turn ON turn.account_id = ?1 AND turn.id = chain.parent_id
      WHERE turn.created_at >= ?3 AND chain.bytes <= ${CHAIN_BYTES_MAX}
        AND chain.depth < ${CHAIN_TURNS_MAX})
  SELECT chain.bytes, turn.id, turn.parent_id, turn.state, turn.input, turn.output
    FROM chain CROSS JOIN response AS turn ON turn.rowid = chain.at ORDER BY chain.depth DESC`

export class Turns {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  /** The steps that keep a turn, to go along with what resolves or makes its hold. */
  keep({ accountId }: AccountScope, turn: KeptTurn): Step[] {
    const { id, parentId = null, state, head, standing, input, output, trace = null } = turn
    return [
      {
        run: put,
        bind: [accountId, id, parentId, state, head, standing, input, output, trace, Date.now()],
        changes: 1,
      },
    ]
  }

  async find({ accountId }: AccountScope, id: string): Promise<KeptTurn | undefined> {
    const [row] = await this.store.query(
      `SELECT id, parent_id, state, head, standing, input, output, trace FROM response
       WHERE account_id = ? AND id = ? AND created_at >= ?`,
      [accountId, id, oldest()],
    )
    return row && turnOf(row)
  }

  /** A turn and all before it. */
  async chain({ accountId }: AccountScope, id: string): Promise<Chain> {
    const rows = await this.store.query(CHAIN_SQL, [accountId, id, oldest()])
    const [first] = rows
    if (!first) return { kind: 'not_found' }
    if (Number(first['bytes']) > CHAIN_BYTES_MAX || rows.length > CHAIN_TURNS_MAX) return { kind: 'too_long' }
    // The first must have begun the conversation: otherwise something was taken out of it.
    return first['parent_id'] === null ? { kind: 'found', turns: rows.map(pastOf) } : { kind: 'not_found' }
  }

  /** Resolves once it is gone from the disk; false when there was none. */
  async delete({ accountId }: AccountScope, id: string): Promise<boolean> {
    const outcome = await this.store.write([{ run: drop, bind: [accountId, id, oldest()], changes: 1 }])
    return outcome.kind === 'written'
  }

  /** Deletes what is older than it may be, in small steps behind the requests. */
  async sweep(): Promise<void> {
    const before = oldest()
    const [row] = await this.store.query('SELECT count(*) AS stale FROM response WHERE created_at < ?', [before])
    for (let left = Number(row?.['stale'] ?? 0); left > 0; left -= SWEEP_ROWS) {
      await this.store.write([{ run: sweep, bind: [before] }], 'bulk')
    }
  }
}

const oldest = (): number => Date.now() - KEPT_MS

const text = (row: Row, name: string): string => row[name] as string

const pastOf = (row: Row): PastTurn => ({
  id: text(row, 'id'),
  state: text(row, 'state') as PastTurn['state'],
  input: text(row, 'input'),
  output: text(row, 'output'),
})

const turnOf = (row: Row): KeptTurn => ({
  ...pastOf(row),
  parentId: (row['parent_id'] as string | null) ?? undefined,
  head: text(row, 'head'),
  standing: text(row, 'standing'),
  trace: (row['trace'] as string | null | undefined) ?? undefined,
})

/** What a hold that expires leaves of its turn: one that ran in the background died with its process. */
export const failExpired = (holdId: string, standing: string): Step[] => [
  { run: die, bind: [standing, holdId.replace(/^req_/, 'resp_')] },
]

/** Turns that are said to run and have no open hold; empty means none. */
export async function verifyTurns(store: Queryable): Promise<readonly { subject: string; detail: string }[]> {
  const sql = `SELECT r.account_id || ' ' || r.id AS subject, coalesce(h.state, 'no hold') AS detail
    FROM response r LEFT JOIN hold h ON h.id = 'req_' || substr(r.id, 6)
    WHERE r.state = 'running' AND h.state IS NOT 'open'`
  return (await store.query(sql)).map((row) => ({ subject: String(row['subject']), detail: String(row['detail']) }))
}
