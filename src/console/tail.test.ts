import { afterEach, expect, test } from 'bun:test'
import type { ServerExchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { watchBounds, type RecordFeed } from '../records/feed.ts'
import { openLocalFeed } from '../records/local-feed.ts'
import type { RequestRecord } from '../records/records.ts'
import { Tail } from './tail.ts'

const { rowsPerPushMax, pushMs } = watchBounds
type Event = {
  readonly type: string
  readonly data?: readonly string[]
  readonly more?: number
  readonly reason?: string
}

/** A client whose reads the test controls. */
class Client {
  readonly events: Event[] = []
  isReading = true
  ending = ''
  onClosed: (() => void) | undefined
  private waiters: (() => void)[] = []

  begin(): void {
    this.ending = 'open'
  }

  send(text: string): boolean {
    for (const line of text.split('\n').filter((each) => each.startsWith('data: '))) {
      this.events.push(JSON.parse(line.slice(6)) as Event)
    }
    return this.isReading
  }

  flushed(): Promise<void> {
    return new Promise((resolve) => void this.waiters.push(resolve))
  }

  read(): void {
    this.isReading = true
    for (const wake of this.waiters.splice(0)) wake()
  }

  end(text: string): void {
    this.send(text)
    this.ending = 'ended'
  }

  destroy(): void {
    this.ending = 'destroyed'
  }

  get rows(): readonly Event[] {
    return this.events.filter(({ type }) => type === 'rows')
  }
}

const open: Tail[] = []
afterEach(() => {
  for (const tail of open.splice(0)) tail.close()
})

function watch(
  feed: RecordFeed,
  state = { stands: true, closed: 0 },
): { client: Client; tail: Tail; state: typeof state } {
  const client = new Client()
  const tail = new Tail({
    feed,
    account: 'a',
    fits: ({ model }) => model !== 'unwanted',
    view: ({ id }) => id,
    stands: () => state.stands,
    onClosed: () => state.closed++,
  })
  open.push(tail)
  tail.begin(client as unknown as ServerExchange, { headers: {}, first: { data: [], next_cursor: null } })
  return { client, tail, state }
}

const record = (change: Partial<RequestRecord> = {}): RequestRecord =>
  ({ id: timeOrderedId('req_'), accountId: 'a', model: 'm', ...change }) as RequestRecord

test('a burst becomes a few bounded pushes, and every row is counted', async () => {
  const feed = openLocalFeed()
  const { client } = watch(feed)
  const startedMs = performance.now()
  let published = 0
  while (performance.now() - startedMs < 3 * pushMs) {
    for (let i = 0; i < 50; i++, published++) feed.published(record())
    await Bun.sleep(10)
  }
  await Bun.sleep(2 * pushMs)
  expect(client.rows.length).toBeLessThanOrEqual(5)
  expect(Math.max(...client.rows.map(({ data = [] }) => data.length))).toBe(rowsPerPushMax)
  expect(client.rows.reduce((sum, { data = [], more = 0 }) => sum + data.length + more, 0)).toBe(published)
  for (const { data = [] } of client.rows) expect(data).toEqual(data.toSorted().toReversed())
})

test('omitted rows are older than the last sent row', async () => {
  const feed = openLocalFeed()
  const { client } = watch(feed)
  const ids = Array.from({ length: 3 * rowsPerPushMax }, (_, i) => record({ id: `req_${String(i).padStart(5, '0')}` }))
  for (const one of [...ids.slice(100), ...ids.slice(0, 100)]) feed.published(one)
  await Bun.sleep(2 * pushMs)
  expect(client.rows).toHaveLength(1)
  expect(client.rows[0]?.data).toEqual(
    ids
      .slice(-rowsPerPushMax)
      .map(({ id }) => id)
      .toReversed(),
  )
})

test('a client that does not read gets nothing, and little is kept for it', async () => {
  const feed = openLocalFeed()
  const { client } = watch(feed)
  client.isReading = false
  feed.published(record())
  await Bun.sleep(2 * pushMs)
  const said = client.events.length
  for (let i = 0; i < 10_000; i++) feed.published(record())
  await Bun.sleep(2 * pushMs)
  expect(client.events).toHaveLength(said)
  client.read()
  await Bun.sleep(2 * pushMs)
  expect(client.rows.at(-1)).toMatchObject({ type: 'rows', more: 10_000 - rowsPerPushMax })
})

test('rows outside the filter or of another account cause no push', async () => {
  const feed = openLocalFeed()
  const { client } = watch(feed)
  feed.published(record({ accountId: 'b' }))
  feed.published(record({ model: 'unwanted' }))
  await Bun.sleep(2 * pushMs)
  expect(client.rows).toEqual([])
})

test('without the right no row is sent, even if some wait', async () => {
  const feed = openLocalFeed()
  const { client, state } = watch(feed)
  state.stands = false
  feed.published(record())
  await Bun.sleep(2 * pushMs)
  expect(client.events.slice(1)).toEqual([{ type: 'end', reason: 'not_allowed' }])
  expect([client.ending, state.closed]).toEqual(['ended', 1])
})

test('a client that does not read at the end is cut off', () => {
  const feed = openLocalFeed()
  const { client, tail, state } = watch(feed)
  client.isReading = false
  tail.take(record())
  return Bun.sleep(2 * pushMs).then(() => {
    feed.close()
    expect([client.ending, state.closed]).toEqual(['destroyed', 1])
  })
})

test('a client that comes during a shutdown gets the end event', () => {
  const feed = openLocalFeed()
  feed.close()
  const { client, state } = watch(feed)
  expect(client.events.at(-1)).toEqual({ type: 'end', reason: 'shutdown' })
  expect(state.closed).toBe(1)
})

test('a client that goes is forgotten', () => {
  const feed = openLocalFeed()
  const { client, state } = watch(feed)
  client.onClosed?.()
  client.onClosed?.()
  feed.published(record())
  feed.close()
  expect(client.events).toHaveLength(1)
  expect(state.closed).toBe(1)
})
