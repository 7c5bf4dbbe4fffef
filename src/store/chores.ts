/** Periodic work that one process does for all that share the database. */
import { statement } from './statement.ts'
import type { Store } from './store.ts'

export type Chores = {
  /** Whether this process does the work of this name now. It then keeps the work as long as it lives. */
  isMine(name: string): Promise<boolean>
}

/** The chores of a process that has its database alone. */
const allMine: Chores = { isMine: () => Promise.resolve(true) }

/** A chore whose owner has died is free. */
const take = statement(`INSERT INTO chore (name, owner) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner
  WHERE chore.owner = excluded.owner OR NOT EXISTS (
    SELECT 1 FROM instance WHERE instance.id = chore.owner AND instance.state IN ('alive', 'draining'))`)

/** `instance` is the owner of the chores of this process, if others share the database. */
export function openChores(store: Pick<Store, 'write'>, instance: string | undefined): Chores {
  if (instance === undefined) return allMine
  return {
    async isMine(name) {
      return (await store.write([{ run: take, bind: [name, instance], changes: 1 }], 'bulk')).kind === 'written'
    },
  }
}
