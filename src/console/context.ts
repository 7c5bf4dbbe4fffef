/** What the console's routes work with: the admin services, the facts of this server, and the throttles of guesses. */
import { Passwords } from '../accounts/password.ts'
import type { Throttle } from '../accounts/throttle.ts'
import type { AdminServices } from '../admin/operation.ts'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { watchBounds } from '../records/feed.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type ConsoleFacts = {
  readonly version: string
  /** The public address that the operator has set. Undefined: the browser's address is used. */
  readonly publicUrl: string | undefined
  /** Whether people who are not signed in see models and prices. */
  readonly publicModels: 'shown' | 'hidden'
  /** Whether the public address is https. */
  readonly isSecure: boolean
  /** The settings for the page that shows them. None is secret. */
  readonly settings: () => Promise<Readonly<Record<string, unknown>>>
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

/** How many tries in a row, and after how long there is one more. */
const throttleRules = {
  pairs: {
    burst: limit('wrongPasswordsMax', 8, 'A further sign-in with this name from this network waits.'),
    refillMs: limit(
      'wrongPasswordMs',
      MINUTE_MS,
      'After this time, one more try with the name is allowed from this network.',
    ),
  },
  names: {
    burst: limit('wrongPasswordsPerNameMax', 60, 'A further sign-in with this name from any network waits.'),
    refillMs: limit('wrongPasswordPerNameMs', 10_000, 'After this time, one more try with the name is allowed.'),
  },
  addresses: {
    burst: limit('wrongTriesPerAddressMax', 20, 'A further password, link or code from this address waits.'),
    refillMs: limit('wrongTryPerAddressMs', 15_000, 'After this time, one more try from the address is allowed.'),
  },
  changes: {
    burst: limit('accountChangesMax', 200, 'A further change by users of the account is refused.'),
    refillMs: limit('accountChangeMs', 1_000, 'After this time, one more change by users of the account is allowed.'),
  },
  notes: {
    burst: limit('failedTryNotesMax', 200, 'A further failed try is not written to the audit log.'),
    refillMs: limit('failedTryNoteMs', 10_000, 'After this time, one more failed try is written to the audit log.'),
  },
}

export const openDesk = (services: AdminServices, facts: ConsoleFacts): ConsoleContext => ({
  services,
  facts,
  passwords: new Passwords(),
  watching: new SharedBudget({ max: watchBounds.watchersMax, shareMax: watchBounds.watchersPerUserMax }),
  watchingOfAccounts: new SharedBudget({ max: watchBounds.watchersMax, shareMax: watchBounds.watchersPerAccountMax }),
  throttles: {
    pairs: services.openThrottle('pairs', throttleRules.pairs),
    names: services.openThrottle('names', throttleRules.names),
    addresses: services.openThrottle('addresses', throttleRules.addresses),
    changes: services.openThrottle('changes', throttleRules.changes),
    notes: services.openThrottle('notes', throttleRules.notes),
  },
})
