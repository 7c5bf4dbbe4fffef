/** What the console's routes work with: the admin services, the facts of this server, and the throttles of guesses. */
import { Passwords } from '../accounts/password.ts'
import { Throttle } from '../accounts/throttle.ts'
import type { AdminServices } from '../admin/operation.ts'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { watchBounds } from '../records/feed.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export type ConsoleFacts = {
  readonly version: string
  /** The public address that the operator has set. Undefined: the browser's address is used. */
  readonly publicUrl: string | undefined
  /** Whether people who are not signed in see models and prices. */
  readonly publicModels: 'shown' | 'hidden'
  /** Whether the public address is https. */
  readonly isSecure: boolean
  /** The settings for the page that shows them. None is secret. */
  readonly settings: Readonly<Record<string, unknown>>
}

export type ConsoleContext = {
  readonly services: AdminServices
  readonly facts: ConsoleFacts
  readonly passwords: Passwords
  /** Open live lists: of one person or program, and of all people of one account. */
  readonly watching: SharedBudget
  readonly watchingOfAccounts: SharedBudget
  readonly throttles: {
    /** Failed sign-ins of a name from one network, and wrong current passwords of a signed-in person. */
    readonly pairs: Throttle
    /** Failed sign-ins of a name from all networks. It allows several networks their pace, so few cannot lock it. */
    readonly names: Throttle
    /** Everything that an address gets wrong: passwords, links, codes. */
    readonly addresses: Throttle
    /** Changes by people of an account. Each adds a line to the audit log, and all accounts share the disk. */
    readonly changes: Throttle
    /** Audit notes of failed tries, which anyone can cause. */
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
    pairs: new Throttle({ burst: 8, refillMs: MINUTE_MS }),
    names: new Throttle({ burst: 60, refillMs: 10_000 }),
    addresses: new Throttle({ burst: 20, refillMs: 15_000 }),
    changes: new Throttle({ burst: 200, refillMs: 1_000 }),
    notes: new Throttle({ burst: 200, refillMs: 10_000 }),
  },
})
