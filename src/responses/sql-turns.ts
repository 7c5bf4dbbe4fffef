/**
 * Stored turns in a database.
 *
 * Over 300 lines: the bytes that a turn counts for are followed in one place, from its promise to its end.
 */
import type { KeptTurn, PastTurn } from '../formats/core/contract.ts'
import type { Check } from '../lib/primitives/checks.ts'
import { KeptBytes } from '../lib/primitives/kept-bytes.ts'
import { placesOf, textList } from '../store/sql.ts'
import type { Row, Sql, SqlValue, WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { openRemoteTurns } from './remote-turns.ts'
import {
  BYTES_OF_ACCOUNT,
  CHAIN_SQL,
  HOLD_OF_TURN,
  ITEMS_SQL,
  ITEM_SIZES_SQL,
  NAMED_ITEMS_SQL,
  RUN_BY,
  SIZE_OF_TURNS_SQL,
  STALE_TURNS,
  TURNS_SQL,
  UNKEPT,
  dropTurn,
  endTurn,
  failTurn,
  putTurn,
  sweepTurns,
} from './turn-statements.ts'
import {
  CHAIN_BYTES_MAX,
  CHAIN_TURNS_MAX,
  PAGE_BYTES_MAX,
  RECALLS_MAX,
  TURN_KEPT_MS,
  type Chain,
  type InputPage,
  type PageRequest,
  type RemoteTurns,
  type ShownTurn,
  type TurnBounds,
  type Turns,
  type TurnScope,
} from './turns.ts'

/** Opens the port. Reads how much each account keeps. */
export async function openSqlTurns(store: Store, bounds: TurnBounds): Promise<Turns> {
  const rows = await store.query(
    'SELECT account_id, CAST(sum(bytes) AS bigint) AS bytes FROM response GROUP BY account_id',
  )
  const recount = async (accountId: string): Promise<number> => {
    const [row] = await store.aside.query(BYTES_OF_ACCOUNT, [accountId], accountId)
    return Number(row?.['bytes'] ?? 0)
  }
  const taken = new KeptBytes({
    max: bounds.bytesPerAccountMax,
    recount: store.changes.isShared ? recount : undefined,
  })
  for (const row of rows) taken.count(text(row, 'account_id'), Number(row['bytes']))
  const remote = store.changes.isShared ? await openRemoteTurns(store) : undefined
  return new SqlTurns(store, bounds, { taken, remote })
}

type TurnParts = { readonly taken: KeptBytes; readonly remote: RemoteTurns | undefined }

class SqlTurns implements Turns {
  readonly remote: RemoteTurns | undefined
  private readonly store: Store
  private readonly bounds: TurnBounds
  /** By account: the bytes of its turns on disk, and those promised to running requests. */
  private readonly taken: KeptBytes
  /** By request and by turn: the bytes counted for it until it ends. */
  private readonly promised = new Map<string, number>()
  private readonly begun = new Map<string, number>()
  private readonly recalling = new Map<string, number>()

  constructor(store: Store, bounds: TurnBounds, { taken, remote }: TurnParts) {
    this.store = store
    this.bounds = bounds
    this.taken = taken
    this.remote = remote
  }

  bytesOf({ accountId }: TurnScope): number {
    return this.taken.takenBy(accountId)
  }

  get bytesMax(): number {
    return this.bounds.bytesPerAccountMax
  }

  promise(scope: TurnScope, requestId: string, bytes: number): 'promised' | 'full' | 'no_room' {
    if (this.bounds.room.isShort) return 'no_room'
    if (!this.taken.reserve(scope.accountId, bytes)) return 'full'
    this.promised.set(requestId, bytes)
    return 'promised'
  }

  release(scope: TurnScope, requestId: string): void {
    this.taken.unreserve(scope.accountId, this.promised.get(requestId) ?? 0)
    this.promised.delete(requestId)
  }

  forget(scope: TurnScope, requestId: string): void {
    const name = nameOf(scope, responseIdOf(requestId))
    this.taken.give(scope.accountId, this.begun.get(name) ?? 0)
    this.begun.delete(name)
  }

  keep(scope: TurnScope, turn: KeptTurn): WriteStep[] {
    const { accountId } = scope
    const { id, parentId = null, state, head, standing, input, output, trace = null } = turn
    const bytes = [head, standing, input, output, trace ?? ''].reduce((sum, part) => sum + Buffer.byteLength(part), 0)
    const name = nameOf(scope, id)
    const begunBytes = this.begun.get(name)
    this.taken.give(accountId, begunBytes ?? 0)
    this.taken.count(accountId, bytes)
    if (state === 'running') this.begun.set(name, bytes)
    else this.begun.delete(name)
    // Another instance may have deleted the turn while it was made. Its end then writes nothing.
    if (this.store.changes.isShared && begunBytes !== undefined)
      return [{ run: endTurn, bind: [accountId, id, state, head, standing, input, output, trace] }]
    return [
      {
        run: putTurn,
        bind: [accountId, id, parentId, state, head, standing, input, output, trace, Date.now()],
        changes: 1,
      },
    ]
  }

  keepUnserved(scope: TurnScope, turn: KeptTurn): WriteStep[] {
    return this.keep(scope, { ...turn, input: UNKEPT })
  }

  async find({ accountId }: TurnScope, id: string): Promise<ShownTurn | undefined> {
    const [row] = await this.store.query(
      `SELECT id, parent_id, state, head, standing, output, trace FROM response
       WHERE account_id = ? AND id = ? AND created_at >= ?`,
      [accountId, id, oldest()],
      accountId,
    )
    return row && shownOf(row)
  }

  async sizeOf({ accountId }: TurnScope, id: string): Promise<number> {
    const sql = 'SELECT bytes FROM response WHERE account_id = ? AND id = ? AND created_at >= ?'
    const [row] = await this.store.query(sql, [accountId, id, oldest()], accountId)
    return Number(row?.['bytes'] ?? 0)
  }

  async runBy({ accountId }: TurnScope, id: string): Promise<string | undefined> {
    const [row] = await this.store.query(RUN_BY, [accountId, id], accountId)
    return (row?.['owner'] as string | undefined) ?? undefined
  }

  /** The reader thread splits the input. Only the page of a large one comes to this thread. */
  async inputPage({ accountId }: TurnScope, id: string, page: PageRequest): Promise<InputPage> {
    const turn = [accountId, id, oldest()]
    const read = (sql: Sql, bind: readonly SqlValue[]): Promise<readonly Row[]> =>
      this.store.query(sql, bind, accountId)
    let from: number | undefined
    if (page.after !== undefined) {
      const rows = await read(NAMED_ITEMS_SQL, [...turn, JSON.stringify(page.after)])
      const found = rows.find((row) => idOf(row) === page.after)
      from = found && Number(found['at'])
    }
    const isLost = page.after !== undefined && from === undefined
    // One more row than wanted shows whether there is a next page.
    const sizes = isLost ? [] : await read(ITEM_SIZES_SQL[page.order], [...turn, from ?? null, page.limit + 1])
    if (sizes.length > 0) {
      const ends = endsOf(sizes.slice(0, page.limit))
      const rows = await read(ITEMS_SQL, [...turn, Math.min(...ends), Math.max(...ends)])
      const items = rows.map((row) => ({ id: idOf(row), json: text(row, 'json') }))
      if (page.order === 'desc') items.reverse()
      return { kind: 'page', items, hasMore: items.length < sizes.length }
    }
    const [known] = await read('SELECT 1 FROM response WHERE account_id = ? AND id = ? AND created_at >= ?', turn)
    if (!known) return { kind: 'not_found' }
    return isLost ? { kind: 'no_such_item' } : { kind: 'page', items: [], hasMore: false }
  }

  async chain(scope: TurnScope, id: string): Promise<Chain> {
    const rows = await this.recalled(scope, CHAIN_SQL, [scope.accountId, id, oldest()])
    if (!rows) return { kind: 'busy' }
    const [first] = rows
    if (!first) return { kind: 'not_found' }
    if (Number(first['bytes']) > CHAIN_BYTES_MAX || rows.length > CHAIN_TURNS_MAX) return { kind: 'too_long' }
    if (rows.some(({ input }) => input === UNKEPT)) return { kind: 'failed' }
    // The first turn must have no parent. Otherwise a turn before it is missing.
    return first['parent_id'] === null ? { kind: 'found', turns: rows.map(pastOf) } : { kind: 'not_found' }
  }

  async some(scope: TurnScope, ids: readonly string[]): Promise<Exclude<Chain, { kind: 'not_found' | 'failed' }>> {
    if (ids.length === 0) return { kind: 'found', turns: [] }
    const bind = [scope.accountId, textList(ids), oldest()]
    const sizes = await this.recalled(scope, SIZE_OF_TURNS_SQL, bind)
    if (Number(sizes?.[0]?.['bytes'] ?? 0) > CHAIN_BYTES_MAX) return { kind: 'too_long' }
    const rows = await this.recalled(scope, TURNS_SQL, bind)
    return rows ? { kind: 'found', turns: rows.map(pastOf) } : { kind: 'busy' }
  }

  /** Reads rows that can be megabytes. Returns undefined if the account already waits for too many such reads. */
  private async recalled(
    { accountId }: TurnScope,
    sql: Sql,
    bind: readonly SqlValue[],
  ): Promise<readonly Row[] | undefined> {
    const before = this.recalling.get(accountId) ?? 0
    if (before >= RECALLS_MAX) return undefined
    this.recalling.set(accountId, before + 1)
    try {
      return await this.store.query(sql, bind, accountId)
    } finally {
      const left = (this.recalling.get(accountId) ?? 1) - 1
      if (left > 0) this.recalling.set(accountId, left)
      else this.recalling.delete(accountId)
    }
  }

  async delete(scope: TurnScope, id: string): Promise<boolean> {
    const { accountId } = scope
    for (;;) {
      const [row] = await this.store.query(
        'SELECT bytes FROM response WHERE account_id = ? AND id = ? AND created_at >= ?',
        [accountId, id, oldest()],
      )
      if (!row) return false
      const bytes = Number(row['bytes'])
      const outcome = await this.store.write([{ run: dropTurn, bind: [accountId, id, bytes], changes: 1 }])
      // The write is refused if the turn ended or was deleted after it was read.
      if (outcome.kind === 'refused') continue
      this.begun.delete(nameOf(scope, id))
      this.taken.give(accountId, bytes)
      return true
    }
  }

  async sweep(): Promise<void> {
    const before = oldest()
    for (;;) {
      const rows = await this.store.query(STALE_TURNS, [before])
      if (rows.length === 0) return
      const swept = await this.store.write(
        [{ run: sweepTurns, bind: [before, placesOf(rows)], changes: rows.length }],
        'bulk',
      )
      // The write is refused if one of them was deleted meanwhile.
      if (swept.kind === 'refused') continue
      for (const row of rows) this.taken.give(text(row, 'account_id'), Number(row['bytes']))
    }
  }
}

/** The first and the last item of a page. It ends before it would become too large, but has at least one item. */
function endsOf(sizes: readonly Row[]): [number, number] {
  let bytes = 0
  const beyond = sizes.findIndex((row) => (bytes += Number(row['bytes'])) > PAGE_BYTES_MAX)
  const last = beyond === -1 ? sizes.length - 1 : Math.max(0, beyond - 1)
  return [Number(sizes[0]?.['at']), Number(sizes[last]?.['at'])]
}

const nameOf = ({ accountId }: TurnScope, id: string): string => `${accountId}\n${id}`

const oldest = (): number => Date.now() - TURN_KEPT_MS

/** The id of an item. It is never missing: the gateway gives one to each item that has none. */
const idOf = (row: Row): string => JSON.parse(text(row, 'id')) as string

const text = (row: Row, name: string): string => row[name] as string

const pastOf = (row: Row): PastTurn => ({
  id: text(row, 'id'),
  state: text(row, 'state') as PastTurn['state'],
  input: text(row, 'input'),
  output: text(row, 'output'),
})

const shownOf = (row: Row): ShownTurn => ({
  id: text(row, 'id'),
  parentId: (row['parent_id'] as string | null) ?? undefined,
  state: text(row, 'state') as KeptTurn['state'],
  head: text(row, 'head'),
  standing: text(row, 'standing'),
  output: text(row, 'output'),
  trace: (row['trace'] as string | null | undefined) ?? undefined,
})

/** The steps that end the turn of an expired hold. A background turn died with its process. */
export const failExpired = (holdId: string, standing: string): WriteStep[] => [
  { run: failTurn, bind: [standing, responseIdOf(holdId)] },
]

/** Every running turn has an open hold. */
export const turnCheck: Check = {
  code: 'turn',
  invariant: 'a response that is being made has an open hold',
  found: 'hold {state}',
  sql: `SELECT r.account_id || ' ' || r.id AS subject, coalesce(h.state, 'none') AS state
    FROM response r LEFT JOIN hold h ON h.id = ${HOLD_OF_TURN}
    WHERE r.state = 'running' AND h.state IS DISTINCT FROM 'open'`,
}

const responseIdOf = (requestId: string): string => requestId.replace(/^req_/, 'resp_')
