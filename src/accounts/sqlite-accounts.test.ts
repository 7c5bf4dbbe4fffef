import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../store/store.ts'
import { describeAccountsContract, type AccountsUnderTest } from './accounts-contract.ts'
import type { AccountsOptions } from './accounts.ts'
import { openSqliteAccounts } from './sqlite-accounts.ts'

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

async function openFolder(folder: string, options: AccountsOptions): Promise<AccountsUnderTest> {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const text = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString()
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
  }
  return {
    accounts: await openSqliteAccounts(store, options),
    async restart(next) {
      await store.close()
      return openFolder(folder, next)
    },
    stored: async () => JSON.stringify([await store.query('SELECT * FROM api_key')], text),
    close: () => store.close(),
  }
}

describeAccountsContract('SqliteAccounts', async (options) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-accounts-'))
  folders.push(folder)
  return openFolder(folder, options)
})
