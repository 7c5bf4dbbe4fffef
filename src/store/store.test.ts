import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyDatabase } from './copy.ts'
import { statement, type WriteOutcome } from './statement.ts'
import { DATABASE, openStore, type Store } from './store.ts'
import type { DeferredWrite } from './write-queue.ts'
import { Writer } from './writer.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const renameAccount = statement('UPDATE account SET name = ?2 WHERE id = ?1')

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
  folders.push(folder)
  return folder
}

const open = (folder: string): Promise<Store> =>
  openStore(folder, (message) => {
    throw new Error(message)
  })

const insert = (id: string) => ({ run: insertAccount, bind: [id] })

test('a closed folder can be opened again at once, with everything that was written', async () => {
  const folder = freshFolder()
  const lives = 60
  for (let life = 0; life < lives; life++) {
    const store = await open(folder)
    const written = store.write([insert(`a${life}`)])
    const counted = store.query('SELECT count(*) AS count FROM account')
    await store.close()
    expect(await written).toEqual({ kind: 'written' })
    expect(Number((await counted)[0]?.['count'])).toBeGreaterThanOrEqual(life)
    // The last connection to close removes the log. A connection that stays open would disturb the next process.
    expect(readdirSync(folder).filter((name) => name.startsWith('tollgate.db'))).toEqual(['tollgate.db'])
  }
})

test('a transaction that is refused at a later step leaves nothing, and affects no other', async () => {
  const store = await open(freshFolder())
  const outcomes = await Promise.all([
    store.write([insert('a')]),
    store.write([insert('b'), { run: renameAccount, bind: ['missing', 'x'], changes: 1 }]),
    store.write([insert('c'), insert('a')]),
    store.write([insert('d')]),
  ])
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'refused', 'written'])
  expect((await store.query('SELECT id FROM account ORDER BY id')).map(({ id }) => id)).toEqual(['a', 'd'])
  await store.close()
})

test.if(process.platform === 'linux')('the thread that reads for people gives way to all others', async () => {
  const store = await open(freshFolder())
  // This is the 19th field of a thread’s line. The name in parentheses may contain spaces.
  const niceOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17])
  const threads = (): string[] => readdirSync('/proc/self/task')
  const before = threads()
  await store.aside.query('SELECT 1')
  const nices = threads()
    .filter((id) => !before.includes(id) && existsSync(`/proc/self/task/${id}`))
    .map((id) => niceOf(readFileSync(`/proc/self/task/${id}/stat`, 'utf8')))
  expect(nices).toContain(Math.min(19, getPriority() + 10))
  await store.close()
})

test('a separate reader delays no other query, and ends with the store', async () => {
  const store = await open(freshFolder())
  const slow = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400000) SELECT max(i) AS i FROM n'
  const order: string[] = []
  const apart = store.apart(async (reader) => {
    const [row] = await reader.query(slow)
    order.push(`apart ${String(row?.['i'])}`)
    const queries = [1, 2, 3].map(() => reader.query(slow))
    const closed = store.close()
    const after = await reader.query('SELECT 1').catch((error: unknown) => String(error))
    return { after, asked: (await Promise.all(queries)).length, closed }
  })
  await store.query('SELECT 1')
  order.push('query')
  const { after, asked, closed } = await apart
  expect(order).toEqual(['query', 'apart 400000'])
  expect({ after, asked }).toEqual({ after: 'Error: the database is closed', asked: 3 })
  await closed
})

test('the space of deleted rows is returned to the disk, even in a copy of an old database', async () => {
  const folder = freshFolder()
  const store = await open(folder)
  const large = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?2, 'active', 0)")
  const clear = statement('DELETE FROM account')
  for (let i = 0; i < 20; i++) await store.write([{ run: large, bind: [`a${i}`, `${i}${'x'.repeat(1_000_000)}`] }])
  await store.write([{ run: clear, bind: [] }])
  await store.shrink()
  await store.close()
  expect(statSync(join(folder, DATABASE)).size).toBeLessThan(6_000_000)

  const path = join(folder, DATABASE)
  const old = new Database(path)
  old.exec('PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL')
  old.close()
  const again = await open(folder)
  await again.shrink()
  await again.copy(join(folder, 'copy.db'))
  await again.close()
  const modeOf = (name: string): unknown => {
    const db = new Database(join(folder, name), { readonly: true })
    const mode = db.query('PRAGMA auto_vacuum').get()
    db.close()
    return mode
  }
  expect(modeOf('copy.db')).toEqual({ auto_vacuum: 2 })
  await copyDatabase(join(folder, 'copy.db'), join(folder, 'second.db'))
  expect(modeOf('second.db')).toEqual({ auto_vacuum: 2 })
})

