import type { Relay } from './context.ts'

/**
 * Waits until the store has decided on what this process has taken of a balance, and reads it. A balance that cannot be
 * read stays as it was last known.
 */
export async function newerBalance({ ledger }: Pick<Relay, 'ledger'>, accountId: string): Promise<void> {
  await ledger.whenDecided(accountId)
  await ledger.refresh([accountId])?.catch(() => undefined)
}
