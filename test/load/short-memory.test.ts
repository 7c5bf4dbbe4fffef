/** Memory is nearly used up: new requests are refused, running requests continue, and the state ends by itself. */
import { afterAll, expect, test } from 'bun:test'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

let gateway: TestGateway | undefined

afterAll(async () => {
  await gateway?.close()
})

test('calls are refused while answers to others fill it, and served again when those are gone', async () => {
  // It begins a large event, and never ends it. Whole replies of that size would wait for memory.
  const vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            controller.enqueue(Buffer.from('data: '))
            controller.enqueue(new Uint8Array(25 * MIB).fill(0x78))
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  })
  gateway = await startGateway({
    env: { TOLLGATE_MEMORY_BYTES_MAX: String(300 * MIB) },
    yaml: `
providers: { large: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models:
  waiting:
    kind: image
    price: { input: 5, output: 0, image_output: 40 }
    image: { family: gpt-image }
    offers: [{ provider: large, model: m }]
`,
  })
  const { baseUrl } = gateway
  const ask = (): Promise<Response> => chat(gateway as TestGateway, { model: 'sandbox-chat' })
  const ready = async (): Promise<number> => (await fetch(`${new URL(baseUrl).origin}/readyz`)).status
  expect([(await ask()).status, await ready()]).toEqual([200, 200])

  const stop = new AbortController()
  const body = JSON.stringify({ model: 'waiting', prompt: 'x', stream: true })
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const large: Promise<unknown>[] = []
  let refused: Response | undefined
  for (let i = 0; i < 16 && refused?.status !== 503; i++) {
    const call = fetch(`${baseUrl}/images/generations`, { method: 'POST', headers, body, signal: stop.signal })
    large.push(call.catch(() => undefined))
    await Bun.sleep(300)
    refused = await ask()
  }
  expect([refused?.status, refused?.headers.get('retry-after'), await ready()]).toEqual([503, '1', 503])
  expect(await refused?.text()).toContain('memory is nearly used up')
  expect(gateway.output()).toContain('"event":"memory.short"')

  stop.abort()
  await Promise.all(large)
  let status = 0
  for (let i = 0; i < 100 && status !== 200; i++) {
    await Bun.sleep(100)
    status = (await ask()).status
  }
  expect([status, await ready()]).toEqual([200, 200])
  await vendor.stop(true)
}, 60_000)
