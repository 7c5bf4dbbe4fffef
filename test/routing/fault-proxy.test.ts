/** The fault proxy itself. Tests that use it prove nothing unless each of its faults works. */
import { afterEach, expect, test } from 'bun:test'
import { FaultProxy, type LinkToxics } from '../support/fault-proxy.ts'
import { rawClient, type RawClient } from '../support/raw-client.ts'
import { startRawUpstream, type Caller, type RawUpstream } from '../support/raw-upstream.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const HELLO = '0123456789'.repeat(10)

type Stage = { client: RawClient; upstream: RawUpstream; proxy: FaultProxy; closings: string[] }

/** A server that answers each read with `HELLO`, a client, and the proxy between them. */
async function stage(toxics: LinkToxics = {}, answer: string | ((caller: Caller) => void) = HELLO): Promise<Stage> {
  const closings: string[] = []
  const upstream = startRawUpstream({
    onData: (caller) => {
      if (typeof answer === 'string') caller.socket.write(answer)
      else answer(caller)
    },
    onClose: () => closings.push('closed'),
  })
  const proxy = new FaultProxy({ port: upstream.port, plan: () => toxics })
  const client = await rawClient(proxy.port)
  stops.push(() => {
    client.close()
    proxy.stop()
    upstream.stop()
  })
  return { client, upstream, proxy, closings }
}

const timed = async (work: Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work
  return performance.now() - startedMs
}

test('without toxics it changes nothing, and passes both kinds of end on', async () => {
  const { client, upstream, proxy, closings } = await stage()
  await client.send('question').has(HELLO)
  expect(upstream.callers[0]?.received).toBe('question')
  const [link] = proxy.links.values()
  expect([link?.up.passedBytes, link?.down.passedBytes]).toEqual([8, 100])
  upstream.callers[0]?.socket.end()
  await client.ended()
  expect(client.ending).toBe('fin')

  const other = await rawClient(proxy.port)
  await other.send('again').has(HELLO)
  other.socket.resetAndDestroy()
  for (let i = 0; i < 100 && closings.length < 2; i++) await Bun.sleep(5)
  expect(closings).toHaveLength(2)
  expect(proxy.counters.accepted).toBe(2)
})

test('a reset of the server’s is a reset for the client', async () => {
  const { client } = await stage({}, (caller) => caller.socket.terminate())
  await client.send('x').ended()
  expect(client.ending).toBe('reset')
})

test('large amounts pass whole, though their reader pauses', async () => {
  const sent = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => i % 251))
  const { client, upstream } = await stage({ down: { latencyMs: 3, jitterMs: 3 } }, () => undefined)
  await client.send('x').until(() => upstream.callers.some(({ received }) => received !== ''))
  client.socket.pause()
  setTimeout(() => client.socket.resume(), 50)
  for (let at = 0; at < sent.length; await Bun.sleep(1)) {
    at += Math.max(0, upstream.callers[0]?.socket.write(sent.subarray(at)) ?? 0)
  }
  await client.until(({ text }) => text.length === sent.length)
  expect(Buffer.from(client.text, 'latin1').equals(sent)).toBe(true)
})

test('latency is added in the direction it is asked for, and bytes stay in order', async () => {
  const { client } = await stage({ down: { latencyMs: 80, jitterMs: 20 } })
  const tookMs = await timed(client.send('x').has(HELLO))
  expect(tookMs).toBeWithin(55, 1_000)
})

test('bandwidth and slices make it slow, and lose nothing', async () => {
  const paced = await stage({ down: { bytesPerSecond: 1_000 } })
  expect(await timed(paced.client.send('x').has(HELLO))).toBeWithin(80, 1_500)
  const sliced = await stage({ down: { slice: { bytes: 10, pauseMs: 5 } } })
  expect(await timed(sliced.client.send('x').has(HELLO))).toBeWithin(40, 1_500)
})

test.each([
  ['fin', 0],
  ['fin', 37],
  ['rst', 1],
  ['rst', 37],
] as const)('a cut of the answer by %s after %d bytes', async (by, afterBytes) => {
  const { client, closings, proxy } = await stage({ down: { cut: { afterBytes, by, pauseMs: 10 } } })
  await client.send('x').ended()
  expect([client.ending, client.text]).toEqual([by === 'fin' ? 'fin' : 'reset', HELLO.slice(0, afterBytes)])
  for (let i = 0; i < 100 && closings.length === 0; i++) await Bun.sleep(5)
  expect([closings.length, proxy.counters.cuts, proxy.links.size]).toEqual([1, 1, 0])
})

test('a cut of the question leaves the server with its first bytes', async () => {
  const { client, upstream } = await stage({ up: { cut: { afterBytes: 3, by: 'rst', pauseMs: 10 } } }, () => undefined)
  await client.send('question').ended()
  expect(upstream.callers[0]?.received).toBe('que')
})

test('a black hole takes everything and gives nothing, from the start or after so many bytes', async () => {
  for (const holeAfterBytes of [0, 40]) {
    const { client } = await stage({ down: { holeAfterBytes } })
    client.send('x')
    await Bun.sleep(100)
    expect([client.text.length, client.ending]).toEqual([holeAfterBytes, 'open'])
  }
})

test('toxics can be changed while a connection is open, and are counted from there', async () => {
  const { client, proxy } = await stage()
  await client.send('x').has(HELLO)
  const [link] = proxy.links.values()
  link?.set({ down: { cut: { afterBytes: 5, by: 'fin' } } })
  await client.send('x').ended()
  expect(client.text).toHaveLength(105)
})

test('a slow close comes late', async () => {
  const { client } = await stage({ down: { slowCloseMs: 80 } }, (caller) => void caller.socket.end('bye'))
  await client.send('x').has('bye')
  expect(await timed(client.ended())).toBeWithin(50, 1_000)
  expect(client.ending).toBe('fin')
})
