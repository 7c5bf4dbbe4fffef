import { afterAll, beforeAll, expect, test } from 'bun:test'
import { follow } from '../../src/outbound/follow.ts'
import { checkBaseUrl } from '../../src/outbound/guard.ts'
import { Outbound } from '../../src/outbound/send.ts'
import { hostileUrls, hostileZones } from '../support/hostile-urls.ts'
import { get, startHostileWorld, type HostileWorld, type Zones } from '../support/hostile-world.ts'
import type { RawUpstream } from '../support/raw-upstream.ts'

/** Public addresses of the vendor. */
const VENDOR = ['1.2.3.4', '2606:4700::1', '::ffff:1.2.3.4', '::ffff:102:304', '64:ff9b::102:304', '2002:102:304::1']

let world: HostileWorld
let canary: RawUpstream
let vendor: RawUpstream
const hits = (): number => world.hits()
const inHostileWorld = (zones?: Zones): Outbound => world.client(zones)

beforeAll(() => {
  world = startHostileWorld(VENDOR)
  ;({ canary, vendor } = world)
})
afterAll(() => world.stop())

test('the canary sings when it is called', async () => {
  const result = await inHostileWorld().sendForText(get('http://127.0.0.1/', 'private'), 100)
  expect(result).toMatchObject({ kind: 'whole', text: 'canary' })
  expect(hits()).toBe(1)
})

test('of more than 200 hostile URLs not one is called: not directly, not by name, not by redirect', async () => {
  expect(new Set(hostileUrls).size).toBe(hostileUrls.length)
  expect(hostileUrls.length).toBeGreaterThanOrEqual(200)
  const before = hits()
  const client = inHostileWorld({ ...hostileZones, 'vendor.example': ['1.2.3.4'] })
  const savable: string[] = []
  for (const url of hostileUrls) {
    if (checkBaseUrl(url, 'public').kind === 'good') savable.push(url)
    for (const path of ['', '/chat/completions']) {
      const direct = await client.send(get(url + path))
      expect([url, direct]).toEqual([url, { kind: 'network', message: expect.any(String), reached: false }])
      expect(JSON.stringify(direct)).not.toMatch(/127\.|::|example|localhost/)
    }
    // A header has one line; what would end it is a header of its own.
    if (/[\r\n\0]/.test(url)) continue
    world.redirectTo = Buffer.from(url).toString('latin1')
    const redirected = await follow(client, get('http://vendor.example/redirect'), { hopsMax: 3, timeoutMs: 5_000 })
    const text = redirected.kind === 'network' ? 'refused' : redirected.response.status
    // A relative one stays with the vendor.
    if (text !== 'refused') expect([url, /^[a-z][a-z\d+.-]*:/i.test(url)]).toEqual([url, false])
  }
  expect(hits()).toBe(before)
  // Only names can be saved, because only their zones know where they lead: `http://http://…` has the host `http`.
  const names = [...Object.keys(hostileZones), 'http'].toSorted()
  expect(savable.map((url) => new URL(url).hostname).toSorted()).toEqual(names)
  client.close()
})

test('the operator’s allowance does not open what nobody serves models at', async () => {
  const before = hits()
  const client = inHostileWorld(hostileZones)
  const barred = ['169.254.169.254', '0xa9fea9fe', '[::ffff:a9fe:a9fe]', '100.100.100.200', '[fd00:ec2::254]', '0']
  for (const host of [...barred, '[fe80::1]', '224.0.0.1', '[64:ff9b:1::7f00:1]', 'metadata.example', 'link.example']) {
    const result = await client.send(get(`http://${host}/`, 'private'))
    expect([host, result]).toMatchObject([host, { kind: 'network', message: expect.stringContaining('never called') }])
  }
  expect(hits()).toBe(before)
})

test('a name that is rebound after its first answer is not followed there', async () => {
  const before = hits()
  let asked = 0
  const client = new Outbound({
    addressesOf: () => Promise.resolve(asked++ === 0 ? ['1.2.3.4'] : ['127.0.0.1']),
    connect: (options) =>
      Bun.connect({
        ...options,
        port: options.hostname === '1.2.3.4' ? vendor.port : canary.port,
        hostname: '127.0.0.1',
      }),
  })
  const twice = [get('http://rebound.example/'), get('http://rebound.example/')]
  const [first, second] = await Promise.all(twice.map((request) => client.sendForText(request, 100)))
  expect(first).toMatchObject({ text: 'vendor' })
  expect(second).toMatchObject({ kind: 'network', message: expect.stringContaining('allow_private'), reached: false })
  // The kept connection still leads to the address it was opened to.
  expect(await client.sendForText(get('http://rebound.example/'), 100)).toMatchObject({ text: 'vendor' })
  expect([asked, hits()]).toEqual([2, before])
  client.close()
})