test('a share with many queries delays no other: shares take turns, and queries without one go first', async () => {
  const store = await open(freshFolder())
  const slow = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000) SELECT max(i) AS i FROM n'
  const order: string[] = []
  const ask = (share?: string): Promise<unknown> =>
    store.query(slow, [], share).then(() => order.push(share ?? 'at once'))
  const asked = [...Array.from({ length: 40 }, () => ask('greedy')), ask('modest'), ask()]
  await Promise.all(asked)
  // Two queries are already with the thread.
  expect(order.indexOf('at once')).toBeLessThanOrEqual(2)
  expect(order.indexOf('modest')).toBeLessThanOrEqual(4)
  expect(order).toHaveLength(42)
  const left = Array.from({ length: 10 }, () => ask('greedy'))
  await store.close()
  expect(await Promise.all(left)).toHaveLength(10)
  expect(store.query('SELECT 1', [], 'late')).rejects.toThrow('closed')
})

test('large transactions do not form one batch, and each goes in its turn', async () => {
  const store = await open(freshFolder())
  const large = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?2, 'active', 0)")
  const name = 'x'.repeat(6_000_000)
  const order: string[] = []
  const write = (id: string): Promise<unknown> =>
    store.write([{ run: large, bind: [id, id + name] }]).then(() => order.push(`${id}, ${store.queued()} left`))
  await Promise.all('abcdefg'.split('').map(write))
  // A batch has two of them. If one had all, nothing would be left after the first.
  expect(order).toEqual(['a, 5 left', 'b, 5 left', 'c, 3 left', 'd, 3 left', 'e, 1 left', 'f, 1 left', 'g, 0 left'])
  await store.close()
})

test('a commit waits a moment, and no longer, for a transaction that is about to join it', async () => {
  const store = await openStore(freshFolder(), () => expect.unreachable(), { deferMs: 60_000 })
  const none = (): never => expect.unreachable()
  // If the machine stalls for a millisecond, the commit leaves before the other one arrives.
  const shared: boolean[] = []
  for (let i = 0; i < 20; i++) {
    const joining = store.defer(none, () => undefined)
    const written = store.write([insert(`a${i}`)]).then(() => shared.push(store.queued() === 0))
    await new Promise((resolve) => void setImmediate(resolve))
    expect(joining.replace([insert(`b${i}`)])).toBe(true)
    await joining.written
    await written
  }
  expect(shared).toContain(true)
  const away = store.defer(none, () => undefined)
  expect(await store.write([insert('c')])).toEqual({ kind: 'written' })
  expect(store.queued()).toBe(1)
  away.replace([insert('d')])
  await store.close()
})

test('the outcome of a deferred transaction is there for any caller at any time, and is never unhandled', async () => {
  const store = await openStore(freshFolder(), () => expect.unreachable(), { deferMs: 1 })
  await store.write([insert('taken')])
  const heard: WriteOutcome['kind'][] = []
  const defer = (id: string): DeferredWrite =>
    store.defer(
      () => [insert(id)],
      ({ kind }) => {
        heard.push(kind)
        return kind === 'written' ? undefined : new Error('refused')
      },
    )
  const [good, bad] = [defer('a'), defer('taken')]
  defer('taken')
  const asked = Promise.allSettled([good.written, bad.written, bad.written])
  const late = [defer('b'), defer('taken')]
  while (heard.length < 5) await Bun.sleep(1)
  const ends = [...(await asked), ...(await Promise.allSettled([good, bad, ...late].map(({ written }) => written)))]
  expect(ends.map(({ status }) => status[0])).toEqual(['f', 'r', 'r', 'f', 'r', 'f', 'r'])
  expect(heard.toSorted()).toEqual(['refused', 'refused', 'refused', 'written', 'written'])
  await store.close()
})

test('a transaction that cannot be sent stops the process, because it was already decided', async () => {
  const fatal = Promise.withResolvers<string>()
  const writer = new Writer(fatal.resolve, 1)
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  void writer.write([{ run: insertAccount, bind: [circular as unknown as string] }])
  expect(await fatal.promise).toMatch(/TypeError/)
})
