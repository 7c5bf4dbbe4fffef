import type { TestGateway } from './gateway.ts'

export const PASSWORD = 'correct horse battery'

export type Person = {
  readonly name: string
  readonly role: 'operator' | 'owner' | 'member'
  readonly account?: string
}

/** Somebody new of a gateway, signed in over a real socket. `cookie`: as a header of what they ask next. */
export async function signedIn(
  { operate, baseUrl }: Pick<TestGateway, 'operate' | 'baseUrl'>,
  person: Person,
): Promise<{ readonly id: string; readonly cookie: string }> {
  const { id, setup_path: path } = await operate<{ id: string; setup_path: string }>('user.create', person)
  const response = await fetch(new URL('/admin/v1/links/redeem', baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: path.split('#')[1], password: PASSWORD }),
  })
  return { id, cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
