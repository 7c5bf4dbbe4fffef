/**
 * Searches for requests. The table has one order, by account and time, and no other index, because every charge would
 * pay for each index. A search therefore reads a bounded number of rows from its cursor, and returns the next cursor.
 * It jumps over hours in which, by their sums, nothing fits.
 */
import { idBound, idTimeMs } from '../lib/primitives/ids.ts'
import { eachDatabase, isListed, joinInOrder, textList, type SqlDatabase } from '../store/sql.ts'
import type { Sql, SqlValue } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import { recordColumns, storedRecord } from './record-row.ts'
import type { RecordFilter, RecordPage, RecordSearch, StoredRecord } from './records.ts'
import { ID_PREFIX } from './search.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

/** The number of rows that one read scans, and the most reads before a short page is returned. */
const SCAN_ROWS = 5_000
const SCANS_MAX = 3
/** A request gets its id before its body has arrived and its money is held. The difference is at most this. */
const SLACK_HOURS = 2

type Condition = readonly [sql: string | ((database: SqlDatabase) => string), value: SqlValue]

type OptionalCondition = readonly [sql: Condition[0], value: SqlValue | undefined]

const ofEndpoints = (database: SqlDatabase): string => isListed(database, 'endpoint', '?')

function conditionsOf(filter: RecordFilter): readonly Condition[] {
  const { keyId, model, endpoints, outcome, status, providerId, chargedMin, totalMsMin } = filter
  const wanted: OptionalCondition[] = [
    ['key_id = ?', keyId],
    ['model = ?', model],
    [ofEndpoints, endpoints && textList(endpoints)],
    ['outcome = ?', outcome],
    ['status = ?', status],
    ['provider_id = ?', providerId],
    ['charged >= ?', chargedMin],
    ['total_ms >= ?', totalMsMin],
  ]
  return wanted.filter((each): each is [Condition[0], SqlValue] => each[1] !== undefined)
}

/** The same conditions, as far as the hourly sums can answer them. */
function hourConditionsOf({ keyId, model, endpoints, outcome }: RecordFilter): readonly Condition[] {
  const wanted: OptionalCondition[] = [
    ['key_id = ?', keyId],
    ['model = ?', model],
    [ofEndpoints, endpoints && textList(endpoints)],
    ['failed > ?', outcome === 'failed' ? 0 : undefined],
    ['cut > ?', outcome === 'cut' ? 0 : undefined],
  ]
  return wanted.filter((each): each is [Condition[0], SqlValue] => each[1] !== undefined)
}

const and =
  (conditions: readonly Condition[]) =>
  (database: SqlDatabase): string =>
    conditions.map(([sql]) => ` AND ${typeof sql === 'string' ? sql : sql(database)}`).join('')
const values = (conditions: readonly Condition[]): SqlValue[] => conditions.map(([, value]) => value)

/** The rows of a range of ids, newest first. */
export const rowsStatement = (conditions: (database: SqlDatabase) => string): Sql =>
  eachDatabase(
    (database) => `SELECT ${recordColumns} FROM request_record
      WHERE account_id = ? AND id < ? AND id >= ?${conditions(database)} ORDER BY id DESC LIMIT ?`,
  )
/** The last id of a scan. There is none if the range has fewer rows. */
export const edgeStatement = `SELECT id FROM request_record WHERE account_id = ? AND id < ? AND id >= ?
  ORDER BY id DESC LIMIT 1 OFFSET ${SCAN_ROWS - 1}`
export const hourStatement = (conditions: (database: SqlDatabase) => string, order: 'ASC' | 'DESC'): Sql =>
  eachDatabase(
    (database) => `SELECT hour FROM usage_hour WHERE account_id = ? AND hour <= ?${conditions(database)}
      ORDER BY hour ${order} LIMIT 1`,
  )

/** The requests of an account that fit, newest first. If there is a cursor, only those before it. */
export async function searchRecords(
  store: Queryable,
  accountId: string,
  { filter, cursor, limit }: RecordSearch,
): Promise<RecordPage> {
  const conditions = conditionsOf(filter)
  const hours = new Hours(store, accountId, hourConditionsOf(filter))
  const latest = idBound(ID_PREFIX, filter.toMs ?? Date.now() + HOUR_MS)
  const floor = await hours.floor(idBound(ID_PREFIX, filter.fromMs ?? 0))
  let before: string | undefined = cursor !== undefined && cursor < latest ? cursor : latest
  const records: StoredRecord[] = []
  for (let scans = 0; scans < SCANS_MAX && before !== undefined; scans++) {
    before = await hours.jump(before)
    if (before === undefined || before <= floor) return { records, next: undefined }
    // Without conditions every row fits, so the scan needs no end.
    const [edge] = conditions.length === 0 ? [] : await store.query(edgeStatement, [accountId, before, floor])
    const end = (edge?.['id'] as string | undefined) ?? floor
    const wanted = limit - records.length
    const bind = [accountId, before, end, ...values(conditions), wanted + 1]
    const found = (await store.query(rowsStatement(and(conditions)), bind)).map(storedRecord)
    records.push(...found.slice(0, wanted))
    if (found.length > wanted) return { records, next: records.at(-1)?.['id'] as string }
    before = edge === undefined ? undefined : end
  }
  return { records, next: before }
}

/** Finds the hours that have requests, by the hourly sums. */
class Hours {
  private readonly store: Queryable
  private readonly accountId: string
  private readonly conditions: readonly Condition[]

  constructor(store: Queryable, accountId: string, conditions: readonly Condition[]) {
    this.store = store
    this.accountId = accountId
    this.conditions = conditions
  }

  /** The lowest id from which there may be requests. */
  async floor(given: string): Promise<string> {
    const first = await this.find(Number.MAX_SAFE_INTEGER, 'ASC')
    if (first === undefined) return given
    const bound = idBound(ID_PREFIX, (first - SLACK_HOURS) * HOUR_MS)
    return bound > given ? bound : given
  }

  /** The next id at or before this one to read from, or undefined if nothing is left. */
  async jump(before: string): Promise<string | undefined> {
    const hour = Math.floor(idTimeMs(ID_PREFIX, before) / HOUR_MS)
    const found = await this.find(hour + SLACK_HOURS, 'DESC')
    if (found === undefined) return undefined
    const bound = idBound(ID_PREFIX, (found + 1) * HOUR_MS)
    return bound < before ? bound : before
  }

  private async find(upTo: number, order: 'ASC' | 'DESC'): Promise<number | undefined> {
    const sql = hourStatement(and(this.conditions), order)
    const [row] = await this.store.query(sql, [this.accountId, upTo, ...values(this.conditions)])
    return row && Number(row['hour'])
  }
}

const columnsOfRecord = recordColumns.replace(/\w+/g, 'r.$&')

/** A request of any account, for the operator. It takes one look-up per account. */
export async function findAnywhere(store: Queryable, id: string): Promise<StoredRecord | undefined> {
  const sql = eachDatabase(
    (database) => `SELECT ${columnsOfRecord} FROM account a ${joinInOrder(database)} request_record r
      ON r.account_id = a.id AND r.id = ? LIMIT 1`,
  )
  const [row] = await store.query(sql, [id])
  return row && storedRecord(row)
}
