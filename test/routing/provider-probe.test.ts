/** `provider test` tells a working provider from a broken one, with or without a list of models. */
import { expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'

let vendor: Bun.Server<undefined>
const KEY = 'right'

const refusal = (status: number, message: string, code: string | null = null): Response =>
  Response.json({ error: { message, type: 'invalid_request_error', param: null, code } }, { status })

/** Vendors by the first segment of their path. */
const vendors: Readonly<Record<string, (path: string, request: Request) => Response>> = {
  listed: (path) => (path === '/models' ? Response.json({ data: [{ id: 'a' }, { id: 'b' }] }) : refusal(404, 'no')),
  bare: (path) => (path === '/models' ? Response.json([{ id: 'a' }]) : refusal(404, 'no')),
  listless: (path) => (path === '/chat/completions' ? refusal(400, 'model is required') : refusal(404, 'Not Found')),
  unscoped: (path) =>
    path === '/models' ? refusal(403, 'Missing scopes: api.model.read') : refusal(422, 'messages: field required'),
  nowhere: () => new Response('<html>404</html>', { status: 404, headers: { 'content-type': 'text/html' } }),
  page: () => new Response('<html>hello</html>', { headers: { 'content-type': 'text/html' } }),
  poor: () => refusal(429, 'You exceeded your current quota', 'insufficient_quota'),
  agent: (path) =>
    path === '/responses' ? refusal(400, 'input is required') : Response.json({ data: [{ id: 'open' }] }),
  ark: (path) =>
    path === '/contents/generations/tasks' ? Response.json({ total: 0, items: [] }) : refusal(404, 'no such path'),
  kit: (path) => (path.startsWith('/tasks/') ? refusal(404, 'task not found') : refusal(405, 'no')),
}

const gateway = useGateway(
  () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const [, name = '', rest = ''] = /^\/([a-z]+)(\/.*)$/.exec(new URL(request.url).pathname) ?? []
        const isOpen = name === 'agent' && rest === '/models'
        const isKnown = request.headers.get('authorization') === `Bearer ${KEY}`
        return isKnown || isOpen ? (vendors[name]?.(rest, request) ?? refusal(404, 'no')) : refusal(401, 'Wrong key')
      },
    })
    const presets: Readonly<Record<string, string>> = { agent: 'perplexity', ark: 'ark', kit: 'mediakit' }
    const entry = (id: string, key: string): string =>
      `  ${id}${key === KEY ? '' : '-locked'}: { preset: ${presets[id] ?? 'custom'}, base_url: 'http://127.0.0.1:${vendor.port}/${id}', key: ${key}, allow_private: true }`
    const yaml = ['providers:', ...Object.keys(vendors).flatMap((id) => [entry(id, KEY), entry(id, 'wrong')])]
    return { yaml: `${yaml.join('\n')}\n` }
  },
  () => vendor.stop(true),
)

test.each([
  ['listed', true, ['a', 'b']],
  ['bare', true, ['a']],
  ['listless', true, []],
  ['unscoped', true, []],
  ['agent', true, []],
  ['ark', true, []],
  ['kit', true, []],
  ['nowhere', false, []],
  ['page', false, []],
  ['poor', false, []],
] as const)('%s', async (id, ok, models) => {
  expect(await gateway.operate('provider.test', { id })).toMatchObject({ ok, models: [...models] })
  expect(await gateway.operate('provider.test', { id: `${id}-locked` })).toMatchObject({ ok: false, status: 401 })
})
