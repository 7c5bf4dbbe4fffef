import { expect, test } from 'bun:test'
import { ProviderTally } from './provider-tally.ts'

test('results that say nothing about a vendor do not count against it', () => {
  const tally = new ProviderTally()
  const note = (result: string): void =>
    tally.noted([{ offerId: 'o', providerId: 'p', upstreamModel: 'm', result, startedMs: 0, tookMs: 1 }])
  for (const result of ['ok', 'full', 'aborted', 'server', 'full']) note(result)
  expect(tally.of('p')).toMatchObject({ succeeded: 1, failed: 1, lastFailure: { result: 'server' } })
})
