/** Runs contract suites on SQLite. Each port gets its own data folder, which is deleted with it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PortUnderTest } from './port-contract.ts'
import { statement } from './statement.ts'
import { mustWrite, openStore, type Store } from './store.ts'

export const insertAccount = statement(
  "INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', ?2)",
)

/** Opens a port of SQLite for a contract suite. */
export const onSqlite =
  <Port>(openPort: (store: Store) => Port | Promise<Port>) =>
  async (): Promise<PortUnderTest<Port> & { readonly store: Store }> => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-contract-'))
    const store = await openStore(folder, (message) => {
      throw new Error(message)
    })
    return {
      port: await openPort(store),
      store,
      async addAccount(id) {
        await mustWrite(store, [{ run: insertAccount, bind: [id, Date.now()], changes: 1 }])
      },
      write: (steps) => store.write(steps),
      reopen: async () => openPort(store),
      async close() {
        await store.close()
        rmSync(folder, { recursive: true })
      },
    }
  }
