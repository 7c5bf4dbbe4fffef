/**
 * Member names with a meaning in JavaScript, in the bodies of every route. `__proto__` is refused by name,
 * `constructor` and `prototype` are ordinary names, and shared prototypes do not change.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { routes } from '../../src/console/routes.ts'
import { publicRoutes } from '../../src/edge/routes.ts'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { signedIn } from '../support/people.ts'

const preload = [join(import.meta.dir, '../support/prototype-watch.ts')]
const SAID = 'a prototype was polluted'

let sandbox: TestSandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const vendor = `base_url: '${sandbox.baseUrl}', allow_private: true`
  const yaml = `
sandbox: false
providers: { vendor: { ${vendor} } }
models:
  chatty: { price: { input: 1, output: 1 }, offers: [{ provider: vendor, model: sandbox-chat }] }
  small: { kind: embedding, price: { input: 1 }, offers: [{ provider: vendor, model: sandbox-embedding-small }] }
  painter: { kind: image, price: { input: 5, output: 0, image_output: 40 }, image: { family: gpt-image }, offers: [{ provider: vendor, model: sandbox-image }] }
`
  gateway = await startGateway({ yaml, preload })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
}, 30_000)

const TOOL = { type: 'object', properties: { constructor: { type: 'string' }, prototype: { type: 'string' } } }
const user = [{ role: 'user', content: 'Write 3 tokens' }]
const spoken = { contents: [{ role: 'user', parts: [{ text: 'Write 3 tokens' }] }] }
const declared = { tools: [{ functionDeclarations: [{ name: 'f', parameters: TOOL }] }] }

/** Requests with the two honest names in a tool wherever there are tools. */
const chosen: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    model: 'chatty',
    messages: user,
    tools: [{ type: 'function', function: { name: 'f', parameters: TOOL } }],
  },
  '/v1/messages': { model: 'chatty', max_tokens: 9, messages: user, tools: [{ name: 'f', input_schema: TOOL }] },
  '/v1/messages/count_tokens': { model: 'chatty', messages: user, tools: [{ name: 'f', input_schema: TOOL }] },
  '/v1/responses': {
    model: 'chatty',
    input: 'Write 3 tokens',
    tools: [{ type: 'function', name: 'f', parameters: TOOL, strict: false }],
    metadata: { constructor: 'x', prototype: 'y' },
  },
  '/v1/responses/input_tokens': { model: 'chatty', input: 'Hi' },
  '/v1/responses/compact': { model: 'chatty', input: 'Hi' },
  '/v1/embeddings': { model: 'small', input: 'Hi' },
  '/v1/images/generations': { model: 'painter', prompt: 'a cat' },
  '/v1/images/edits': { model: 'painter', prompt: 'a cat', images: [{ image_url: 'data:image/png;base64,AAAA' }] },
  '/v1/videos': { model: 'chatty', prompt: 'a cat' },
  '/v1/video/generations': { model: 'chatty', prompt: 'a cat' },
  '/v1beta/models/chatty:generateContent': { ...spoken, ...declared },
  '/v1beta/models/chatty:streamGenerateContent?alt=sse': { ...spoken, ...declared },
  '/v1beta/models/chatty:countTokens': spoken,
  '/v1beta/models/small:embedContent': { content: { parts: [{ text: 'Hi' }] } },
  '/v1beta/models/small:batchEmbedContents': {
    requests: [{ model: 'models/small', content: { parts: [{ text: 'Hi' }] } }],
  },
}
/** Any other route is tried with the request of its documentation. */
const documented = publicRoutes.flatMap(({ path, documentation: { request } }): [string, object][] =>
  request && 'example' in request && !path.includes('{') && !(path in chosen) ? [[path, request.example]] : [],
)
const bodies: Readonly<Record<string, object>> = { ...chosen, ...Object.fromEntries(documented) }
/** These have no model here, or want a picture: a refusal of theirs says something else. */
const unserved = ['/v1/images/edits', '/v1/videos', '/v1/video/generations', ...documented.map(([path]) => path)]

type HttpAnswer = { readonly status: number; readonly text: string }