test('a kept connection of an allowed request serves none that is not allowed', async () => {
  const client = new Outbound()
  const url = `${vendor.origin}/`
  expect(await client.sendForText(get(url, 'private'), 100)).toMatchObject({ text: 'vendor' })
  expect(client.idleCount).toBe(1)
  expect(await client.sendForText(get(url), 100)).toMatchObject({ kind: 'network', reached: false })
  const named = new Outbound({ addressesOf: () => Promise.resolve(['127.0.0.1']) })
  const byName = `http://vendor.example:${vendor.port}/`
  expect(await named.sendForText(get(byName, 'private'), 100)).toMatchObject({ text: 'vendor' })
  expect(await named.sendForText(get(byName), 100)).toMatchObject({ kind: 'network', reached: false })
  client.close()
  named.close()
})

const zones: Zones = {
  'vendor.example': ['1.2.3.4'],
  'vendor.example.': ['1.2.3.4'],
  'xn--bcher-kva.example': ['1.2.3.4'],
  '127.0.0.1.vendor.example': ['1.2.3.4'],
  'six.example': ['2606:4700::1'],
  'both.example': ['2606:4700::1', '1.2.3.4'],
  'stray.example': ['127.0.0.1', '10.0.0.1', '1.2.3.4'],
  'translated.example': ['64:ff9b::102:304'],
}
const legitimate = [
  'http://vendor.example/v1',
  'HTTP://VENDOR.EXAMPLE/v1',
  'http://vendor.example./v1',
  'http://vendor.example:8443/v1/chat?x=127.0.0.1',
  'http://vendor.example/v1?url=http://127.0.0.1/',
  'http://vendor.example/@127.0.0.1/v1',
  'http://bücher.example/v1',
  'http://127.0.0.1.vendor.example/v1',
  'http://six.example/v1',
  'http://both.example/v1',
  'http://stray.example/v1',
  'http://translated.example/v1',
  'http://1.2.3.4/v1',
  'http://16909060/v1',
  'http://[2606:4700::1]/v1',
  'http://[::ffff:1.2.3.4]/v1',
  'http://[64:ff9b::1.2.3.4]:8080/v1',
  'http://[2002:102:304::1]/v1',
]

test.each(legitimate)('%s is reached', async (url) => {
  const before = hits()
  const client = inHostileWorld(zones)
  expect(checkBaseUrl(url.replace(/\?.*/, ''), 'public').kind).toBe('good')
  expect(await client.sendForText(get(url), 100)).toMatchObject({ kind: 'whole', status: 200, text: 'vendor' })
  expect(hits()).toBe(before)
  client.close()
})

const allowed = ['127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]', 'vendor.home.example', 'LOCALHOST']
test.each(allowed)('%s is reached where the operator allows it', async (host) => {
  const url = `http://${host}:${vendor.port}/v1`
  expect(checkBaseUrl(url, 'private').kind).toBe('good')
  const client = new Outbound(host.endsWith('example') ? { addressesOf: () => Promise.resolve(['127.0.0.1']) } : {})
  expect(await client.sendForText(get(url, 'private'), 100)).toMatchObject({ kind: 'whole', text: 'vendor' })
  client.close()
})

test('a redirect within the guard is followed', async () => {
  const client = inHostileWorld(zones)
  world.redirectTo = 'http://six.example/v1/video'
  const result = await follow(client, get('http://vendor.example/redirect'), { hopsMax: 3, timeoutMs: 5_000 })
  expect(result).toMatchObject({ kind: 'response', response: { status: 200 } })
  const asked = vendor.callers.map(({ received }) => received)
  expect(asked.filter((head) => head.includes('six.example') && head.includes('secret'))).toEqual([])
  client.close()
})

test('the environment’s proxies are not asked', async () => {
  const before = hits()
  const path = (file: string): string => new URL(file, import.meta.url).pathname
  const script = `
    import { outbound } from ${JSON.stringify(path('../../src/outbound/send.ts'))}
    import { Stop } from ${JSON.stringify(path('../../src/outbound/stop.ts'))}
    const request = { url: '${vendor.origin}/', method: 'GET', headers: {}, stop: new Stop(), reach: 'private' }
    console.log((await outbound.sendForText(request, 100)).text)`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const proxies = Object.fromEntries(names.map((name) => [name, canary.origin]))
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { PATH: process.env['PATH'] ?? '', ...proxies },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(await new Response(child.stdout).text()).toBe('vendor\n')
  expect(hits()).toBe(before)
})
