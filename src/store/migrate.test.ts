import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, schemaOf, upgrade } from './migrate.ts'

const MIGRATIONS = join(import.meta.dir, 'migrations')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrate-'))
const path = join(folder, 'tollgate.db')
afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
})

function read<T>(use: (db: Database) => T): T {
  const db = new Database(path)
  try {
    return use(db)
  } finally {
    db.close()
  }
}

test('migrations are numbered without a gap, so their count is the number of the schema', () => {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, i) => i + 1))
})

test('a released migration never changes, because databases that have it will not get it again', () => {
  const released = readFileSync(join(MIGRATIONS, 'RELEASED'), 'utf8').trim().split('\n')
  for (const line of released) {
    const [digest = '', name = ''] = line.split('  ')
    const bytes = readFileSync(join(MIGRATIONS, name))
    expect(`${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}  ${name}`).toBe(`${digest}  ${name}`)
  }
  // Released migrations come first, in their order. A new one can only follow them.
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  expect(files.slice(0, released.length)).toEqual(released.map((line) => line.split('  ')[1] ?? ''))
})

test('a migration that fails leaves the database unchanged, and runs completely once it is mended', () => {
  const own = join(folder, 'migrations')
  migrate(path)
  const before = read(schemaOf)
  cpSync(MIGRATIONS, own, { recursive: true })
  const next = join(own, '9999_next.sql')
  writeFileSync(next, 'CREATE TABLE fresh (id TEXT);\nINSERT INTO fresh VALUES (1);\nINSERT INTO nowhere VALUES (1);')
  const hasFresh = (db: Database): boolean =>
    db.query("SELECT 1 FROM sqlite_master WHERE name = 'fresh'").get() !== null
  expect(() => migrate(path, own)).toThrow('no such table: nowhere')
  expect(read((db) => [schemaOf(db), hasFresh(db)])).toEqual([before, false])
  writeFileSync(next, 'CREATE TABLE fresh (id TEXT);')
  migrate(path, own)
  expect(read((db) => [schemaOf(db), hasFresh(db)])).toEqual([before + 1, true])
})

test('a database of a newer program is refused by name and left unchanged', () => {
  read((db) => db.exec('CREATE TABLE account (id TEXT); PRAGMA user_version = 9999'))
  const before = readFileSync(path)
  expect(() => upgrade(path)).toThrow(/newer Tollgate \(schema 9999, this program knows \d+\)/)
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
})

test('no copy is kept of a new or an up-to-date database', () => {
  writeFileSync(path, '')
  upgrade(path)
  upgrade(path)
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
  expect(existsSync(`${path}.schema-0`)).toBe(false)
})

test('a lock of a process that is exiting is waited for', async () => {
  migrate(path)
  const lock = `const db = new (require('bun:sqlite').Database)(${JSON.stringify(path)})
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; PRAGMA user_version = 1; COMMIT")
    console.log('locked'); Bun.sleepSync(400)`
  const other = Bun.spawn([process.execPath, '-e', lock], { stdout: 'pipe' })
  await other.stdout.getReader().read()
  const own = join(folder, 'migrations')
  cpSync(MIGRATIONS, own, { recursive: true })
  for (const name of readdirSync(own).filter((file) => file.endsWith('.sql') && !file.startsWith('0001'))) {
    writeFileSync(join(own, name), '')
  }
  upgrade(path, own)
  expect(await other.exited).toBe(0)
  expect(existsSync(`${path}.schema-1`)).toBe(true)
})

