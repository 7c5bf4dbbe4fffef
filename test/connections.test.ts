/** More connections than there is room for: whoever has a key is served all the same. */
import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { chat, startGateway, type TestGateway } from './support/gateway.ts'
import { rawClient } from './support/raw-client.ts'

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
  expect(figure('tollgate_connections')).toBeLessThanOrEqual(DESCRIPTORS / 2)
  expect(figure('tollgate_connections_dropped_total{how="dismissed"}')).toBeGreaterThan(FLOOD / 4)
  expect(metrics).not.toContain('how="turned_away"')
  expect(gateway.output()).toContain('"event":"inbound.crowded"')
}, 60_000)
