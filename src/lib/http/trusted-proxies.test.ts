import { expect, test } from 'bun:test'
import { TrustedProxies } from './trusted-proxies.ts'

test('addresses are counted by their network, except those that many clients may share', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const origins = {
    '203.0.113.7': '203.0.113.7',
    '::ffff:203.0.113.7': '203.0.113.7',
    '2001:db8:1:2:3::4': '2001:db8:1:2::/64',
    '2001:db8:1:2::5%eth0': '2001:db8:1:2::/64',
    '10.1.2.3': undefined,
    '::ffff:10.1.2.3': undefined,
    '127.0.0.1': undefined,
    '127.8.8.8': undefined,
    '::1': undefined,
    '::ffff:127.0.0.1': undefined,
  }
  for (const [address, origin] of Object.entries(origins)) {
    expect([address, proxies.originOf(address)]).toEqual([address, origin])
  }
})

test('an untrusted private address that sends X-Forwarded-For is reported once, and public and trusted ones are not', () => {
  const proxies = new TrustedProxies(['10.0.0.1'])
  const told: string[] = []
  proxies.onUnheard = (address) => told.push(address)
  for (const address of [
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '172.17.0.1',
    '::1',
    '10.0.0.1',
    '203.0.113.7',
    '2001:db8::1',
  ]) {
    proxies.clientOf(address, '198.51.100.4')
    proxies.clientOf(address, undefined)
  }
  proxies.clientOf('192.168.1.5', undefined)
  expect(told).toEqual(['127.0.0.1', '172.17.0.1', '::1'])
  expect(proxies.ignored).toEqual(told)
  for (let i = 0; i < 100; i++) proxies.clientOf(`10.1.1.${i}`, 'x')
  expect(proxies.ignored).toHaveLength(16)
})
