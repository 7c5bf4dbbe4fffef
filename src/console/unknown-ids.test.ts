/** A missing thing is answered with 404 and leaves no line in the audit log, because nothing could change. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type TestConsole } from '../../test/support/console.ts'
import { routes } from './routes.ts'

let context: TestConsole
beforeAll(async () => {
  context = await openConsole()
})
afterAll(() => context.close())

/** Valid bodies, for the routes that take one. */
const bodies: Readonly<Record<string, object>> = {
  'PATCH /users/{user}': { role: 'member' },
  'PATCH /accounts/{account}/users/{user}': { status: 'disabled' },
  'PATCH /accounts/{account}/keys/{key}': { name: 'other' },
  'PATCH /saved-views/{view}': { name: 'other' },
  'PATCH /models/{model}': { price: { input: '1', output: '1' } },
  'POST /models/{model}/explain': {},
  'PUT /aliases/{alias}': { model: 'nope' },
  'PATCH /providers/{provider}': { base_url: 'https://example.com/v1' },
  'POST /providers/{provider}/keys': { key: 'sk-other' },
  'PUT /providers/{provider}/state': { state: 'drained' },
}

const changing = routes.filter(({ method, path }) => method !== 'GET' && /\{\w+\}/.test(path.replace('{account}', '')))

const entries = async (): Promise<number> => (await context.gateway.services.audit.list({ limit: 1_000 })).length

test.each(changing.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (name, route) => {
  const body = bodies[name]
  if (route.body) expect({ name, isRight: route.body.safeParse(body).success }).toEqual({ name, isRight: true })
  const path = route.path.replace('{account}', context.accountId).replace(/\{\w+\}/g, 'nope')
  const before = await entries()
  const { status } = await context.call(await context.as('operator'), `${route.method} ${path}`, body)
  expect({ name, status, written: (await entries()) - before }).toEqual({ name, status: 404, written: 0 })
})

test('a missing account', async () => {
  const before = await entries()
  const own = routes.filter(({ method, path }) => method !== 'GET' && path.includes('{account}'))
  for (const { method, path } of own) {
    const at = path.replace('{account}', 'acct_nope').replace(/\{\w+\}/g, 'nope')
    expect((await context.call(await context.as('operator'), `${method} ${at}`, {})).status).toBe(404)
  }
  const viewed = await context.call(await context.as('operator'), 'POST /session/view-as', { account: 'acct_nope' })
  expect([viewed.status, (await entries()) - before]).toEqual([404, 0])
})

test('ending a view of an account without one changes nothing', async () => {
  const before = await entries()
  expect((await context.call(await context.as('operator'), 'DELETE /session/view-as')).status).toBe(200)
  expect((await entries()) - before).toBe(0)
})
