import { afterEach, describe, expect, test } from 'bun:test'
import { rawClient, type RawClient } from '../../test/support/raw-client.ts'
import {
  ConnectionLimiter,
  type ConnectionLimiterStats,
  type ConnectionCountLimits,
  type LimitedConnection,
} from './connection-limiter.ts'
import type { ServerExchange } from './exchange.ts'
import { listen, type Server, type ServerOptions } from './server.ts'

const open: Server[] = []
const clients: RawClient[] = []
const errors: Error[] = []

afterEach(() => {
  for (const client of clients.splice(0)) client.close()
  for (const server of open.splice(0)) server.close()
  expect(errors.splice(0)).toEqual([])
})

type Handle = (exchange: ServerExchange) => void

/** A connection that requests `/known` is authenticated from then on. */
const greet: Handle = (exchange) => {
  if (exchange.head.path === '/known') exchange.notes.set('who', 'somebody')
  exchange.reply(200, {}, 'hello')
}

function start(limits: Partial<ConnectionCountLimits>, others: Partial<ServerOptions> = {}): Server {
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    handle: greet,
    limits,
    originOf: (address) => address,
    refuse: ({ message }) => ({ headers: {}, body: message }),
    onError: (error) => errors.push(error),
    ...others,
  })
  open.push(server)
  return server
}

async function dial(server: Server, count = 1): Promise<RawClient[]> {
  const made: RawClient[] = []
  for (let i = 0; i < count; i++) {
    const before = server.connections
    const client = await rawClient(server.port)
    // They keep the order of their numbers, even if the server accepts several at once.
    for (let waits = 0; waits < 100 && server.connections === before && client.ending === 'open'; waits++) {
      await Bun.sleep(1)
    }
    made.push(client)
  }
  clients.push(...made)
  return made
}

