/**
 * docs/secrets.md matches the secrets that a running gateway creates: a scan by it finds all of them and nothing else.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKeyShaped } from '../../src/accounts/key-format.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { signedIn } from '../support/people.ts'

const page = readFileSync(join(import.meta.dir, '../../docs/secrets.md'), 'utf8')
/** Of each row of the table, what it is of and its expression. */
const expressions = new Map(
  [...page.matchAll(/^\| ([^|]+) \| `(.+?)` \|/gm)].map(([, of = '', text = '']) => [of, new RegExp(text, 'g')]),
)

let gateway: TestGateway
let cookie = ''
beforeAll(async () => {
  gateway = await startGateway()
  cookie = (await signedIn(gateway, { name: 'op', role: 'operator' })).cookie
}, 30_000)
afterAll(() => gateway.close())

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json', cookie }
  const url = new URL(`/admin/v1${path}`, gateway.baseUrl)
  return (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T
}

/** One of each, made as they are made. */
async function secrets(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { secret: program } = await post<{ secret: string }>('/management-keys', { name: `ci ${Math.random()}` })
  const pass = await post<{ token: string }>(`/accounts/${gateway.accountId}/playground-token`, {})
  const { codes } = await post<{ codes: { code: string }[] }>('/codes', { amount_nano_usd: '1000000000', count: 3 })
  const name = `kim ${Math.random()}`
  const { setup_path: link } = await gateway.operate<{ setup_path: string }>('user.create', { name, role: 'operator' })
  return {
    'client key': [gateway.key],
    'token of the playground': [pass.token],
    'management key': [program],
    'link to choose a password': [link.slice(link.indexOf('#') + 1)],
    'session of the console': [cookie, cookie.replace('tollgate=', '__Host-tollgate=')],
    'redemption code': codes.map(({ code }) => code),
  }
}

test('each expression finds what the gateway makes, whole and alone, in the middle of a text', async () => {
  for (let round = 0; round < 5; round++) {
    const made = await secrets()
    expect(Object.keys(made)).toEqual([...expressions.keys()])
    for (const [of, texts] of Object.entries(made)) {
      for (const text of texts) {
        const found = [...expressions].map(([name, expression]) => [
          name,
          [...`KEY="${text}", and more`.matchAll(expression)].map(([match]) => match),
        ])
        expect(found.filter(([, matches]) => matches?.length)).toEqual([[of, [text]]])
      }
    }
  }
})

test('the example fits the expression and is no key; the program on the page tells the two apart', async () => {
  const [example = ''] = /^sk-tg-\S+$/m.exec(page) ?? []
  const [client] = expressions.values()
  expect([...example.matchAll(client ?? /^$/g)].map(([match]) => match)).toEqual([example])
  expect(isKeyShaped(example)).toBe(false)
  const { status } = await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${example}` } })
  expect(status).toBe(401)
  if (!Bun.which('python3')) return
  const program = /```python\n([^]*?)```/.exec(page)?.[1] ?? ''
  const keys = [gateway.key, example, `${gateway.key}x`, gateway.key.toLowerCase()]
  const run = Bun.spawnSync(['python3', '-c', `${program}\nprint([is_key(text) for text in ${JSON.stringify(keys)}])`])
  expect(run.stdout.toString()).toBe('[True, False, False, False]\n')
})
