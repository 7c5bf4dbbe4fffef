import { expect, test } from 'bun:test'
import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { insertAccount, makeSqliteDatabase } from '../store/sqlite-contract.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { describeCodesContract, type CodesUnderTest } from './codes-contract.ts'
import { openSqlCodes } from './sql-codes.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'
import { verifyLedger } from './verify.ts'

const fatal = (message: string): never => {
  throw new Error(message)
}

async function openOn(database: DatabaseUnderTest): Promise<CodesUnderTest & { readonly store: Store }> {
  const store = await database.open()
  const { ledger } = await openSqliteLedger(store, { instance: 'test', onBroken: fatal })
  for (const id of ['a', 'b']) {
    await mustWrite(store, [{ run: insertAccount, bind: [id, 0] }])
    ledger.register(id)
  }
  return {
    store,
    codes: openSqlCodes(store, ledger),
    ledger,
    stored: async () =>
      JSON.stringify(await store.query('SELECT * FROM redemption_code'), (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    findings: () => verifyLedger(store),
    async close() {
      await store.close()
      await database.remove()
    },
  }
}

const openings: [string, () => Promise<CodesUnderTest & { readonly store: Store }>][] = [
  ['SQLite', () => openOn(makeSqliteDatabase())],
  ['PostgreSQL', async () => openOn(await makePostgresDatabase())],
]
for (const [name, open] of openings) describeCodesContract(`SqlCodes on ${name}`, open)

test.each(openings)(
  'a crash between redeeming and booking is not possible on %s: both are one transaction',
  async (_, open) => {
    const books = await open()
    const { codes, store } = books
    const { secret, id } =
      (await codes.create({ count: 1, amount: 5n, note: 'launch', expiresAtMs: undefined })).codes[0] ??
      expect.unreachable()
    await codes.redeem(secret, { accountId: 'b' })
    const redeemed = await store.query('SELECT redeemed_by FROM redemption_code WHERE id = ?', [id])
    expect(redeemed).toEqual([{ redeemed_by: 'b' }])
    const booked = await store.query('SELECT ref, kind FROM journal WHERE ref = ?', [`code:${id}`])
    expect(booked).toEqual([{ ref: `code:${id}`, kind: 'credit' }])
    const unbooked = `SELECT count(*) AS n FROM redemption_code c LEFT JOIN journal j ON j.ref = 'code:' || c.id
    WHERE (c.redeemed_at IS NULL) <> (j.id IS NULL)`
    expect(await store.query(unbooked)).toEqual([{ n: 0n }])
    await books.close()
  },
)
