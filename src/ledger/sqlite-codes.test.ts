import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '../store/statement.ts'
import { DATABASE, mustWrite, openStore } from '../store/store.ts'
import { describeCodesContract, type CodesUnderTest } from './codes-contract.ts'
import { openSqliteCodes } from './sqlite-codes.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'
import { verifyLedger } from './verify.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

const fatal = (message: string): never => {
  throw new Error(message)
}

async function open(): Promise<CodesUnderTest & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-codes-'))
  folders.push(folder)
  const store = await openStore(folder, fatal)
  const { ledger } = await openSqliteLedger(store, { owner: 'test', onBroken: fatal })
  for (const id of ['a', 'b']) {
    await mustWrite(store, [{ run: insertAccount, bind: [id] }])
    ledger.register(id)
  }
  return {
    folder,
    codes: openSqliteCodes(store, ledger),
    ledger,
    stored: async () =>
      JSON.stringify(await store.query('SELECT * FROM redemption_code'), (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    findings: () => verifyLedger(store),
    close: () => store.close(),
  }
}

describeCodesContract('SqliteCodes', open)

test('a crash between redeeming and booking is not possible: both are one transaction', async () => {
  const books = await open()
  const { codes, folder } = books
  const { secret, id } =
    (await codes.create({ count: 1, amount: 5n, note: 'launch', expiresAtMs: undefined })).codes[0] ??
    expect.unreachable()
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
  await books.close()
})
