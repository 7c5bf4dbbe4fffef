import { expect, test } from 'bun:test'
import type { KeyedProvider } from '../domain/catalog.ts'
import { conversationKeyOf, type ConversationKey } from '../router/conversations.ts'
import { isKeyFault, ProviderKeys } from './provider-keys.ts'

const keyed = (id: string, concurrentRequests?: number): KeyedProvider =>
  ({ id: 'vendor', secret: `sk-${id}`, key: { id, concurrentRequests } }) as KeyedProvider
const RATE = { kind: 'rate', message: '', retryAfterMs: 60_000 } as const

test('the key with the fewest requests in flight is next, and of several the one used longest ago', () => {
  const [keys, all] = [new ProviderKeys(), ['a', 'b', 'c'].map((id) => keyed(id))]
  const used = Array.from({ length: 4 }, () => keys.take(all))
  expect(used.map((lease) => lease?.provider.key.id)).toEqual(['a', 'b', 'c', 'a'])
  used[1]?.leave()
  used[1]?.leave()
  expect(keys.take(all)?.provider.key.id).toBe('b')
  expect(keys.standingOf(keyed('b')).inFlight).toBe(1)
})

test('a refused key rests, the others go on, and if all rest the first one back is used', () => {
  const [keys, all] = [new ProviderKeys(), ['a', 'b'].map((id) => keyed(id))]
  keys.refused(keyed('a'), RATE)
  expect([keys.take(all), keys.take(all)].map((lease) => lease?.provider.key.id)).toEqual(['b', 'b'])
  expect(keys.restMs(all)).toBe(0)
  keys.refused(keyed('b'), { ...RATE, retryAfterMs: 5_000 })
  expect(keys.restMs(all)).toBeGreaterThan(0)
  expect(keys.take(all)?.provider.key.id).toBe('b')
  expect(keys.restMs(all)).toBeWithin(1, 5_001)
  keys.resume(all)
  expect(keys.restMs(all)).toBe(0)
})

test('a key that has its maximum of requests is not used, and instances share its limit', () => {
  const [keys, all] = [new ProviderKeys(), [keyed('a', 4), keyed('b', 1)]]
  keys.shareAmong(2)
  const leases = [keys.take(all), keys.take(all), keys.take(all)]
  expect(leases.map((lease) => lease?.provider.key.id)).toEqual(['a', 'b', 'a'])
  expect(keys.take(all)).toBeUndefined()
  leases[0]?.leave()
  expect(keys.take(all)?.provider.key.id).toBe('a')
})

test('a resting key is no way out when the ready ones are busy, and its requests take no room from them', () => {
  const [keys, all] = [new ProviderKeys(), [keyed('a', 3), keyed('b', 1)]]
  expect(keys.roomOf(all)).toBe(4)
  const first = keys.take(all)
  expect(first?.provider.key.id).toBe('a')
  keys.refused(keyed('a', 3), RATE)
  expect(keys.roomOf(all)).toBe(2)
  expect(keys.take(all)?.provider.key.id).toBe('b')
  expect(keys.take(all)).toBeUndefined()
  expect(keys.next(all).key.id).toBe('a')
  keys.refused(keyed('b', 1), RATE)
  expect(keys.roomOf(all)).toBe(4)
  expect(keys.take(all)?.provider.key.id).toBe('a')
  expect(keys.roomOf([keyed('a', 3), keyed('c')])).toBe(Number.POSITIVE_INFINITY)
})

test('the requests of a conversation keep to one key as long as it is ready and has room', () => {
  const [keys, all] = [new ProviderKeys(), ['a', 'b', 'c'].map((id) => keyed(id, 2))]
  const idOf = (conversation: ConversationKey): string => {
    const lease = keys.take(all, { conversation })
    lease?.leave()
    return lease?.provider.key.id ?? ''
  }
  const conversations = Array.from({ length: 30 }, (_, i) => conversationKeyOf([String(i)]))
  const chosen = conversations.map(idOf)
  expect(new Set(chosen).size).toBe(3)
  expect(conversations.map(idOf)).toEqual(chosen)
  keys.refused(keyed('b', 2), RATE)
  const moved = conversations.map(idOf)
  expect(moved.every((id, i) => id !== 'b' && (chosen[i] === 'b' || id === chosen[i]))).toBe(true)
  const [conversation = conversationKeyOf([])] = conversations
  const used = Array.from({ length: 4 }, () => keys.take(all, { conversation })?.provider.key.id)
  expect(used.slice(0, 2)).toEqual([moved[0], moved[0]])
  expect(used.slice(2)).not.toContain(moved[0])
})

test('a key that rests for one offer is ready for others, and used for that one if no other is left', () => {
  const [keys, all] = [new ProviderKeys(), ['a', 'b'].map((id) => keyed(id))]
  const idsFor = (offerId: string): (string | undefined)[] =>
    [keys.take(all, { offerId }), keys.take(all, { offerId })].map((lease) => {
      lease?.leave()
      return lease?.provider.key.id
    })
  keys.refused(keyed('a'), RATE, 'offer')
  expect(idsFor('offer')).toEqual(['b', 'b'])
  expect(new Set(idsFor('other'))).toEqual(new Set(['a', 'b']))
  expect([keys.restMs(all, 'offer'), keys.restMs([keyed('a')], 'other')]).toEqual([0, 0])
  keys.refused(keyed('b'), { ...RATE, retryAfterMs: 5_000 }, 'offer')
  expect(keys.restMs(all, 'offer')).toBeWithin(1, 5_001)
  expect(idsFor('offer')).toEqual(['b', 'b'])
  expect(keys.restMs(all, 'other')).toBe(0)
  keys.resume(all)
  expect(keys.restMs([keyed('a')], 'offer')).toBe(0)
})

test('only the vendor’s own word about a key rests it', () => {
  for (const kind of ['auth', 'funds', 'rate'] as const) {
    expect(isKeyFault({ kind, message: '' })).toBe(true)
    expect(isKeyFault({ kind, message: '', isDoubtful: true })).toBe(false)
  }
  for (const kind of ['server', 'bad_request', 'unreachable'] as const)
    expect(isKeyFault({ kind, message: '' })).toBe(false)
})
