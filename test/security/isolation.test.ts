/**
 * Tenant isolation: every route that takes an id, with every kind of id that the caller may not see. A foreign, a
 * deleted and an unknown id get the same answer, to the byte, for every way to present the key. A console session opens
 * none of them.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { RequestHead } from '../../src/inbound/exchange.ts'
import { methodsOf } from '../../src/edge/router.ts'
import { publicRoutes } from '../../src/edge/routes.ts'
import type { Member } from '../sdk/till.ts'
import { setVendorsStage } from '../sdk/vendors-stage.ts'
import { presentations, type PresentedKey } from '../support/presentations.ts'
import { signedIn } from '../support/people.ts'

const stage = setVendorsStage()

/** Ids of what one account has: a response, and an item of it. */
type Ids = { readonly response: string; readonly item: string }
type Request = { readonly path: string; readonly method: string; readonly body?: object }
type Route = { readonly name: string; readonly takes: keyof Ids; readonly request: (id: string) => Request }

const ofResponses = publicRoutes.filter(({ path }) => path.startsWith('/v1/responses/{id}'))
const ofPaths: Route[] = ofResponses.flatMap((route) =>
  methodsOf(route).flatMap((method) => {
    const { path } = route
    const queries = method === 'GET' ? ['', '?stream=true&starting_after=0', '?include[]=x&limit=1&order=asc'] : ['']
    return queries.map((query): Route => {
      const request = (id: string): Request => ({ path: path.replace('{id}', id) + query, method })
      return { name: `${method} ${path}${query}`, takes: 'response', request }
    })
  }),
)

/** Routes whose ids are in the body, by path: all that there are, see the last test. */
const inBodies: Record<string, readonly ('previous_response_id' | 'item_reference')[]> = {
  '/v1/responses': ['previous_response_id', 'item_reference'],
  '/v1/responses/compact': ['previous_response_id', 'item_reference'],
  '/v1/responses/input_tokens': ['previous_response_id', 'item_reference'],
}
const ofBodies: Route[] = Object.entries(inBodies).flatMap(([path, places]) =>
  places.flatMap((place) =>
    (place === 'item_reference' ? ([false] as const) : ([false, true] as const)).map((stream): Route => {
      const body = (id: string): object =>
        place === 'item_reference'
          ? {
              input: [
                { type: 'item_reference', id },
                { role: 'user', content: 'Hi' },
              ],
            }
          : { input: 'Hi', previous_response_id: id }
      return {
        name: `POST ${path} ${place}${stream ? ', streamed' : ''}`,
        takes: place === 'item_reference' ? 'item' : 'response',
        request: (id) => ({ path, method: 'POST', body: { model: 'chatty', ...body(id), ...(stream && { stream }) } }),
      }
    }),
  ),
)
const routes = [...ofPaths, ...ofBodies]

let me: Member
let other: Member
/** Of somebody who owns my account, in the console. */
let cookie: string
const asCookie: PresentedKey = (value) => ({ headers: { cookie: value } })

const asBearer = presentations.Bearer

async function send(
  { key }: Pick<Member, 'key'>,
  { path, method, body }: Request,
  present: PresentedKey = asBearer,
): Promise<Response> {
  const { headers, query } = present(key)
  const url = new URL(path, stage.gateway().baseUrl)
  if (query) url.searchParams.set(...query)
  const typed = { 'content-type': 'application/json', ...headers }
  return fetch(url, { method, headers: typed, ...(body ? { body: JSON.stringify(body) } : {}) })
}

async function make(member: Member): Promise<Ids> {
  const body = { model: 'chatty', input: 'Write 3 tokens', background: true }
  const made = (await (await send(member, { path: '/v1/responses', method: 'POST', body })).json()) as { id: string }
  for (let tries = 0; tries < 250; tries++) {
    const kept = await send(member, { path: `/v1/responses/${made.id}`, method: 'GET' })
    const { status, output } = (await kept.json()) as { status: string; output: { id: string }[] }
    if (status === 'completed') return { response: made.id, item: output[0]?.id ?? expect.unreachable() }
    await Bun.sleep(20)
  }
  return expect.unreachable()
}

/** All of an answer, but for what is different every time. */
async function seen(response: Response): Promise<string> {
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return `${response.status}\n${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${await response.text()}`
}

const swapped = (id: string): string => id.replace(/[0-9a-z](?=[^0-9a-z]*$)/, (end) => (end === '0' ? '1' : '0'))

