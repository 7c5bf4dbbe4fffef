/** Ends the rests of a provider's offers and keys at all instances, because its cause is mended for all of them. */
import type { AdminServices } from './admin/operation.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { HealthBook } from './relay/health-book.ts'
import { offersOfProvider } from './router/health.ts'
import type { Store } from './store/store.ts'

type Parts = {
  readonly catalog: Pick<Catalog, 'models' | 'provider'> & { reload(): Promise<void> }
  readonly health: HealthBook
}

/** Returns what ends the rests of a provider. Other instances follow once they have read the changes before. */
export async function openRests(store: Store, { catalog, health }: Parts): Promise<AdminServices['resume']> {
  const resumeHere = (id: string): number => health.resume(offersOfProvider(catalog, id), catalog.provider(id)?.keys)
  await store.changes.watch({
    kind: 'rest',
    load: () => Promise.resolve(),
    async reload(id) {
      // With the former key, the provider would soon rest again.
      await catalog.reload()
      resumeHere(id)
    },
  })
  return async (id) => {
    const { changes } = store
    const rested = resumeHere(id)
    if (changes.isShared) await store.write(changes.announce('rest', id), changes.lane)
    return rested
  }
}
