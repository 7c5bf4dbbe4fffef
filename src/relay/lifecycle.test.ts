import { expect, test } from 'bun:test'
import type { IdempotencyLock } from '../records/idempotency.ts'
import type { AttemptNote } from '../records/records.ts'
import { RequestLife } from './lifecycle.ts'
import { ProviderConcurrency, type Permit } from './provider-concurrency.ts'

const permitOf = (): Permit => {
  const permit = new ProviderConcurrency().take({ id: 'p' })
  if (!permit) throw new Error('the first request of a provider has room')
  return permit
}
const life = ({ isBackground = false } = {}): RequestLife => new RequestLife({ isBackground })

/** The life of a request that was sent to a vendor that stops billing when the client leaves. */
function sent({ billsOn = false, isLocked = false } = {}): RequestLife {
  const one = life()
  if (isLocked) one.locked({ end: () => undefined } as unknown as IdempotencyLock)
  one.admitted(undefined)
  one.attempting(permitOf())
  one.sent({ billsOn, cap: undefined })
  return one
}

test('a request goes from stage to stage, and never back', () => {
  const one = sent()
  one.answering(12)
  expect(one.firstEventMs).toBe(12)
  expect(() => one.attempting(permitOf())).toThrow("'answering'")
  expect(() => one.admitted(undefined)).toThrow("'answering'")
  one.ended(undefined)
  expect(() => one.answering(13)).toThrow("'ended'")
  expect(() => life().attempting(permitOf())).toThrow("'received'")
  expect(() => life().answering(1)).toThrow("'received'")
})

test('without a running attempt there is no answer', () => {
  const one = sent()
  one.waiting()
  expect(() => one.answering(1)).toThrow('could answer')
})

test('the upstream is read on after the client left only while the vendor bills on', () => {
  expect(sent().outlivesClient).toBe(false)
  const one = sent({ billsOn: true })
  expect(one.outlivesClient).toBe(true)
  // The next offer decides once the request is sent to it. Nothing is billed before.
  one.attempting(permitOf())
  expect(one.outlivesClient).toBe(true)
  one.sent({ billsOn: false, cap: undefined })
  expect(one.outlivesClient).toBe(false)
  one.made()
  expect(one.outlivesClient).toBe(true)
  one.waiting()
  expect(one.outlivesClient).toBe(false)
})

test('work that was made during the answer is paid for', () => {
  const one = sent()
  one.answering(1)
  expect(one.outlivesClient).toBe(false)
  one.made()
  expect(one.outlivesClient).toBe(true)
})

test('a client with an idempotency key is served as if it waited, except for a background answer', () => {
  const one = sent({ isLocked: true })
  one.waiting()
  expect([one.isAwaited, one.outlivesClient]).toEqual([true, true])
  const background = life({ isBackground: true })
  background.locked({ end: () => undefined } as unknown as IdempotencyLock)
  expect([background.isAwaited, background.outlivesClient]).toEqual([false, false])
})

test('the end releases the permit and the lock of the request', () => {
  let isEnded = false
  const one = life()
  one.locked({ end: () => void (isEnded = true) } as unknown as IdempotencyLock)
  one.admitted(undefined)
  const concurrency = new ProviderConcurrency()
  const provider = { id: 'p', concurrentRequests: 1 }
  one.attempting(concurrency.take(provider) as Permit)
  expect(concurrency.take(provider)).toBeUndefined()
  one.ended(undefined)
  expect(isEnded).toBe(true)
  expect(concurrency.take(provider)).toBeDefined()
})

test('an attempt that served and then broke has one note, with the final result', () => {
  const one = sent()
  const note = { offerId: 'o', result: 'ok' } as AttemptNote
  one.noted(note)
  one.broke((served) => ({ ...served, result: 'network' }))
  expect(one.attempts).toEqual([{ ...note, result: 'network' }])
})