/** Ids that nobody has: nearly right ones, of the right length, of none, of the wrong kind. */
const garbage = (own: string): string[] => [
  swapped(own),
  `${own}x`,
  own.slice(0, -1),
  own.toUpperCase(),
  'resp_',
  'x',
  'resp_%00',
  'resp_%2f..%2fresp_',
  `resp_${'0'.repeat(26)}`,
  `resp_${'0'.repeat(36)}`,
  'a'.repeat(2_000),
]

beforeAll(async () => {
  me = await stage.join()
  other = await stage.join()
  cookie = (await signedIn(stage.gateway(), { name: 'me', role: 'owner', account: me.account })).cookie
}, 30_000)

describe.each(routes)('$name', ({ takes, request }) => {
  test('own is served; other, deleted and garbage are answered alike', async () => {
    const [own, theirs, gone] = [await make(me), await make(other), await make(me)]
    expect((await send(me, { path: `/v1/responses/${gone.response}`, method: 'DELETE' })).status).toBe(200)
    const refused = await seen(await send(me, request(theirs[takes])))
    expect(refused).toMatch(/^4\d\d\n/)
    expect(refused).not.toContain(theirs[takes])
    expect(await seen(await send(me, request(gone[takes])))).toBe(refused)
    for (const id of garbage(own[takes])) expect(await seen(await send(me, request(id)))).toBe(refused)
    for (const [by, present] of Object.entries<PresentedKey>(presentations)) {
      for (const id of [theirs[takes], gone[takes], ...garbage(own[takes]).slice(0, 2)]) {
        expect([by, id, await seen(await send(me, request(id), present))]).toEqual([by, id, refused])
      }
    }
    const ids = [own[takes], theirs[takes], gone[takes], ...garbage(own[takes])]
    const door = await Promise.all(ids.map(async (id) => seen(await send({ key: cookie }, request(id), asCookie))))
    expect(door[0]).toMatch(/^401\n/)
    expect(new Set(door).size).toBe(1)
    const untouched = await send(other, { path: `/v1/responses/${theirs.response}`, method: 'GET' })
    expect(((await untouched.json()) as { status: string }).status).toBe('completed')
    const served = await send(me, request(own[takes]))
    expect([served.status, await served.text()]).toMatchObject([200, expect.any(String)])
  })
})

test('no other route takes an id', () => {
  const idOf = ({ path }: { readonly path: string }): string => /\{\w+\}/.exec(path)?.[0] ?? ''
  const withId = publicRoutes.filter((route) => idOf(route) !== '')
  expect(ofResponses).toHaveLength(4)
  const others = withId.filter((route) => !ofResponses.includes(route))
  // Models are public, or what everybody with the key may see.
  expect(others.filter((route) => idOf(route) === '{model}' && !route.path.includes('/models/'))).toEqual([])
  // Whoever has one of these ids may fetch what it names: images/files.test.ts and video/content.test.ts.
  const capabilities = others.filter(({ limits }) => limits === 'files').map(({ path }) => path)
  expect(capabilities).toEqual(['/v1/images/files/{file}', '/v1/videos/{id}/content'])
  // Those of videos are tried in video/tasks.test.ts.
  const rest = others.filter((route) => idOf(route) !== '{model}' && route.limits !== 'files')
  expect(rest.filter(({ path }) => !/^\/v1\/(?:videos|video\/generations)\/\{id\}$/.test(path))).toEqual([])
})

/** An id in a body names a stored turn. The relay looks for turns only for a request that is part of a conversation. */
test('no other body takes an id', async () => {
  const forms: string[] = []
  for (const { path, reads, documentation } of publicRoutes) {
    if (reads.kind === 'form') forms.push(path)
    if (reads.kind !== 'json') continue
    const { request: documented } = documentation
    const text = JSON.stringify(documented && 'example' in documented ? documented.example : {})
    const read = await reads.read(
      { text, bytes: text.length },
      { head: headAt(path, documentation.query), header: () => undefined },
    )
    if (read.kind === 'rejected') throw new Error(`${path}: ${read.failure.message}`)
    expect([path, read.request.conversation !== undefined]).toEqual([path, path in inBodies])
  }
  expect(forms).toEqual(['/v1/images/edits'])
})

const headAt = (path: string, query: Readonly<Record<string, string>> = {}): RequestHead => ({
  method: 'POST',
  path: path.replace('{model}', 'any'),
  query: `?${new URLSearchParams(query).toString()}`,
  headers: new Map(),
  version: '1.1',
})
