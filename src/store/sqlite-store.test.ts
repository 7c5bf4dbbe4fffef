import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStoreContract, type StoreUnderTest } from './store-contract.ts'
import { openStore, type Store } from './store.ts'

const onFatal = (message: string): never => {
  throw new Error(message)
}

async function openFresh(): Promise<StoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
  const open = (): Promise<Store> => openStore(folder, onFatal)
  let current = await open()
  return {
    store: current,
    async reopen() {
      await current.close()
      return (current = await open())
    },
    async close() {
      await current.close()
      rmSync(folder, { recursive: true })
    },
  }
}

describeStoreContract('SQLite', openFresh)