const ask = (client: RawClient | undefined, path = '/'): Promise<string> => {
  if (!client) throw new Error('no client')
  const answers = client.statuses.length
  client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  return client.until(({ statuses, ending }) => statuses.length > answers || ending !== 'open')
}
/** Waits for a state that a busy machine may reach late. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isSo(); i++) await Bun.sleep(5)
}
const left = (some: readonly RawClient[]): number => some.filter(({ ending }) => ending === 'open').length

test('in a full server, the oldest strangers are closed, even in the middle of their headers', async () => {
  const server = start({ connectionsMax: 64 })
  const idle = await dial(server, 64)
  idle[0]?.send('GET / HTTP/1.1\r\nx: ')
  const [late] = await dial(server)
  await ask(late)
  expect(late?.statuses).toEqual([200])
  expect(idle.map(({ ending }) => ending !== 'open').lastIndexOf(true)).toBe(1)
  expect(left(idle)).toBe(62)
  expect(server.connections).toBe(63)
})

test('authenticated connections stay while there are strangers, and idle ones are closed before those that await an answer', async () => {
  const waiting: ServerExchange[] = []
  const handle: Handle = (exchange) => void (exchange.head.path === '/wait' ? waiting.push(exchange) : greet(exchange))
  const server = start({ connectionsMax: 16 }, { handle })
  const known = await dial(server, 8)
  for (const client of known) await ask(client, '/known')
  const busy = await dial(server, 7)
  // Strangers older than two seconds would be closed first. A busy machine may take that long to come here.
  for (const client of busy) await ask(client, '/known')
  for (const client of busy) client.send('GET /wait HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(() => waiting.length === 7)
  const strangers = await dial(server, 3)
  await until(() => left(strangers) === 1)
  expect([left(known), left(strangers)]).toEqual([8, 1])
  for (let i = 0; i < 9; i++) for (const client of await dial(server)) await ask(client, '/known')
  await until(() => left(known) < 8)
  expect(left(known)).toBeLessThan(8)
  expect(left(busy)).toBe(7)
  for (const exchange of waiting) exchange.reply(200, {}, 'at last')
  for (const client of busy) expect(await client.has('at last')).toContain('200')
})

test('if all connections are authenticated and await answers, new ones are rejected, and that is reported', async () => {
  const told: ConnectionLimiterStats[] = []
  const waiting: ServerExchange[] = []
  const handle: Handle = (exchange) => {
    exchange.notes.set('who', 'somebody')
    waiting.push(exchange)
  }
  const server = start({ connectionsMax: 16 }, { handle, onConnectionLimit: (report) => told.push(report) })
  const busy = await dial(server, 16)
  for (const client of busy) client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  for (let i = 0; i < 200 && waiting.length < 16; i++) await Bun.sleep(5)
  const [late] = await dial(server)
  await late?.until(({ ending }) => ending !== 'open')
  expect([server.connections, left(busy)]).toEqual([16, 16])
  for (const exchange of waiting) exchange.reply(200, {}, 'served')
  for (const client of busy) await client.has('served')
  for (let i = 0; i < 100 && told.length === 0; i++) await Bun.sleep(10)
  expect(told).toEqual([{ connections: 16, dismissed: 0, turnedAway: 1 }])
})

test('strangers beyond the limit of one address are closed after a while, idle ones first', async () => {
  const waiting: ServerExchange[] = []
  const handle: Handle = (exchange) => void (exchange.head.path === '/wait' ? waiting.push(exchange) : greet(exchange))
  const server = start({ strangersPerAddressMax: 3 }, { handle })
  const [busy, ...idle] = await dial(server, 6)
  busy?.send('GET /wait HTTP/1.1\r\nhost: x\r\n\r\n')
  const known = await dial(server, 5)
  for (const client of known) await ask(client, '/known')
  await Bun.sleep(1_000)
  expect(left(idle)).toBe(5)
  await Bun.sleep(1_600)
  expect([left(idle), left(known), busy?.ending]).toEqual([2, 5, 'open'])
  expect(idle.slice(-2).every(({ ending }) => ending === 'open')).toBe(true)
  for (const exchange of waiting) exchange.reply(200, {}, 'at last')
  await busy?.has('at last')
})

test('strangers that do not read their answers count like others', async () => {
  const handle: Handle = (exchange) => exchange.reply(200, {}, 'x'.repeat(8_000_000))
  const server = start({ strangersPerAddressMax: 2 }, { handle })
  const stalled = await dial(server, 5)
  for (const { socket } of stalled) socket.pause()
  for (const client of stalled) client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await Bun.sleep(2_600)
  expect(server.connections).toBe(2)
})

test('an address that many clients may share is not counted', async () => {
  const server = start({ strangersPerAddressMax: 3 }, { originOf: () => undefined })
  const idle = await dial(server, 6)
  await Bun.sleep(2_600)
  expect(left(idle)).toBe(6)
})

test('a connection whose request body does not arrive is closed', async () => {
  const handle: Handle = (exchange) => {
    exchange.notes.set('who', 'somebody')
    const limits = { bytesMax: 1_000, graceMs: 60_000, bytesPerSecondMin: 1 }
    void exchange.readText(limits).then(() => exchange.isGone || exchange.reply(200, {}, 'read'))
  }
  const server = start({ connectionsMax: 16 }, { handle })
  const stalling = await dial(server, 16)
  for (const client of stalling) client.send('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n')
  await Bun.sleep(50)
  const [late] = await dial(server)
  late?.send('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi')
  await late?.has('read')
  expect(left(stalling)).toBe(15)
})

/** An authenticated client that reads nothing of a long answer until thirty others have come to sixteen places. */
async function slowReader(bytes: number): Promise<RawClient> {
  const handle: Handle = (exchange) => {
    exchange.notes.set('who', 'somebody')
    exchange.reply(200, {}, exchange.head.path === '/long' ? 'x'.repeat(bytes) : 'short')
  }
  const server = start({ connectionsMax: 16 }, { handle })
  const [slow = expect.unreachable()] = await dial(server)
  slow.socket.pause()
  slow.send('GET /long HTTP/1.1\r\nhost: x\r\n\r\n')
  await Bun.sleep(50)
  for (let i = 0; i < 30; i++) for (const client of await dial(server)) await ask(client)
  slow.socket.resume()
  return slow
}

test('an authenticated client keeps its unread answer', async () => {
  const slow = await slowReader(8_000_000)
  await slow.until(({ text }) => text.length > 8_000_000)
  expect(slow.ending).toBe('open')
})

test('an answer on its way arrives whole, although its connection is closed', async () => {
  const slow = await slowReader(1_000_000)
  const text = await slow.ended()
  expect([slow.ending, text.length > 1_000_000]).toEqual(['fin', true])
})

