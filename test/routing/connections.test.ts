/** More connections than the limit: clients with a key are still served. */
import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawClient } from '../support/raw-client.ts'

const DESCRIPTORS = 512
const FLOOD = DESCRIPTORS

const sockets: Socket[] = []
let gateway: TestGateway | undefined

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await gateway?.close()
  gateway = undefined
})

/** Connections that never say anything. Those that are broken off come back. */
function flood(port: number, count: number): void {
  const again = (): void => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => setTimeout(() => gateway && again(), 1_000))
  }
  for (let i = 0; i < count; i++) again()
}

const portOf = ({ baseUrl }: TestGateway): number => Number(new URL(baseUrl).port)

test('a flood of connections leaves descriptors for upstreams, and those who ask get their answers', async () => {
  gateway = await startGateway({ descriptors: DESCRIPTORS })
  const head = `Authorization: Bearer ${gateway.key}\r\nHost: x\r\n`
  const known = await rawClient(portOf(gateway))
  known.send(`GET /v1/models HTTP/1.1\r\n${head}\r\n`)
  await known.has('"object":"list"')
  flood(portOf(gateway), FLOOD)
  await Bun.sleep(500)
  const before = process.hrtime.bigint()
  for (let i = 0; i < 20; i++) {
    const answer = await chat(gateway, { model: 'sandbox-chat', max_tokens: 5 }, { keepalive: false })
    expect(answer.status).toBe(200)
    await answer.json()
    await Bun.sleep(50)
  }
  expect(Number(process.hrtime.bigint() - before) / 1e9).toBeLessThan(10)
  // A client that has shown its key before is still there.
  known.send(`GET /v1/balance HTTP/1.1\r\n${head}\r\n`)
  await known.until(({ statuses, ending }) => statuses.length === 2 || ending !== 'open')
  expect([known.statuses, known.ending]).toEqual([[200, 200], 'open'])
  known.close()
  const metrics = await gateway.metrics()
  const figure = (name: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    )
  // With the built-in vendor in the same process each client may need three.
  expect(figure('tollgate_connections')).toBeLessThanOrEqual(DESCRIPTORS / 3)
  expect(figure('tollgate_connections_dismissed_total')).toBeGreaterThan(FLOOD / 4)
  expect(figure('tollgate_connections_turned_away_total')).toBe(0)
  expect(gateway.output()).toContain('"event":"connections.limit_reached"')
}, 60_000)

test('as many streams at once as there may be connections are all served', async () => {
  gateway = await startGateway({ descriptors: 256 })
  const { connections_max: most } = await gateway.operate<{ connections_max: number }>('doctor')
  expect(most).toBeWithin(40, 86)
  // One account would leave a fifth of them to others.
  const { id } = await gateway.operate<{ id: string }>('account.create', { name: 'other', balance: '10' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
  const callers = [gateway, { baseUrl: gateway.baseUrl, key: secret }]
  const body = { model: 'sandbox-chat', stream: true, messages: [{ role: 'user', content: 'write 100 tokens' }] }
  // The first is that of `metrics` and of whoever else asks.
  const answers = await Promise.all(
    Array.from({ length: most - 2 }, async (_, i) => {
      const answer = await chat(callers[i % 2] as TestGateway, body)
      return [answer.status, (await answer.text()).endsWith('data: [DONE]\n\n')]
    }),
  )
  expect(new Set(answers.map(String))).toEqual(new Set(['200,true']))
})

test('the port of whoever watches cannot be used to take them away', async () => {
  const reserved = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = reserved
  reserved.stop()
  gateway = await startGateway({ descriptors: 384, env: { TOLLGATE_METRICS_PORT: String(port) } })
  flood(port, 384)
  await Bun.sleep(500)
  const answer = await chat(gateway, { model: 'sandbox-chat', max_tokens: 5 })
  expect(answer.status).toBe(200)
  await answer.json()
  const watched = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect([watched.status, (await watched.text()).includes('tollgate_connections ')]).toEqual([200, true])
})

const ours = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address

test.skipIf(!ours)(
  'strangers of one address are as many as is set; those of this machine are not counted',
  async () => {
    const limits = { TOLLGATE_STRANGERS_PER_ADDRESS_MAX: '5', TOLLGATE_CONNECTIONS_MAX: '32' }
    gateway = await startGateway({ env: { HOST: '0.0.0.0', ...limits } })
    const dial = (host: string): Socket => {
      const socket = connect({ port: portOf(gateway as TestGateway), host, localAddress: host })
      sockets.push(socket.on('error', () => undefined))
      return socket
    }
    const [outside, inside] = [String(ours), '127.0.0.1'].map((host) => Array.from({ length: 12 }, () => dial(host)))
    await Bun.sleep(3_000)
    const left = (some: readonly Socket[] = []): number => some.filter(({ destroyed }) => !destroyed).length
    expect([left(outside), left(inside)]).toEqual([5, 12])
    for (let i = 0; i < 30; i++) dial('127.0.0.1')
    await Bun.sleep(200)
    expect(await gateway.metrics()).toMatch(/^tollgate_connections (?:[12]\d|3[0-2])$/m)
  },
)
