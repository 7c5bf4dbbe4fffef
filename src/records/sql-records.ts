/** Request records in a database. */
import type { NanoUsd } from '../domain/money.ts'
import { eachDatabase, isListed, textList } from '../store/sql.ts'
import { rowStatement, type WriteStep } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'
import { commonColumns, commonValues, isCommon, recordColumns, storedRecord, valuesOf } from './record-row.ts'
import type { RecentPage, RecordPage, Records, RecordSearch, RequestRecord, StoredRecord } from './records.ts'
import { findAnywhere, searchRecords } from './sql-search.ts'
import { hourStep } from './sql-usage.ts'

const insertRecord = rowStatement('request_record', recordColumns)
/** For records of text alone without a fault, which most are. */
const insertCommon = rowStatement('request_record', commonColumns, {
  cache_write_5m: '0',
  cache_write_1h: '0',
  input_image: '0',
  output_image: '0',
})

const chargedSql = eachDatabase(
  (database) => `SELECT id, charged FROM request_record WHERE account_id = ? AND ${isListed(database, 'id', '?')}`,
)

/** `shard` names the rows of the hourly sums that this instance adds to, if instances share them. */
export const openSqlRecords = (store: Store, shard?: string): Records => new SqlRecords(store, shard)

class SqlRecords implements Records {
  private readonly store: Store
  private readonly shard: string | undefined

  constructor(store: Store, shard: string | undefined) {
    this.store = store
    this.shard = shard
  }

  steps(record: RequestRecord): WriteStep[] {
    return [recordStep(record), hourStep(record, this.shard)]
  }

  async find(accountId: string, id: string): Promise<StoredRecord | undefined> {
    const sql = `SELECT ${recordColumns} FROM request_record WHERE account_id = ? AND id = ?`
    const [row] = await this.store.query(sql, [accountId, id])
    return row && storedRecord(row)
  }

  findAnywhere(id: string): Promise<StoredRecord | undefined> {
    return findAnywhere(this.store.aside, id)
  }

  async recent(accountId: string, { limit, before }: RecentPage): Promise<readonly StoredRecord[]> {
    const older = before === undefined ? '' : 'AND id < ?'
    const sql = `SELECT ${recordColumns} FROM request_record WHERE account_id = ? ${older} ORDER BY id DESC LIMIT ?`
    const bind = before === undefined ? [accountId, limit] : [accountId, before, limit]
    return (await this.store.query(sql, bind)).map(storedRecord)
  }

  search(accountId: string, search: RecordSearch): Promise<RecordPage> {
    return searchRecords(this.asideOf(accountId), accountId, search)
  }

  async charged(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>> {
    const rows = await this.asideOf(accountId).query(chargedSql, [accountId, textList(ids)])
    return new Map(rows.map((row) => [row['id'] as string, row['charged'] as bigint]))
  }

  /** Accounts take turns here, so an account with many queries does not delay the pages of others. */
  private asideOf(accountId: string): Queryable {
    return { query: (sql, bind) => this.store.aside.query(sql, bind, accountId) }
  }
}

const recordStep = (record: RequestRecord): WriteStep =>
  isCommon(record) ? { run: insertCommon, bind: commonValues(record) } : { run: insertRecord, bind: valuesOf(record) }
