import { expect, test } from 'bun:test'
import { TrustedProxies } from './trusted-proxies.ts'

test('addresses are counted by their network, but for those that many may be behind', () => {
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
