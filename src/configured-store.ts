/** The store that the configuration names: the data folder, or the PostgreSQL database that instances share. */
import { chmodSync, mkdirSync } from 'node:fs'
import type { Config } from './config.ts'
import type { Log } from './lib/runtime/log.ts'
import type { StoreEndEvent } from './store/postgres/store-end.ts'
import { openStore, type Store } from './store/store.ts'

export type StoreOpening = {
  readonly log: Log
  /** The id of this instance. The default is a new one. */
  readonly instance?: string
  /** Called with the event to log when nothing can be written any more. The caller must then stop the process. */
  readonly onFatal: (message: string, event: StoreEndEvent) => never
}

/** Opens the store. Throws `FolderInUse` when another process uses the folder, and `DatabaseTooNew`. */
export async function openConfiguredStore(config: Config, { log, instance, onFatal }: StoreOpening): Promise<Store> {
  const { databaseUrl, dataFolder: folder } = config
  if (databaseUrl === undefined) {
    const stop = (message: string): never => onFatal(message, 'store.fatal')
    return openStore(folder, stop, { onUpgrade: (upgrade) => log('warn', 'store.upgraded', { ...upgrade }) })
  }
  // With a database, the folder is for uploads and the control socket.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const { openPostgresStore } = await import('./store/postgres/store.ts')
  return openPostgresStore(databaseUrl, { folder, instance, onFatal })
}
