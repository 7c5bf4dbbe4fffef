/** A data folder moves into PostgreSQL and back. Every number stays the same. */
import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedTables } from '../../src/store/postgres/transfer.ts'
import { runCommand, runJson } from '../support/command.ts'
import { chat, freshFolder, startGateway } from '../support/gateway.ts'
import { openTestPostgres, type TestDatabase } from '../support/postgres.ts'

const FIXTURE = join(import.meta.dir, '../fixtures/upgrade/schema-1.sql')
const secrets = { TOLLGATE_KEY_PEPPER: '5a'.repeat(32), TOLLGATE_MASTER_KEY: 'c3'.repeat(32) }

/** A folder with accounts, bookings, charges, keys, prices, sums of usage, a stored response, and a kept answer. */
async function usedFolder(): Promise<string> {
  const folder = freshFolder()
  const db = new Database(join(folder, 'tollgate.db'))
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(readFileSync(FIXTURE, 'utf8'))
  db.close()
  const gateway = await startGateway({ folder, env: secrets, yaml: 'sandbox: true\n' })
  for (let i = 0; i < 3; i++) expect((await chat(gateway, { model: 'sandbox-mini', max_tokens: 5 })).status).toBe(200)
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'idempotency-key': 'once',
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ model: 'sandbox-mini', input: 'Hi \u0000 \u{1F600}', max_output_tokens: 16 })
  const kept = await fetch(`${gateway.baseUrl}/responses`, { method: 'POST', headers, body })
  expect(kept.status).toBe(200)
  expect((await fetch(`${gateway.baseUrl}/nowhere`, { headers })).status).toBe(404)
  await gateway.crash()
  return folder
}

/** All rows of all tables, in an order of their own. Columns that only one store has are left out. */
function contentsOf(folder: string): Record<string, readonly string[]> {
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  const text = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  const contents = sharedTables.map((table) => {
    const rows = db.query(`SELECT * FROM "${table}"`).all()
    return [table, rows.map((row) => JSON.stringify(row, text)).toSorted()] as const
  })
  db.close()
  return Object.fromEntries(contents)
}

