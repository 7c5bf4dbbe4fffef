import { expect, test } from 'bun:test'
import { openMemoryLimiter } from '../accounts/memory-limiter.ts'
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import { FreeRoutes, type FreeBounds, type FreeOptions } from './unbilled-routes.ts'
import type { StateAnswer } from './state.ts'
import type { Responder, RequestContext } from './request-context.ts'

const LARGE = 'x'.repeat(100_000)

/** Clients that take their answers only on command. */
function setUp(bounds: Partial<FreeBounds>) {
  const free = {
    statePerMinute: 1e6,
    stateConcurrent: 100,
    countPerMinute: 1e6,
    countConcurrent: 100,
    countBytesPerMinute: 1e9,
    countBytesPerMinuteUnfunded: 1e9,
    unreadBytesMax: 1e9,
    ...bounds,
  }
  const refused: Failure[] = []
  let replied = 0
  const readers: (() => void)[] = []
  const api = {
    callerOf: ({ id }: RequestContext) =>
      ({ key: { id, limits: {} }, account: { id, limits: {} } }) as unknown as Caller,
    refuse: (_: RequestContext, failure: Failure) => void refused.push(failure),
    replyText: () => void replied++,
  } as unknown as Responder
  const routes = new FreeRoutes(
    {
      free,
      limiter: openMemoryLimiter([]),
      links: { publicUrl: 'http://x', isLoopback: false },
    } as unknown as FreeOptions,
    api,
  )
  const ask = (account: string, text = LARGE): Promise<void> => {
    const handler = (): Promise<StateAnswer> => Promise.resolve({ kind: 'body', body: { text } })
    const flushed = (): Promise<void> => new Promise((resolve) => void readers.push(resolve))
    const context = {
      id: account,
      exchange: { head: { method: 'GET', query: '' }, flushed },
    } as unknown as RequestContext
    return routes.state(context, { handler }, 'resp')
  }
  const readAll = (): void => readers.splice(0).forEach((read) => read())
  return { ask, refused, readAll, replied: () => replied }
}

const waits = (failure: Failure | undefined): unknown => [failure?.kind, (failure?.retryAfterMs ?? 0) > 0]

test('unread answers of an account have a limit; other accounts and small answers pass', async () => {
  const { ask, refused, readAll, replied } = setUp({ unreadBytesMax: 250_000 })
  const asked = [ask('a'), ask('a'), ask('a'), ask('b'), ask('a', 'small')]
  await Bun.sleep(1)
  expect(replied()).toBe(4)
  expect(refused.map(waits)).toEqual([['rate_limited', true]])
  readAll()
  await Promise.all(asked)
  void ask('a', LARGE.repeat(10))
  await Bun.sleep(1)
  // A single answer may have any size.
  expect(replied()).toBe(5)
  await ask('a')
  expect(refused).toHaveLength(2)
})

test('free requests have a limit at once and a limit per minute', async () => {
  const { ask, refused, readAll, replied } = setUp({ stateConcurrent: 3, statePerMinute: 5 })
  const asked = Array.from({ length: 5 }, () => ask('a', 'small'))
  await Bun.sleep(1)
  expect([replied(), ...refused.map(waits)]).toEqual([3, ['rate_limited', true], ['rate_limited', true]])
  readAll()
  await Promise.all(asked)
  for (let i = 0; i < 3; i++) {
    const again = ask('a', 'small')
    await Bun.sleep(1)
    readAll()
    await again
  }
  expect([replied(), refused.length, waits(refused[2])]).toEqual([5, 3, ['rate_limited', true]])
})
