/** Media that clients name and the gateway fetches: the allowed addresses and the limits. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { videoBounds } from '../../src/domain/video.ts'
import type { VideoBody, VideoMedium } from '../../src/formats/core/video-body.ts'
import { Outbound } from '../../src/outbound/send.ts'
import { AbortGroup } from '../../src/video/abort-group.ts'
import { inlineMedia } from '../../src/video/media.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

/** Stands for the Internet; its paths say how large a picture is, or where to go instead. */
const world = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    asked.push(request.url)
    const { pathname, searchParams } = new URL(request.url)
    const to = searchParams.get('to')
    if (to !== null) return Response.redirect(to)
    if (pathname === '/page') return new Response('<html>')
    return new Response(Buffer.alloc(Number(pathname.slice(1)), 'p'), { headers: { 'content-type': 'image/png' } })
  },
})
const asked: string[] = []
const dialled: string[] = []
const client = new Outbound({
  addressesOf: (host) => Promise.resolve([host === 'inside.example' ? '10.0.0.7' : '1.2.3.4']),
  connect: (options) => {
    dialled.push(`${options.hostname}:${String(options.port)}`)
    return Bun.connect({ ...options, hostname: '127.0.0.1', port: world.port as number })
  },
})
afterAll(async () => {
  client.close()
  await world.stop(true)
})
beforeEach(() => {
  asked.length = 0
  dialled.length = 0
})

const medium = (url: string, i: number): VideoMedium => ({
  kind: 'image',
  url,
  role: 'reference_image',
  param: `content[${i}].image_url.url`,
})
const inlined = (...urls: string[]) =>
  inlineMedia({ halt: new AbortGroup() }, { media: urls.map(medium) } as unknown as VideoBody, { client })
const refused = (param: string, words: string): object => ({
  failure: { kind: 'bad_request', param, code: 'invalid_value', message: expect.stringContaining(words) as string },
})

test('pictures are brought along, data stays as it is', async () => {
  const data = 'data:image/png;base64,AA=='
  const body = await inlined(
    'http://pictures.example/3',
    data,
    'http://pictures.example:80/3?x',
    'http://a.example:443/3',
  )
  const fetched = 'data:image/png;base64,cHBw'
  expect(body).toMatchObject({ media: [{ url: fetched }, { url: data }, { url: fetched }, { url: fetched }] })
  // One after the other, over ports of web servers.
  expect(new Set(dialled)).toEqual(new Set(['1.2.3.4:80', '1.2.3.4:443']))
})

test('what sits at other ports is not called, and not by a redirect either', async () => {
  for (const port of [22, 6379, 8080]) {
    const at = `http://pictures.example:${port}/3`
    expect(await inlined('http://a.example/3', at)).toMatchObject(
      refused('content[1].image_url.url', 'port other than 80'),
    )
    expect(await inlined(`http://a.example/?to=${encodeURIComponent(at)}`)).toMatchObject(
      refused('content[0].image_url.url', 'cannot be fetched'),
    )
  }
  const local = await inlined('http://a.example/?to=http://127.0.0.1/3')
  expect(local).toMatchObject(refused('content[0].image_url.url', 'cannot be fetched'))
  expect(await inlined('http://inside.example/3')).toMatchObject(refused('content[0].image_url.url', 'cannot be'))
  expect(await inlined('http://redis/3')).toMatchObject(refused('content[0].image_url.url', 'private'))
  expect(dialled.filter((address) => address !== '1.2.3.4:80')).toEqual([])
  expect(await inlined('http://a.example/?to=http://b.example/3')).toMatchObject({ media: [{ kind: 'image' }] })
})

test('one medium has a bound, and all of a request together', async () => {
  const { mediumBytesMax, mediaBytesMax } = videoBounds
  const most = `http://a.example/${mediumBytesMax}`
  expect(await inlined(`http://a.example/${mediumBytesMax + 1}`)).toMatchObject(
    refused('content[0].image_url.url', 'larger than 32 MiB'),
  )
  const fits = Math.floor(mediaBytesMax / mediumBytesMax)
  const all = Array.from({ length: fits }, (_, i) => `${most}?${i}`)
  expect(await inlined(...all)).toMatchObject({ media: all.map(() => ({ kind: 'image' })) })
  expect(await inlined(...all, 'http://a.example/1')).toMatchObject(
    refused(`content[${fits}].image_url.url`, 'exceeds 64 MiB'),
  )
  expect(mediaBytesMax).toBe(64 * MIB)
}, 60_000)

test('what is no picture is refused', async () => {
  expect(await inlined('http://a.example/page')).toMatchObject(
    refused('content[0].image_url.url', 'is not of type image'),
  )
})