describe('tollgate db', () => {
  let folder: string
  let database: TestDatabase
  let env: Record<string, string>
  const scratch = freshFolder()

  beforeAll(async () => {
    folder = await usedFolder()
    database = await openTestPostgres()
    env = { ...secrets, TOLLGATE_DATABASE_URL: database.url }
  })
  afterAll(async () => {
    await database.close()
  })

  const onTables = async (names: string): Promise<string[]> => {
    const sql = new SQL(database.url, { max: 1 })
    const rows = (await sql.unsafe(names)) as { name: string }[]
    await sql.close()
    return rows.map(({ name }) => name)
  }

  test('without a database, with a broken address or without secrets it says what is missing', async () => {
    const cases = [
      [{}, 'TOLLGATE_DATABASE_URL is not set: the data folder holds everything'],
      [{ TOLLGATE_DATABASE_URL: 'mysql://u:hidden@h/d' }, 'must be an address such as postgres://'],
      [
        { ...secrets, TOLLGATE_DATABASE_URL: 'postgres://u:hidden@127.0.0.1:9/d' },
        'the database of TOLLGATE_DATABASE_URL',
      ],
      [{ TOLLGATE_DATABASE_URL: database.url }, 'set TOLLGATE_KEY_PEPPER and TOLLGATE_MASTER_KEY too'],
    ] as const
    for (const [given, said] of cases) {
      const { code, err } = await runCommand(scratch, ['db', 'status'], given)
      expect(err).toContain(said)
      expect(err).not.toContain('hidden')
      expect(code).not.toBe(0)
    }
  })

  test('status of an empty database changes nothing, and migrate makes the tables', async () => {
    expect(await runJson(scratch, ['db', 'status'], env)).toMatchObject({ schema: 0, instances: [] })
    expect(await onTables("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")).toEqual([])
    const migrated = await runJson<{ schema: number; schema_known: number }>(scratch, ['db', 'migrate'], env)
    expect(migrated.schema).toBe(migrated.schema_known)
    expect(migrated.schema).toBeGreaterThan(0)
    const { out } = await runCommand(scratch, ['db', 'status'], env)
    expect(out).toContain('none applied yet')
  })

  test('both stores have the shared tables, and no other table of the folder is forgotten', async () => {
    const db = new Database(join(folder, 'tollgate.db'), { readonly: true })
    const own = db.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
    db.close()
    expect(own.map((row) => (row as { name: string }).name).toSorted()).toEqual([...sharedTables].toSorted())
    const shared = await onTables("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
    expect(shared).toEqual(expect.arrayContaining([...sharedTables]))
  })

  test('a folder of other secrets is refused, and nothing is copied', async () => {
    const other = { ...env, TOLLGATE_KEY_PEPPER: '66'.repeat(32) }
    const { code, err } = await runCommand(scratch, ['db', 'import', '--from', folder], other)
    expect(err).toContain('nothing was copied: TOLLGATE_KEY_PEPPER is not the secret of this database')
    expect(code).toBe(1)
    expect(await onTables('SELECT name FROM account')).toEqual([])
  })

  test('a folder in use, and one that is none, are refused', async () => {
    expect((await runCommand(scratch, ['db', 'import', '--from', scratch], env)).err).toContain('is not a data folder')
    const copy = freshFolder()
    const gateway = await startGateway({ folder: copy, env: secrets })
    const { code, err } = await runCommand(scratch, ['db', 'import', '--from', copy], env)
    expect(err).toMatch(/in use|has the data folder|uses/)
    expect(code).not.toBe(0)
    await gateway.close()
  })

  test('import copies every row, expires open holds, and refuses a second time', async () => {
    const before = contentsOf(folder)
    const report = await runJson<{ rows: Record<string, number>; verified: boolean }>(
      scratch,
      ['db', 'import', '--from', folder],
      env,
    )
    expect(report).toMatchObject({ verified: true })
    for (const table of sharedTables) expect([table, report.rows[table]]).toEqual([table, before[table]?.length])
    expect(report.rows['usage_hour']).toBeGreaterThan(0)
    expect(report.rows['idempotency']).toBe(1)
    expect(report.rows['response']).toBe(1)
    const { code, err } = await runCommand(scratch, ['db', 'import', '--from', folder], env)
    expect(err).toContain('nothing was copied: the target is in use')
    expect(code).toBe(1)
  })

  test('export writes the same rows into a new folder, which serves', async () => {
    const to = join(freshFolder(), 'back')
    const report = await runJson<{ verified: boolean }>(scratch, ['db', 'export', '--to', to], env)
    expect(report).toMatchObject({ verified: true })
    expect(contentsOf(to)).toEqual(contentsOf(folder))
    expect((await runCommand(scratch, ['db', 'export', '--to', to], env)).err).toContain('name another folder')
    const copy = freshFolder()
    cpSync(to, copy, { recursive: true })
    expect(readdirSync(copy)).toContain('tollgate.db')
    const gateway = await startGateway({ folder: copy, env: secrets, yaml: 'sandbox: true\n' })
    expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
    await gateway.close()
  })

  test('export is refused while an instance serves', async () => {
    await onTables("INSERT INTO instance (id, state) VALUES ('run_other', 'alive') RETURNING id AS name")
    const to = join(freshFolder(), 'back')
    const { code, err } = await runCommand(scratch, ['db', 'export', '--to', to], env)
    expect(err).toContain('run_other still serve')
    expect(code).toBe(1)
    expect(existsSync(to)).toBe(false)
  })

  test('a backup is refused, because it would be of nothing', async () => {
    const { code, err } = await runCommand(scratch, ['backup', join(scratch, 'one.db')], env)
    expect(err).toContain('back that up with its own means')
    expect(code).toBe(1)
  })
})