test('old charges become their holds, with what was written off, and bookings keep their journals', () => {
  const own = join(folder, 'migrations')
  cpSync(MIGRATIONS, own, { recursive: true })
  for (const name of readdirSync(own).filter((file) => file >= '0016')) rmSync(join(own, name))
  migrate(path, own)
  read((db) =>
    db.exec(`
      INSERT INTO account (id, name, status, posted, held, created_at) VALUES ('acme', 'acme', 'active', 0, 0, 0);
      INSERT INTO hold (id, account_id, amount, state, settled, owner, created_at, resolved_at) VALUES
        ('h1', 'acme', 40, 'settled', 30, 'run', 1, 2), ('h2', 'acme', 5, 'settled', 70, 'run', 3, 4),
        ('h3', 'acme', 9, 'settled', 0, '', 5, 6), ('h4', 'acme', 9, 'released', NULL, '', 5, 6),
        ('h5', 'acme', 0, 'open', NULL, 'task', 7, NULL);
      INSERT INTO journal (id, kind, ref, hold_id, price_card_id, reason, created_at) VALUES
        (1, 'credit', 'a', NULL, NULL, 'hello', 10), (2, 'charge', NULL, 'h1', 7, NULL, 11),
        (3, 'charge', NULL, 'h2', 8, NULL, 12), (4, 'charge', NULL, 'h3', 8, NULL, 13);
      INSERT INTO entry (journal_id, account_id, amount) VALUES
        (1, 'acme', 100), (1, 'system:funding', -100), (2, 'acme', -30), (2, 'system:revenue', 30),
        (3, 'acme', -70), (3, 'system:write-off', -6), (3, 'system:revenue', 76);`),
  )
  const sums = 'SELECT account_id, sum(amount) FROM'
  const before = read((db) => db.query(`${sums} entry GROUP BY 1 ORDER BY 1`).values())
  migrate(path)
  expect(read((db) => db.query(`${sums} books GROUP BY 1 ORDER BY 1`).values())).toEqual(before)
  expect(
    read((db) => db.query('SELECT id, state, cost, settled, written_off, price_card_id FROM hold').values()),
  ).toEqual([
    ['h1', 'settled', 30, 30, 0, 7],
    ['h2', 'settled', 76, 70, 6, 8],
    ['h3', 'settled', 0, 0, 0, 8],
    ['h4', 'released', null, null, null, null],
    ['h5', 'open', null, null, null, null],
  ])
  expect(read((db) => db.query('SELECT id, kind, ref, reason FROM journal').values())).toEqual([
    [1, 'credit', 'a', 'hello'],
  ])
  expect(read((db) => db.query('SELECT * FROM entry').values())).toHaveLength(2)
})

test.each([
  ['a charge without its revenue', 'DELETE FROM entry WHERE amount = 30', 'journal 2, its entries sum to -30'],
  ['a charge without a hold', "UPDATE journal SET hold_id = 'x'", 'charge 2, it has no settled hold'],
  ['a hold that was released and charged', "UPDATE hold SET state = 'released', settled = NULL", 'charge 2, it has no'],
  ['a hold without its charge', 'DELETE FROM journal; DELETE FROM entry', 'hold h1, it has 0 charges'],
  ['a charge of something else', 'UPDATE hold SET settled = 29', 'hold h1, settled are 29, its charge took 30'],
  ['an entry of nothing', "INSERT INTO entry VALUES (9, 'a', 1), (9, 'b', -1)", 'entry of journal 9, there is no such'],
  [
    'a charge to a third account',
    "INSERT INTO entry VALUES (2, 'x', -5), (2, 'system:fees', 5)",
    'charge 2, it has an entry of system:fees',
  ],
  [
    'a charge of nothing that another account paid',
    "UPDATE hold SET settled = 0; UPDATE entry SET account_id = 'other' WHERE amount = -30",
    'charge 2, it has an entry of other',
  ],
  [
    'a negative charge',
    'UPDATE hold SET settled = -30; UPDATE entry SET amount = -amount',
    'hold h1, it settled less than nothing',
  ],
  [
    'a negative write-off',
    "UPDATE entry SET amount = 25 WHERE amount = 30; INSERT INTO entry VALUES (2, 'system:write-off', 5)",
    'hold h1, it settled less than nothing',
  ],
  [
    'a hold that was charged twice',
    `INSERT INTO journal (id, kind, hold_id, created_at) VALUES (3, 'charge', 'h1', 1);
     INSERT INTO entry VALUES (3, 'acme', -30), (3, 'system:revenue', 30)`,
    'hold h1, it has 2 charges',
  ],
])('%s is named, and stays with the version before', (_, sql, says) => {
  const own = join(folder, 'migrations')
  cpSync(MIGRATIONS, own, { recursive: true })
  for (const name of readdirSync(own).filter((file) => file >= '0014')) rmSync(join(own, name))
  migrate(path, own)
  read((db) => {
    for (const trigger of ['journal_is_final', 'journal_stays', 'entry_is_final', 'entry_stays'])
      db.exec(`DROP TRIGGER ${trigger}`)
    db.exec(`
      INSERT INTO hold (id, account_id, amount, state, settled, owner, created_at, resolved_at)
        VALUES ('h1', 'acme', 40, 'settled', 30, 'run', 1, 2);
      INSERT INTO journal (id, kind, hold_id, created_at) VALUES (2, 'charge', 'h1', 11);
      INSERT INTO entry VALUES (2, 'acme', -30), (2, 'system:revenue', 30);`)
    db.exec(sql)
  })
  expect(() => upgrade(path)).toThrow(`broken, and was left as it is: ${says}`)
  // The earlier migrations are not applied either, because the old version would not know them.
  expect(read(schemaOf)).toBe(13)
  migrate(path, own)
})

