import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '../store/statement.ts'
import { DATABASE, mustWrite, openStore, type Store } from '../store/store.ts'
import { Codes, type CodeDraft, type NewCode } from './codes.ts'
import type { Ledger } from './ledger.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'
import { verifyLedger } from './verify.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const folder = mkdtempSync(join(tmpdir(), 'tollgate-codes-'))
let store: Store
let ledger: Ledger
let codes: Codes

const fatal = (message: string): never => {
  throw new Error(message)
}
beforeAll(async () => {
  store = await openStore(folder, fatal)
  ledger = (await openSqliteLedger(store, { owner: 'test', onBroken: fatal })).ledger
  codes = new Codes(store, ledger)
  for (const id of ['a', 'b']) {
    await mustWrite(store, [{ run: insertAccount, bind: [id] }])
    ledger.register(id)
  }
})
afterAll(async () => {
  expect(await verifyLedger(store)).toEqual([])
  await store.close()
  rmSync(folder, { recursive: true })
})

const batch: CodeDraft = { count: 1, amount: 5n, note: 'launch', expiresAtMs: undefined }
const make = async (draft: Partial<CodeDraft> = {}): Promise<NewCode> => {
  const { codes: made } = await codes.create({ ...batch, ...draft })
  return made[0] ?? expect.unreachable()
}

test('a code is redeemed exactly once, whoever tries at the same time', async () => {
  const { secret } = await make()
  const tried = await Promise.all(
    Array.from({ length: 200 }, (_, i) => codes.redeem(secret, { accountId: i % 2 === 0 ? 'a' : 'b' })),
  )
  expect(tried.filter(({ kind }) => kind === 'redeemed')).toHaveLength(1)
  expect(tried.filter(({ kind }) => kind === 'void')).toHaveLength(199)
  expect(ledger.balance('a').posted + ledger.balance('b').posted).toBe(5n)
})

test('many codes at once add up', async () => {
  const { codes: made } = await codes.create({ ...batch, count: 100, amount: 3n })
  const before = ledger.balance('a').posted
  const tried = await Promise.all(
    made.flatMap(({ secret }) => [0, 1].map(() => codes.redeem(secret, { accountId: 'a' }))),
  )
  expect(tried.filter(({ kind }) => kind === 'redeemed')).toHaveLength(100)
  expect(ledger.balance('a').posted - before).toBe(300n)
})

test('what is expired, voided, mistyped or unknown adds nothing', async () => {
  const before = ledger.balance('a').posted
  const late = await make({ expiresAtMs: Date.now() - 1 })
  const voided = await make()
  expect(await codes.void(voided.id)).toBe(true)
  const good = await make()
  for (const secret of [late.secret, voided.secret, `${good.secret}X`, good.secret.slice(0, -1), 'TG-NONE', '']) {
    expect(await codes.redeem(secret, { accountId: 'a' })).toEqual({ kind: 'void' })
  }
  expect(ledger.balance('a').posted).toBe(before)
  // Dashes and case are how people type.
  const typed = good.secret.replaceAll('-', ' ').toLowerCase()
  expect(await codes.redeem(typed, { accountId: 'a' })).toMatchObject({ kind: 'redeemed', amount: 5n })
  expect(await codes.void(good.id)).toBe(false)
})

test('a code that is refused for the sake of the balance can be redeemed later', async () => {
  const { secret } = await make({ amount: 4_000_000_000_000_000_000n })
  expect(await codes.redeem(secret, { accountId: 'a' })).toEqual({ kind: 'too_large' })
  expect(await codes.redeem(secret, { accountId: 'nobody' })).toEqual({ kind: 'void' })
})

test('a crash between redeeming and booking is not possible: both are one transaction', async () => {
  const { secret, id } = await make()
  await codes.redeem(secret, { accountId: 'b' })
  const db = new Database(join(folder, DATABASE), { readonly: true })
  expect(db.query('SELECT redeemed_by FROM redemption_code WHERE id = ?').get(id)).toEqual({ redeemed_by: 'b' })
  expect(db.query('SELECT ref, kind FROM journal WHERE ref = ?').get(`code:${id}`)).toEqual({
    ref: `code:${id}`,
    kind: 'credit',
  })
  const unbooked = `SELECT count(*) AS n FROM redemption_code c LEFT JOIN journal j ON j.ref = 'code:' || c.id
    WHERE (c.redeemed_at IS NULL) <> (j.id IS NULL)`
  expect(db.query(unbooked).get()).toEqual({ n: 0 })
  db.close()
})

test('the code itself is not kept', async () => {
  const { secret } = await make()
  const rows = JSON.stringify(await store.query('SELECT * FROM redemption_code'), (_, value: unknown) => String(value))
  expect(rows).not.toContain(secret)
})
