/** Vendors without a list of models: their test asks something else that costs nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from './support/gateway.ts'

let vendor: Bun.Server<unknown>
let gateway: TestGateway

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      const isRight = request.headers.get('authorization') === 'Bearer right'
      const nobody = new Response('<html>404 page not found</html>', { status: 404 })
      if (pathname.endsWith('/models')) return nobody
      if (pathname.startsWith('/nowhere')) return nobody
      if (!isRight) return Response.json({ error: { message: 'Invalid credentials' } }, { status: 401 })
      if (pathname === '/chat/v1/chat/completions')
        return Response.json({ error: { message: 'model: field required' } }, { status: 400 })
      if (pathname === '/kit/api/v1/tasks/none')
        return Response.json({ error: { message: 'no such task', code: 'NotFound' } }, { status: 404 })
      return nobody
    },
  })
  const base = `http://127.0.0.1:${vendor.port}`
  const provider = (id: string, preset: string, path: string, key: string): string =>
    `  ${id}: { preset: ${preset}, base_url: '${base}/${path}', key: ${key}, allow_private: true }`
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
${[
  provider('chat', 'perplexity', 'chat/v1', 'right'),
  provider('chat-wrong', 'perplexity', 'chat/v1', 'wrong'),
  provider('kit', 'mediakit', 'kit/api/v1', 'right'),
  provider('kit-wrong', 'mediakit', 'kit/api/v1', 'wrong'),
  provider('nowhere', 'custom', 'nowhere/v1', 'right'),
].join('\n')}
`,
  })
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
})

test('a vendor without a list is good where it takes the credential, and bad where it does not, or is not there', async () => {
  const tested = (id: string): Promise<object> => gateway.operate('provider.test', { id })
  for (const id of ['chat', 'kit']) expect(await tested(id)).toMatchObject({ ok: true, models: [], problem: null })
  for (const id of ['chat-wrong', 'kit-wrong'])
    expect(await tested(id)).toMatchObject({ ok: false, status: 401, problem: 'auth: Invalid credentials' })
  expect(await tested('nowhere')).toMatchObject({ ok: false, status: 404 })
})
