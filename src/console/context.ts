/** What the console's routes work with: the admin services, the facts of this server, and how often one may guess. */
import { Passwords } from '../accounts/password.ts'
import { Throttle } from '../accounts/throttle.ts'
import type { AdminServices } from '../admin/operation.ts'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { watchBounds } from '../records/feed.ts'

export type ConsoleFacts = {
  readonly version: string
  /** As the operator says it; undefined: as the browser found it. */
  readonly publicUrl: string | undefined
  /** Whether models and their prices are shown to whoever is not signed in. */
  readonly publicModels: 'shown' | 'hidden'
  /** The public address is https. */
  readonly isSecure: boolean
  /** Settings for the page that shows them; nothing secret. */
  readonly settings: Readonly<Record<string, unknown>>
}

export type ConsoleContext = {
  readonly services: AdminServices
  readonly facts: ConsoleFacts
  readonly passwords: Passwords
  /** Places to watch from: of people and programs, and of those who belong to an account. */
  readonly watching: SharedBudget
  readonly watchingOfAccounts: SharedBudget
  readonly throttles: {
    /** Failed sign-ins of a name from one network, and of somebody who is in and gets the current password wrong. */
    readonly pairs: Throttle
    /** Of a name, from wherever: room for a few networks at their pace, so that no few of them lock its owner out. */
    readonly names: Throttle
    /** Whatever an address gets wrong: passwords, links, codes. */
    readonly addresses: Throttle
    /** Changes by those who belong to an account: each leaves a line in the audit log, and the disk is everybody's. */
    readonly changes: Throttle
    /** Notes of tries that failed: they are anybody's to make. */
    readonly notes: Throttle
  }
}

export const openDesk = (services: AdminServices, facts: ConsoleFacts): ConsoleContext => ({
  services,
  facts,
  passwords: new Passwords(),
  watching: new SharedBudget({ max: watchBounds.watchersMax, shareMax: watchBounds.watchersPerUserMax }),
  watchingOfAccounts: new SharedBudget({ max: watchBounds.watchersMax, shareMax: watchBounds.watchersPerAccountMax }),
  throttles: {
    pairs: new Throttle({ burst: 8, refillMs: 60_000 }),
    names: new Throttle({ burst: 60, refillMs: 10_000 }),
    addresses: new Throttle({ burst: 20, refillMs: 15_000 }),
    changes: new Throttle({ burst: 200, refillMs: 1_000 }),
    notes: new Throttle({ burst: 200, refillMs: 10_000 }),
  },
})
