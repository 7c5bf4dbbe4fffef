/** The contract of `RecordFeed` as tests for any feed. The suite uses only the port. */
import { describe, expect, test } from 'bun:test'
import { Dice } from '../store/port-contract.ts'
import type { RecordFeed, Watcher } from './feed.ts'
import { randomRecord } from './records-contract.ts'
import type { RequestRecord } from './records.ts'

export type FeedUnderTest = {
  readonly feed: RecordFeed
  /** Publishes a request where the feed learns of it. Resolves once each watcher has it. */
  readonly publish: (record: RequestRecord) => Promise<void>
  readonly close: () => Promise<void>
}

class Listener implements Watcher {
  readonly taken: RequestRecord[] = []
  ends = 0

  take(record: RequestRecord): void {
    this.taken.push(record)
  }

  end(): void {
    this.ends++
  }
}

/** Runs the suite. */
export function describeRecordFeedContract(name: string, open: () => Promise<FeedUnderTest>): void {
  describe(`${name} keeps the contract of the feed of requests`, () => {
    const dice = new Dice(5)
    const record = (accountId: string): RequestRecord => ({ ...randomRecord(dice, Date.now()), accountId })

    test('a watcher gets the records of its account while it watches, each once, in their order', async () => {
      const { feed, publish, close } = await open()
      await publish(record('a'))
      const [first, second, other] = [new Listener(), new Listener(), new Listener()]
      const stops = [feed.watch('a', first), feed.watch('a', second), feed.watch('b', other)]
      await feed.caughtUp()
      const made: RequestRecord[] = []
      for (let i = 0; i < 40; i++) {
        made.push(record(dice.pick('a', 'b', 'c')))
        await publish(made[i] as RequestRecord)
        if (i === 20) stops[1]?.()
      }
      const idsOf = (accountId: string, records: readonly RequestRecord[]): string[] =>
        records.filter((one) => one.accountId === accountId).map(({ id }) => id)
      expect(first.taken.map(({ id }) => id)).toEqual(idsOf('a', made))
      expect(second.taken.map(({ id }) => id)).toEqual(idsOf('a', made.slice(0, 21)))
      expect(other.taken.map(({ id }) => id)).toEqual(idsOf('b', made))
      // A second end of one watch ends no other watch.
      stops[1]?.()
      const last = record('a')
      await publish(last)
      expect(first.taken.at(-1)?.id).toBe(last.id)
      expect([first.ends, second.ends, other.ends]).toEqual([0, 0, 0])
      await close()
    })

    test('a feed that closes ends each watch once, and takes no other', async () => {
      const { feed, close } = await open()
      const [listener, gone] = [new Listener(), new Listener()]
      feed.watch('a', listener)
      feed.watch('a', gone)?.()
      feed.close()
      expect([listener.ends, gone.ends]).toEqual([1, 0])
      expect(feed.watch('a', listener)).toBeUndefined()
      await close()
    })
  })
}
