import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../store/store.ts'
import { describeCatalogContract, type CatalogUnderTest } from './catalog-contract.ts'
import type { CatalogOptions } from './catalog.ts'
import { openSqliteCatalog } from './sqlite-catalog.ts'

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

async function openFolder(folder: string, options: CatalogOptions): Promise<CatalogUnderTest> {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const text = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString()
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
  }
  return {
    catalog: await openSqliteCatalog(store, options),
    async restart(next) {
      await store.close()
      return openFolder(folder, next)
    },
    stored: async () => JSON.stringify(await store.query('SELECT * FROM provider'), text),
    close: () => store.close(),
  }
}

describeCatalogContract('SqliteCatalog', async (options) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'))
  folders.push(folder)
  return openFolder(folder, options)
})
