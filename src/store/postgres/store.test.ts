import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestPostgres } from '../../../test/support/postgres.ts'
import { describeStoreContract, type StoreUnderTest } from '../store-contract.ts'
import type { Store } from '../store.ts'
import { openPostgresStore } from './store.ts'

const onFatal = (message: string): never => {
  throw new Error(message)
}

async function openFresh(): Promise<StoreUnderTest> {
  const database = await openTestPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
  const open = (): Promise<Store> => openPostgresStore(database.url, { folder, onFatal })
  let current = await open()
  return {
    store: current,
    async reopen() {
      await current.close()
      return (current = await open())
    },
    async close() {
      await current.close()
      await database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

describeStoreContract('PostgreSQL', openFresh)
