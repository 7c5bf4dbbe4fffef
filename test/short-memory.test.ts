/** Memory that is nearly used up: new calls are refused, what is under way goes on, and it ends by itself. */
import { afterAll, expect, test } from 'bun:test'
import { chat, startGateway, type TestGateway } from './support/gateway.ts'

const MIB = 1024 * 1024
let gateway: TestGateway | undefined

afterAll(async () => {
  await gateway?.close()
})

test('calls are refused while bodies of others fill it, and served again when those are gone', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  gateway = await startGateway({
    env: { TOLLGATE_MEMORY_BYTES_MAX: String(300 * MIB) },
    yaml: `
providers: { silent: { base_url: 'http://127.0.0.1:${silent.port}/v1', allow_private: true } }
models: { waiting: { price: { input: 0.001, output: 1 }, offers: [{ provider: silent, model: m }] } }
`,
  })
  const { baseUrl } = gateway
  const ask = (): Promise<Response> => chat(gateway as TestGateway, { model: 'sandbox-chat' })
  const ready = async (): Promise<number> => (await fetch(`${new URL(baseUrl).origin}/readyz`)).status
  expect([(await ask()).status, await ready()]).toEqual([200, 200])

  const stop = new AbortController()
  const content = '口'.repeat(8 * MIB)
  const body = { model: 'waiting', max_tokens: 1, messages: [{ role: 'user', content }] }
  const large: Promise<unknown>[] = []
  let refused: Response | undefined
  for (let i = 0; i < 12 && refused?.status !== 503; i++) {
    large.push(chat(gateway, body, { signal: stop.signal }).catch(() => undefined))
    await Bun.sleep(700)
    refused = await ask()
  }
  expect([refused?.status, refused?.headers.get('retry-after'), await ready()]).toEqual([503, '1', 503])
  expect(await refused?.text()).toContain('the memory is nearly used up')
  expect(gateway.output()).toContain('"event":"memory.short"')

  stop.abort()
  await Promise.all(large)
  let status = 0
  for (let i = 0; i < 100 && status !== 200; i++) {
    await Bun.sleep(100)
    status = (await ask()).status
  }
  expect([status, await ready()]).toEqual([200, 200])
  silent.stop(true)
}, 60_000)