describe('the order of closing', () => {
  type Kind = { readonly name: string; openedMs?: number; work?: LimitedConnection['work']; known?: boolean }
  class Fake implements LimitedConnection {
    readonly remoteAddress = 'somewhere'
    readonly name: string
    readonly openedMs: number
    readonly work: LimitedConnection['work']
    readonly notes: { readonly size: number }
    constructor({ name, openedMs = 0, work = 'none', known = false }: Kind) {
      this.name = name
      this.openedMs = openedMs
      this.work = work
      this.notes = { size: known ? 1 : 0 }
    }
    dismiss(): void {
      gone.push(this.name)
    }
  }
  const gone: string[] = []
  const NOW = 10_000
  const crowdOf = (kinds: readonly Kind[]): ConnectionLimiter<Fake> => {
    gone.length = 0
    const limiter = new ConnectionLimiter<Fake>(
      { connectionsMax: kinds.length, strangersPerAddressMax: Infinity },
      () => undefined,
    )
    for (const kind of kinds) limiter.admit(new Fake(kind), 0)
    return limiter
  }
  const late = (limiter: ConnectionLimiter<Fake>, atMs: number): boolean =>
    limiter.admit(new Fake({ name: 'late', openedMs: atMs, work: 'answering', known: true }), atMs)

  test('in this order', () => {
    const all: Kind[] = [
      { name: 'known, at work', known: true, work: 'answering' },
      { name: 'young stranger at work', openedMs: NOW - 10, work: 'answering' },
      { name: 'known, sending', known: true, work: 'arriving' },
      { name: 'known', known: true },
      { name: 'young stranger', openedMs: NOW - 10 },
      { name: 'stranger at work', work: 'answering' },
      { name: 'stranger' },
    ]
    const limiter = crowdOf(all)
    const came = [0, 1, 2, 3, 4, 5, 6].map((i) => late(limiter, NOW + i * 0.001))
    expect(came).toEqual([true, true, true, true, true, true, false])
    expect(gone).toEqual([
      'stranger',
      'stranger at work',
      'young stranger',
      'known',
      'young stranger at work',
      'known, sending',
    ])
    expect([limiter.dismissed, limiter.turnedAway, limiter.size]).toEqual([6, 1, 7])
  })

  test('after a search with few results, there is no search for a quarter of a second', () => {
    const busy = Array.from({ length: 63 }, (_, i): Kind => ({ name: `busy ${i}`, known: true, work: 'answering' }))
    const limiter = crowdOf([...busy, { name: 'idle', known: true }])
    let work: LimitedConnection['work'] = 'answering'
    const restless = new Fake({ name: 'restless', known: true })
    Object.defineProperty(restless, 'work', { get: () => work })
    expect(limiter.admit(restless, NOW)).toBe(true)
    work = 'none'
    expect([late(limiter, NOW + 1), late(limiter, NOW + 249), late(limiter, NOW + 250)]).toEqual([false, false, true])
    expect(gone).toEqual(['idle', 'restless'])
  })

  test('one part of all connections at once', () => {
    const limiter = crowdOf(Array.from({ length: 64 }, (_, i): Kind => ({ name: `idle ${i}` })))
    expect([late(limiter, NOW), gone, late(limiter, NOW), gone]).toEqual([true, ['idle 0', 'idle 1'], true, gone])
    expect(late(limiter, NOW)).toBe(true)
    expect(gone).toHaveLength(4)
  })

  test('reports come at most every ten seconds, and contain only what is new', () => {
    const limiter = crowdOf([{ name: 'a', known: true, work: 'answering' }])
    expect(limiter.report(NOW)).toBeUndefined()
    late(limiter, NOW)
    expect(limiter.report(NOW)).toEqual({ connections: 1, dismissed: 0, turnedAway: 1 })
    late(limiter, NOW + 1)
    late(limiter, NOW + 2)
    expect(limiter.report(NOW + 9_999)).toBeUndefined()
    expect(limiter.report(NOW + 10_000)).toEqual({ connections: 1, dismissed: 0, turnedAway: 2 })
    expect(limiter.report(NOW + 30_000)).toBeUndefined()
  })
})
