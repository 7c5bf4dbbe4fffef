/** The console against people who mean harm: what they had must end, and what they send must stay small. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { nobody, openConsole } from './support/console.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'

let gateway: TestGateway
let origin: string
const PASSWORD = 'correct horse battery'

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
}, 30_000)
afterAll(() => gateway.close())

type Told = { readonly status: number; readonly cookie: string; readonly body: Record<string, unknown> }

async function call(caller: object, request: string, body?: object): Promise<Told> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${origin}/admin/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...caller },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { status: response.status, cookie, body: (await response.json()) as Told['body'] }
}

/** Somebody who is signed in. */
async function person(name: string, input: object): Promise<{ readonly id: string; readonly cookie: string }> {
  const made = await gateway.operate<{ id: string; setup_path: string }>('user.create', { name, ...input })
  const { cookie } = await call({}, 'POST /links/redeem', { token: made.setup_path.split('#')[1], password: PASSWORD })
  return { id: made.id, cookie }
}
const signIn = (name: string, password: string): Promise<Told> => call({}, 'POST /session', { name, password })

describe('a password that was changed', () => {
  test('opens nothing, though it was being checked meanwhile', async () => {
    const inside = await openConsole()
    try {
      const { users } = inside.gateway.office
      const id = users.findNamed('kim')?.id ?? ''
      const enter = (): ReturnType<typeof inside.call> =>
        inside.call(nobody, 'POST /session', { name: 'kim', password: PASSWORD })
      await users.setPassword(id, await Bun.password.hash(PASSWORD))
      expect((await enter()).status).toBe(200)
      const entering = enter()
      await users.setPassword(id, await Bun.password.hash('another long one', { algorithm: 'bcrypt', cost: 4 }))
      expect((await entering).status).toBe(401)
      expect(inside.gateway.office.sessions.listOf(id)).toEqual([])
    } finally {
      await inside.close()
    }
  })

  test('is changed by one of those who ask at once', async () => {
    const { cookie } = await person('uma', { role: 'operator' })
    const other = await signIn('uma', PASSWORD)
    const changes = await Promise.all(
      [cookie, other.cookie].map((of, i) =>
        call({ cookie: of }, 'POST /session/password', { current: PASSWORD, password: `another long one ${i}` }),
      ),
    )
    expect(changes.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403])
  })
})
