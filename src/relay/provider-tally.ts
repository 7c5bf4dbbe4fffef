/** The results of providers since this process began, for the operator. They are lost at a restart, like health. */
import type { AttemptNote } from '../records/records.ts'

export type ProviderStanding = {
  readonly succeeded: number
  readonly failed: number
  readonly lastFailure:
    | { readonly result: string; readonly status: number | undefined; readonly message: string; readonly atMs: number }
    | undefined
  /** The operator's last test of the connection, with the current key. */
  readonly lastTest: ProviderTest | undefined
}

export type ProviderTest = {
  readonly ok: boolean
  readonly status: number | undefined
  readonly problem: string | undefined
  readonly atMs: number
}

/** Results that say nothing about a vendor. */
const NOT_ITS_OWN: ReadonlySet<string> = new Set(['aborted', 'full', 'outrun', 'unread'])

type ProviderStats = { -readonly [K in keyof ProviderStanding]: ProviderStanding[K] }

export class ProviderTally {
  private readonly tallies = new Map<string, ProviderStats>()

  noted(attempts: readonly AttemptNote[]): void {
    for (const { providerId, result, status, message = '' } of attempts) {
      if (NOT_ITS_OWN.has(result)) continue
      let tally = this.tallies.get(providerId)
      if (!tally) this.tallies.set(providerId, (tally = { ...untried }))
      if (result === 'ok') tally.succeeded++
      else {
        tally.failed++
        tally.lastFailure = { result, status, message, atMs: Date.now() }
      }
    }
  }

  tested(providerId: string, test: ProviderTest): void {
    this.tallies.set(providerId, { ...this.of(providerId), lastTest: test })
  }

  /** The connection was changed, so earlier results say nothing about it. */
  changed(providerId: string): void {
    const tally = this.tallies.get(providerId)
    if (tally) tally.lastTest = undefined
  }

  of(providerId: string): ProviderStanding {
    return { ...(this.tallies.get(providerId) ?? untried) }
  }
}

const untried: ProviderStanding = { succeeded: 0, failed: 0, lastFailure: undefined, lastTest: undefined }