test('old bookings get the balance after each from the entries, including the charges between them', () => {
  const own = join(folder, 'migrations')
  cpSync(MIGRATIONS, own, { recursive: true })
  for (const name of readdirSync(own).filter((file) => file >= '0013')) rmSync(join(own, name))
  migrate(path, own)
  read((db) =>
    db.exec(`
      INSERT INTO hold (id, account_id, amount, state, settled, owner, created_at, resolved_at)
        VALUES ('h', 'acme', 40, 'settled', 30, 'run', 1, 2);
      INSERT INTO journal (id, kind, ref, hold_id, created_at) VALUES
        (1, 'credit', 'a', NULL, 10), (2, 'charge', NULL, 'h', 10), (3, 'credit', 'b', NULL, 20), (4, 'debit', 'c', NULL, 20);
      INSERT INTO entry (journal_id, account_id, amount) VALUES
        (1, 'acme', 100), (1, 'system:funding', -100), (2, 'acme', -30), (2, 'system:revenue', 30),
        (3, 'other', 7), (3, 'system:funding', -7), (4, 'acme', -5), (4, 'system:funding', 5);
      INSERT INTO booking VALUES ('acme', 10, 1), ('other', 20, 3), ('acme', 20, 4);`),
  )
  migrate(path)
  const balances = read((db) => db.query('SELECT journal_id, balance_after FROM booking ORDER BY journal_id').values())
  expect(balances).toEqual([
    [1, 100],
    [3, 7],
    [4, 65],
  ])
})

test('models keep their kinds and offers, and kept answers their texts, while kinds and bytes become free', () => {
  const own = join(folder, 'migrations')
  cpSync(MIGRATIONS, own, { recursive: true })
  for (const name of readdirSync(own).filter((file) => file >= '0020')) rmSync(join(own, name))
  migrate(path, own)
  const models = `SELECT id, owned_by, kind, limits, declared, created_at FROM model ORDER BY id`
  read((db) =>
    db.exec(`
      INSERT INTO provider (id, preset, base_url, created_at) VALUES ('p', 'custom', 'https://vendor.example', 0);
      INSERT INTO model (id, owned_by, kind, limits, declared, created_at) VALUES
        ('chat', 'us', 'text', '{}', 0, 1), ('film', 'us', 'video', '{"a":1}', 1, 2);
      INSERT INTO offer (id, model_id, provider_id, upstream_model, priority, weight)
        VALUES ('o', 'film', 'p', 'f-1', 0, 1);
      INSERT INTO idempotency VALUES
        ('acme', 'k', x'01', 'req_1', 200, '{}', '{"say":"é"}', 5), ('acme', 'running', x'02', 'req_2', NULL, NULL, NULL, 6);`),
  )
  const before = read((db) => db.query(models).values())
  expect(() =>
    read((db) =>
      db.exec("INSERT INTO model (id, owned_by, kind, limits, created_at) VALUES ('s', '', 'speech', '', 0)"),
    ),
  ).toThrow('CHECK')
  migrate(path)
  expect(read((db) => db.query(models).values())).toEqual(before)
  expect(read((db) => db.query('PRAGMA foreign_key_check').values())).toEqual([])
  expect(read((db) => db.query('SELECT key, status, body, body_bytes FROM idempotency ORDER BY key').values())).toEqual(
    [
      ['k', 200, '{"say":"é"}', null],
      ['running', null, null, null],
    ],
  )
  read((db) =>
    db.exec(`
      UPDATE model SET kind = 'speech' WHERE id = 'film';
      UPDATE idempotency SET status = 200, headers = '{}', body_bytes = x'00ff' WHERE key = 'running';`),
  )
  expect(
    read((db) => db.query('SELECT model.kind FROM offer JOIN model ON model.id = offer.model_id').values()),
  ).toEqual([['speech']])
})
