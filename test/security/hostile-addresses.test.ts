/**
 * The guard in three places (when an address is saved, at the connect, at a redirect): every range in every spelling.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { NetworkFailure } from '../../src/outbound/exchange.ts'
import { follow } from '../../src/outbound/follow.ts'
import { checkBaseUrl, faultOfClientUrl, type AddressReach } from '../../src/outbound/guard.ts'
import {
  addressIn,
  barredAddressUrls,
  carriersOf,
  dottedOf,
  hostileAddressUrls,
  hostileAnswers,
  ipv4Hosts,
  publicIpv4,
  publicIpv6,
} from '../support/hostile-addresses.ts'
import { get, startHostileWorld, type HostileWorld } from '../support/hostile-world.ts'
import { reportFigure } from '../support/soaks.ts'

const publicHosts = [
  ...publicIpv4.flatMap((one) => [...ipv4Hosts(one), ...carriersOf(one).map((carrier) => `[${carrier}]`)]),
  ...publicIpv6.map((one) => `[${one}]`),
]
const HOPS = { hopsMax: 3, timeoutMs: 5_000 }

let world: HostileWorld
let before = 0

beforeAll(() => {
  world = startHostileWorld(['1.2.3.4', ...publicHosts.map(addressIn)])
})
afterAll(() => world.stop())
beforeEach(() => void (before = world.hits()))

/** Headers are ASCII: what is not stands there as escapes of its bytes, and is the same host. */
const inHeader = (url: string): string => url.replaceAll(/[^\0-\x7f]/gu, encodeURIComponent)

const unsent: NetworkFailure = { kind: 'network', message: expect.any(String) as string, reached: false }

test('the spellings are what they are meant to be, and many', () => {
  for (const one of publicIpv4) {
    for (const host of ipv4Hosts(one)) expect([host, addressIn(host)]).toEqual([host, dottedOf(one)])
  }
  reportFigure(
    `${hostileAddressUrls.length} hostile URLs, ${hostileAnswers.length} answers, ${publicHosts.length} good`,
  )
  expect(hostileAddressUrls.length).toBeGreaterThanOrEqual(2_000)
  expect(hostileAnswers.length).toBeGreaterThanOrEqual(500)
})

test('saved: no such address is taken, from an operator or a client', () => {
  for (const url of hostileAddressUrls) {
    expect([url, checkBaseUrl(url, 'public').kind === 'good']).toEqual([url, false])
    for (const reach of ['web', 'public'] as const) {
      expect([url, faultOfClientUrl(url, reach)]).toEqual([url, expect.any(String)])
    }
  }
  for (const url of barredAddressUrls) expect([url, checkBaseUrl(url, 'private').kind]).toEqual([url, 'bad'])
})

test('connected: no such address is dialled, not even with the operator’s allowance where that opens nothing', async () => {
  const client = world.client({ 'vendor.example': ['1.2.3.4'] })
  const ask = async (url: string, reach: AddressReach): Promise<void> =>
    expect([url, await client.send(get(url, reach))]).toEqual([url, unsent])
  for (const url of hostileAddressUrls) {
    await ask(url, 'public')
    await ask(url, 'web')
  }
  for (const url of barredAddressUrls) await ask(url, 'private')
  expect(world.hits()).toBe(before)
  client.close()
}, 60_000)

test('connected: no name leads there, and none that led elsewhere a moment ago', async () => {
  const zones: Record<string, readonly string[]> = {}
  const client = world.client(zones)
  for (const [i, answer] of hostileAnswers.entries()) {
    const url = `http://n${i}.example/v1`
    zones[`n${i}.example`] = [answer]
    expect([answer, await client.send(get(url))]).toEqual([answer, unsent])
    zones[`n${i}.example`] = ['1.2.3.4']
    expect(await client.sendForText({ ...get(url), sendOnce: true }, 100)).toMatchObject({ text: 'vendor' })
    zones[`n${i}.example`] = [answer]
    expect([answer, await client.send({ ...get(url), sendOnce: true })]).toEqual([answer, unsent])
  }
  expect(world.hits()).toBe(before)
  client.close()
}, 60_000)

test('redirected: no such address is gone on to, whoever named the first', async () => {
  const client = world.client({ 'vendor.example': ['1.2.3.4'] })
  for (const [i, url] of hostileAddressUrls.entries()) {
    world.redirectTo = inHeader(url)
    const reach = i % 2 === 0 ? 'web' : 'public'
    const result = await follow(client, get('http://vendor.example/redirect', reach), HOPS)
    expect([url, result]).toEqual([url, { ...unsent, reached: true }])
  }
  expect(world.hits()).toBe(before)
  client.close()
}, 60_000)

test('redirected: a name that leads there is as little gone on to', async () => {
  const zones: Record<string, readonly string[]> = { 'vendor.example': ['1.2.3.4'] }
  const client = world.client(zones)
  for (const [i, answer] of hostileAnswers.entries()) {
    zones[`r${i}.example`] = [answer]
    world.redirectTo = `http://r${i}.example/v1`
    const result = await follow(client, get('http://vendor.example/redirect', 'web'), HOPS)
    expect([answer, result]).toEqual([answer, unsent])
  }
  expect(world.hits()).toBe(before)
  client.close()
}, 60_000)

test('what lies beside those ranges is reached in every spelling: at once, by name, by redirect', async () => {
  const zones: Record<string, readonly string[]> = { 'vendor.example': ['1.2.3.4'] }
  const client = world.client(zones)
  const vendor = { kind: 'whole', status: 200, text: 'vendor' }
  for (const [i, host] of publicHosts.entries()) {
    const url = `http://${host}/v1`
    expect([url, checkBaseUrl(url, 'public').kind, faultOfClientUrl(url, 'web')]).toEqual([url, 'good', undefined])
    expect([url, await client.sendForText(get(url, 'web'), 100)]).toMatchObject([url, vendor])
    zones[`g${i}.example`] = [addressIn(host)]
    const named = await client.sendForText(get(`http://g${i}.example:8080/v1`), 100)
    expect([url, named]).toMatchObject([url, vendor])
    world.redirectTo = inHeader(url)
    const followed = await follow(client, get('http://vendor.example/redirect', 'web'), HOPS)
    expect([url, followed]).toMatchObject([url, { kind: 'response', response: { status: 200 } }])
    if (followed.kind === 'response') followed.response.cancel()
  }
  expect(world.hits()).toBe(before)
  client.close()
}, 60_000)
