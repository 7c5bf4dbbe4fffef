import { expect, test } from 'bun:test'
import type { IncomingResponse, OutboundResult } from './exchange.ts'
import { follow } from './follow.ts'
import type { OutboundRequest } from './send.ts'
import { Stop } from './stop.ts'

/** Answers by URL: a status and a location. Every other URL gets a 200. */
function serving(redirects: Record<string, [number, string?] | [number, undefined]>) {
  const asked: OutboundRequest[] = []
  let released = 0
  const send = async (request: OutboundRequest): Promise<OutboundResult> => {
    asked.push(request)
    await Bun.sleep(1)
    if (request.stop.isStopped) return { kind: 'network', message: 'aborted', reached: true }
    const [status, location] = redirects[request.url] ?? [200]
    const response = {
      status,
      headers: new Map(location === undefined ? [] : [['location', location]]),
      release: () => void released++,
    } as unknown as IncomingResponse
    return { kind: 'response', response }
  }
  return { client: { send }, asked, released: () => released }
}

const START = 'https://vendor.example/v1/video'
const limits = { hopsMax: 3, timeoutMs: 1_000 }
const first = (): Omit<OutboundRequest, 'method'> => ({
  url: START,
  headers: { authorization: 'Bearer secret' },
  reach: 'private',
  stop: new Stop(),
})

test('a credential and the permission for private addresses stay with their origin', async () => {
  const { client, asked, released } = serving({
    [START]: [302, '../moved?x=1'],
    'https://vendor.example/moved?x=1': [307, 'https://files.example/a'],
    'https://files.example/a': [301, '//vendor.example/b'],
  })
  expect(await follow(client, first(), limits)).toMatchObject({ kind: 'response', response: { status: 200 } })
  expect(asked.map(({ url, reach, headers }) => [url, reach, Object.keys(headers)])).toEqual([
    [START, 'private', ['authorization']],
    ['https://vendor.example/moved?x=1', 'private', ['authorization']],
    ['https://files.example/a', 'public', []],
    ['https://vendor.example/b', 'public', []],
  ])
  expect(released()).toBe(3)
})

test('a URL of a client stays at the ports of web servers at every origin', async () => {
  const web = (): Omit<OutboundRequest, 'method'> => ({ ...first(), reach: 'web' })
  const { client, asked } = serving({
    [START]: [302, 'https://files.example/a'],
    'https://files.example/a': [302, 'https://files.example:8443/b'],
  })
  const ended = await follow(client, web(), limits)
  expect(ended).toMatchObject({ kind: 'network', message: expect.stringContaining('may not be called') })
  expect(asked.map(({ url, reach }) => [url, reach])).toEqual([
    [START, 'web'],
    ['https://files.example/a', 'web'],
  ])
})

test('a fourth redirect is not followed', async () => {
  const { client, asked } = serving({ [START]: [308, START] })
  expect(await follow(client, first(), limits)).toMatchObject({
    kind: 'network',
    message: expect.stringContaining('too often'),
  })
  expect(asked).toHaveLength(4)
})

test.each([
  ['nowhere', undefined],
  ['http', 'http://files.example/a'],
  ['an address that may not be called', 'http://169.254.169.254/'],
  ['an address that may not be called', 'https://user:secret@files.example/'],
  ['an address that may not be called', 'https:\\\\files.example/'],
  ['an address that may not be called', 'file:///etc/passwd'],
  ['an address that may not be called', 'javascript:alert(1)'],
  ['nowhere', '//'],
])('a redirect to %s is not followed: %p', async (why, location) => {
  const { client, asked } = serving({ [START]: [302, location] })
  const result = await follow(client, first(), limits)
  expect(result).toMatchObject({ kind: 'network', message: expect.stringContaining(why) })
  expect(asked).toHaveLength(1)
})

test('an answer that is no redirect is handed over, and the time is for all hops', async () => {
  const { client } = serving({ [START]: [304, 'https://files.example/'] })
  expect(await follow(client, first(), limits)).toMatchObject({ kind: 'response', response: { status: 304 } })
  const endless = serving({ [START]: [302, START] })
  const result = await follow(endless.client, first(), { hopsMax: 10_000, timeoutMs: 30 })
  expect(result).toMatchObject({ kind: 'network', message: 'aborted' })
})
