import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshFolder } from '../../test/support/gateway.ts'
import { nobody, openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'
import type { RouteAccess } from './access.ts'
import { routes } from './routes.ts'

type Role = 'anonymous' | 'member' | 'owner' | 'stranger' | 'operator' | 'viewer' | 'program' | 'account_program'
const roles: readonly Role[] = [
  'anonymous',
  'member',
  'owner',
  'stranger',
  'operator',
  'viewer',
  'program',
  'account_program',
]

/** The rights of each role, written out a second time and independent of the code that decides. */
const allowed: Readonly<Record<RouteAccess, readonly Role[]>> = {
  open: roles,
  signed_in: ['member', 'owner', 'stranger', 'operator', 'viewer'],
  account_read: ['member', 'owner', 'operator', 'viewer', 'program', 'account_program'],
  account_write: ['owner', 'operator', 'program', 'account_program'],
  account_people: ['owner', 'operator'],
  account_play: ['owner', 'operator'],
  operator: ['operator', 'program'],
  operator_people: ['operator'],
}
/** All people of an account may read. Every other right must be listed. */
const mayBeOpen = [
  'POST /session',
  'POST /links/check',
  'POST /links/redeem',
  'GET /public-models',
  'GET /public-models/{model}',
  'GET /openapi.json',
]

let context: TestConsole
beforeAll(async () => {
  context = await openConsole(freshFolder(), { env: { TOLLGATE_PUBLIC_MODELS: 'on' } })
})
afterAll(() => context.close())

const programOf = async (accountId: string | undefined): Promise<Caller> => {
  const { managementKeys } = context.gateway.services
  const { secret } = await managementKeys.create({ accountId, name: 'ci', createdBy: undefined })
  return { headers: { authorization: `Bearer ${secret}` } }
}

async function callerOf(role: Role): Promise<Caller> {
  switch (role) {
    case 'anonymous':
      return nobody
    case 'program':
      return programOf(undefined)
    case 'account_program':
      return programOf(context.accountId)
    case 'viewer': {
      const caller = await context.as('operator')
      await context.call(caller, 'POST /session/view-as', { account: context.accountId })
      return caller
    }
    default:
      return context.as(role)
  }
}

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (name, route) => {
  test.each(roles)('%s', async (role) => {
    const path = route.path.replace('{account}', context.accountId).replace(/\{\w+\}/g, 'none')
    // The body is wrong on purpose: an admitted request is refused for it, and changes nothing.
    const { status, body } = await context.call(await callerOf(role), `${route.method} ${path}`, { wrong: true })
    const refused = status === 401 || status === 403 || JSON.stringify(body).includes('no such account')
    const isRefusedForAnother = role === 'anonymous' && name === 'POST /session'
    expect({ role, refused: refused && !isRefusedForAnother }).toEqual({
      role,
      refused: !allowed[route.access].includes(role),
    })
  })
})

test('an account of others and a missing account get the same answer', async () => {
  for (const { method, path, access } of routes.filter((route) => route.path.startsWith('/accounts/{account}'))) {
    const at = (id: string): string => `${method} ${path.replace('{account}', id).replace(/\{\w+\}/g, 'none')}`
    const owner = await context.as('owner')
    const theirs = await context.call(owner, at(context.otherId), {})
    expect(theirs.status).toBe(access.startsWith('account_') ? 404 : 403)
    expect(await context.call(owner, at('acct_none'), {})).toEqual(theirs)
  }
})

test('only listed routes are open, and members may only read', () => {
  const open = routes.filter(({ access }) => access === 'open').map(({ method, path }) => `${method} ${path}`)
  expect(open.filter((name) => !mayBeOpen.includes(name))).toEqual([])
  const read = routes.filter(({ access, method }) => access === 'account_read' && method !== 'GET')
  // This route only reads. It is a POST because its secret may not be in an address.
  expect(read.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /accounts/{account}/secrets/lookup'])
})
