import { expect, test } from 'bun:test'
import { networkOf } from '../lib/primitives/network.ts'
import { IpRateLimiter } from './ip-rate-limiter.ts'

test('an address has a limit per minute, and waits for its next request', () => {
  const visitors = new IpRateLimiter({ perMinute: 60, concurrent: 100 })
  const enter = (nowMs: number): 'in' | number => {
    const entered = visitors.enter('192.0.2.1', nowMs)
    return typeof entered === 'number' ? entered : 'in'
  }
  for (let i = 0; i < 60; i++) expect(enter(0)).toBe('in')
  expect(enter(0)).toBe(1_000)
  expect(enter(1_000)).toBe('in')
  expect(typeof visitors.enter('192.0.2.2', 0)).toBe('function')
})

test('an address has a limit of concurrent requests', () => {
  const visitors = new IpRateLimiter({ perMinute: 100, concurrent: 1 })
  const leave = visitors.enter('192.0.2.1')
  expect(visitors.enter('192.0.2.1')).toBe(1_000)
  if (typeof leave === 'function') leave()
  expect(typeof visitors.enter('192.0.2.1')).toBe('function')
})

test('a network of IPv6 addresses counts as one address', () => {
  expect(networkOf('2001:db8:0:1::5')).toBe('2001:db8:0:1::/64')
  expect(networkOf('2001:0db8:0000:0001:ffff::')).toBe('2001:db8:0:1::/64')
  expect(networkOf('::1')).toBe('0:0:0:0::/64')
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
})
