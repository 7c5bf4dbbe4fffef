/** How providers have done since this process began, for the operator to look at. Lost at a restart, like health. */
import type { AttemptNote } from '../records/records.ts'

export type ProviderStanding = {
  readonly succeeded: number
  readonly failed: number
  readonly lastFailure:
    | { readonly result: string; readonly status: number | undefined; readonly message: string; readonly atMs: number }
    | undefined
}

export class ProviderTally {
  private readonly standings = new Map<string, ProviderStanding>()

  noted(attempts: readonly AttemptNote[]): void {
    for (const attempt of attempts) {
      const { succeeded, failed, lastFailure } = this.of(attempt.providerId)
      const { result, status, message = '' } = attempt
      this.standings.set(
        attempt.providerId,
        result === 'ok'
          ? { succeeded: succeeded + 1, failed, lastFailure }
          : { succeeded, failed: failed + 1, lastFailure: { result, status, message, atMs: Date.now() } },
      )
    }
  }

  of(providerId: string): ProviderStanding {
    return this.standings.get(providerId) ?? { succeeded: 0, failed: 0, lastFailure: undefined }
  }
}