async function send(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
  const response = await fetch(new URL(gateway.baseUrl).origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, text: await response.text() }
}

const POISON = '{"polluted":"yes"}'
/** The body with a member in front of what is inside of it: of the whole, of its first object, of its last. */
function withMember(body: object, member: string): string[] {
  const text = JSON.stringify(body)
  const places = [...text.matchAll(/\{(?=")/g)].map(({ index }) => index + 1)
  const ends = [places[0], places[1], places.at(-1)].filter((at) => at !== undefined)
  return [...new Set(ends)].map((at) => `${text.slice(0, at)}${member},${text.slice(at)}`)
}

describe.each(Object.entries(bodies))('POST %s', (path, body) => {
  test('honest names are taken, __proto__ is refused by name wherever it stands and however it is written', async () => {
    const plain = await send(path, JSON.stringify(body))
    if (!unserved.includes(path)) expect(plain).toMatchObject({ status: 200 })
    for (const name of ['__proto__', String.raw`\u005f_proto__`, String.raw`\u005F\u005Fproto\u005f\u005f`]) {
      for (const text of withMember(body, `"${name}":${POISON}`)) {
        const { status, text: told } = await send(path, text)
        expect([text, status, told]).toEqual([text, 400, expect.stringContaining('__proto__') as string])
      }
    }
    for (const member of [`"constructor":{"prototype":${POISON}}`, `"prototype":${POISON}`]) {
      for (const text of withMember(body, member)) expect((await send(path, text)).status).toBeLessThan(500)
    }
    expect(await send(path, JSON.stringify(body))).toMatchObject({ status: plain.status })
  })
})

test('no route of the public API that takes a body is left out', () => {
  const addresses = publicRoutes
    .filter(({ reads }) => reads.kind !== 'none')
    .map(({ path, documentation: { query, tag } }) => {
      const model = tag === 'Embeddings' ? 'small' : 'chatty'
      return path.replace('{model}', model) + (query ? `?${new URLSearchParams(query).toString()}` : '')
    })
  expect(addresses.toSorted()).toEqual(Object.keys(bodies).toSorted())
})

test('the routes of the console take none of the three for more than a name', async () => {
  const { cookie } = await signedIn(gateway, { name: 'op', role: 'operator' })
  const isOfSession = (path: string): boolean => path.startsWith('/session') || path.startsWith('/links')
  // Those of the session last: some of them end it.
  const taking = routes
    .filter(({ body, method }) => body && method === 'POST')
    .toSorted((a, b) => Number(isOfSession(a.path)) - Number(isOfSession(b.path)))
  expect(taking.length).toBeGreaterThan(8)
  const texts = [
    `{"__proto__":${POISON}}`,
    `{"constructor":{"prototype":${POISON}}}`,
    `{"name":{"__proto__":${POISON}},"price":{"each":{"__proto__":${POISON}}},"limits":{"__proto__":${POISON}}}`,
  ]
  for (const { path } of taking) {
    const at = `/admin/v1${path.replaceAll(/\{\w+\}/g, gateway.accountId)}`
    for (const text of texts) {
      const { origin } = new URL(gateway.baseUrl)
      const headers = { cookie, origin, 'content-type': 'application/json' }
      const response = await fetch(origin + at, { method: 'POST', headers, body: text })
      const { status, told } = { status: response.status, told: await response.text() }
      expect([path, text, status >= 400 && status < 500]).toEqual([path, text, true])
      if (!text.includes('__proto__') || isOfSession(path)) continue
      expect([path, status, told]).toEqual([path, 400, expect.stringContaining('__proto__') as string])
    }
  }
})

test('after all of it every prototype is as it was; one that is not would have been said', async () => {
  await Bun.sleep(200)
  expect(gateway.output()).not.toContain(SAID)
  const polluted = await startGateway({ preload, env: { TOLLGATE_TEST_POLLUTES: '1' } })
  for (let tries = 0; tries < 100 && !polluted.output().includes(SAID); tries++) await Bun.sleep(50)
  expect(polluted.output()).toContain(SAID)
  await polluted.close()
}, 30_000)
