/** Requests that no page sends, to every route of the table, with and without permission. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { routes } from '../../src/console/routes.ts'
import type { RouteReply, ConsoleRoute } from '../../src/console/route.ts'
import { nobody, openConsole, type Answer, type Caller, type TestConsole } from '../support/console.ts'
import { freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { signedIn } from '../support/people.ts'
import { rawClient } from '../support/raw-client.ts'

let context: TestConsole
let program: Caller
beforeAll(async () => {
  context = await openConsole(freshFolder())
  const { secret } = await context.gateway.services.managementKeys.create({
    accountId: undefined,
    name: 'ops',
    createdBy: undefined,
  })
  program = { headers: { authorization: `Bearer ${secret}` } }
})
afterAll(() => context.close())

const odd = [
  '',
  '%',
  '_',
  "'",
  "' OR 1=1 --",
  '"); DROP TABLE account; --',
  '(a+)+$',
  '.*',
  '\u0000',
  '\ud800',
  '\uffff',
  '\u202e',
  '__proto__',
  'constructor',
  '-1',
  '1e309',
  'NaN',
  '9223372036854775807',
  '9223372036854775808',
  '0000-01',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00+99:99',
  'req_',
  'req_zzzzzzzzzzzzzzzzzzzzzzzzzz',
  'req_!!!!!!!!!!',
  '../../etc/passwd',
  'x'.repeat(500),
  '/'.repeat(4_000),
]
/** So long may an answer to nonsense take on a busy machine. */
const SLOW_MS = 1_500

const nameOf = ({ method, path }: ConsoleRoute): string => `${method} ${path}`
/** What is for people alone; all else a program asks, which no sign-out ends. */
const asPerson = (route: ConsoleRoute): boolean => /signed_in|people|play/.test(route.access)
const callerFor = async (route: ConsoleRoute): Promise<Caller> =>
  route.access === 'open' ? nobody : asPerson(route) ? context.as('operator') : program

async function send(route: ConsoleRoute, path: string, body: unknown): Promise<Answer> {
  const caller = await callerFor(route)
  const startedMs = performance.now()
  const answer = await context.call(caller, `${route.method} ${path}`, body)
  expect(performance.now() - startedMs).toBeLessThan(SLOW_MS)
  expect(answer.status).toBeLessThan(500)
  if (answer.status >= 400) expect(answer.body).toMatchObject({ error: { message: expect.any(String) } })
  return answer
}

const filled = ({ path }: ConsoleRoute, value: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'account' ? context.accountId : encodeURIComponent(value.isWellFormed() ? value : 'x'),
  )
const propertiesOf = (schema: z.ZodType | undefined): string[] => {
  if (!schema) return []
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return Object.keys((json as { properties?: object }).properties ?? {})
}

describe.each(routes.map((route) => [nameOf(route), route] as const))('%s', (_, route) => {
  test('in its path and its query', async () => {
    for (const value of odd) {
      await send(route, filled(route, value), undefined)
      for (const name of propertiesOf(route.query)) {
        const written = encodeURIComponent(value.toWellFormed())
        await send(route, `${filled(route, 'none')}?${name}=${written}`, undefined)
        await send(route, `${filled(route, 'none')}?${name}=1&${name}=${written}`, undefined)
      }
    }
  }, 60_000)

  test('in its body', async () => {
    if (!route.body) return
    const wholes = [null, true, 0, '', [], {}, [[]], JSON.parse('{"__proto__":{"isAdmin":true}}') as object]
    for (const whole of wholes) expect((await send(route, filled(route, 'none'), whole)).status).toBeGreaterThan(0)
    const values = [...odd, null, 0, -1, 1e308, 2 ** 53, [], {}, ['x'], '/'.repeat(500_000), ['/'.repeat(500_000)]]
    for (const name of propertiesOf(route.body)) {
      for (const value of values) await send(route, filled(route, 'none'), { [name]: value })
    }
    const everything = Object.fromEntries(propertiesOf(route.body).map((name) => [name, 'x'.repeat(900_000)]))
    await send(route, filled(route, 'none'), everything)
  }, 60_000)
})

test('a name is what is seen of it: nothing hidden in it, and nothing that turns the text around it', async () => {
  const caller = await context.as('operator')
  const at = `/accounts/${context.accountId}`
  const hidden = ['\u0000', '\n', '\u001b[31m', '\u009f', '\u202e', '\u2066', '\u200f', '\ud800']
  for (const name of hidden.flatMap((sign) => [`a${sign}b`, `${sign}\u200e.`])) {
    for (const [request, more] of [
      ['POST /accounts', {}],
      [`POST ${at}/keys`, {}],
      [`POST ${at}/users`, { role: 'member' }],
      ['POST /users', { role: 'operator' }],
      [`POST ${at}/management-keys`, {}],
      ['POST /management-keys', {}],
    ] as const) {
      const { status } = await context.call(caller, request, { name, ...more })
      expect([request, JSON.stringify(name), status]).toEqual([request, JSON.stringify(name), 400])
    }
  }
  for (const name of ['Zoë', '小明', 'محمد', '👩‍💻 ops', 'a b']) {
    expect((await context.call(caller, `POST ${at}/keys`, { name })).status).toBe(200)
  }
})

describe('an owner', () => {
  test('changes so much at once, and then a thing a second: the audit log keeps each', async () => {
    const caller = await context.as('stranger')
    const path = `POST /accounts/${context.otherId}/redemptions`
    const made: number[] = []
    for (let i = 0; i < 230; i++) {
      const { status } = await context.call({ ...caller, address: `192.0.2.${i}` }, path, { code: 'none' })
      made.push(status)
    }
    expect(made.filter((status) => status !== 429).length).toBeLessThanOrEqual(205)
    expect(made.at(-1)).toBe(429)
    expect((await context.call(caller, `GET /accounts/${context.otherId}/keys`)).status).toBe(200)
    expect(
      (await context.call(await context.as('owner'), `POST /accounts/${context.accountId}/keys`, { name: 'x' })).status,
    ).toBe(200)
  })

  test('who asks for a lot keeps nobody else waiting', async () => {
    const [kim, ann] = [await context.as('owner'), await context.as('stranger')]
    const order: string[] = []
    const ask = async (caller: Caller, account: string, name: string): Promise<void> => {
      await context.call(caller, `GET /accounts/${account}/usage?by=key`)
      order.push(name)
    }
    const crowd = Array.from({ length: 100 }, () => ask(kim, context.accountId, 'kim'))
    await Promise.all([...crowd, ask(ann, context.otherId, 'ann')])
    expect(order.indexOf('ann')).toBeLessThan(20)
  })

  test('cannot stop the clock with a long list of models, nor fill the audit log with it', async () => {
    const caller = await context.as('owner')
    const path = `POST /accounts/${context.accountId}/keys`
    for (const models of [['/'.repeat(1_000_000)], Array.from({ length: 50_000 }, (_, i) => `model-${i}`)]) {
      const startedMs = performance.now()
      expect((await context.call(caller, path, { name: 'x', models })).status).toBe(400)
      expect(performance.now() - startedMs).toBeLessThan(SLOW_MS)
    }
  })

  test('asks for no more than there is room for', async () => {
    const caller = await context.as('owner')
    const usage = (query: string): Promise<Answer> =>
      context.call(caller, `GET /accounts/${context.accountId}/usage?${query}`)
    for (const [query, param] of [
      ['from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z', 'from'],
      ['from=2030-01-01T00:00:00Z&to=2030-01-01T00:00:00Z', 'from'],
      ['from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z&step=hour', 'from'],
      ['from=0001-01-01T00:00:00Z&to=9998-12-31T23:59:59Z', 'from'],
      ['from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59Z', 'from'],
      ['to=9999-12-31T23:59:59-12:00', 'to'],
      ['from=2020-01-01T00:00:00Z&step=day', 'from'],
    ]) {
      const { status, body } = await usage(query ?? '')
      expect([query, status, body]).toMatchObject([query, 400, { error: { param } }])
    }
    expect((await usage('from=9998-12-31T00:00:00Z&to=9998-12-31T23:59:59Z&step=hour')).status).toBe(200)
  })
})

test('what anybody may ask for is made once', () => {
  const document = routes.find(({ path }) => path === '/openapi.json')
  const ask = (): RouteReply => document?.run({ context: { facts: { version: 'test' } } } as never) as RouteReply
  const [first, second] = [ask(), ask()]
  if (first.kind !== 'json' || second.kind !== 'json') throw new Error('it is JSON')
  expect(second.value).toBe(first.value)
})

test('a cell of a file is never a formula', async () => {
  const { csvText } = await import('../../src/console/csv.ts')
  for (const start of ['=', '+', '-', '@', '\t', '\r=', '\n=', '＝', '＋', '－', '＠', ' =']) {
    const [, row = ''] = csvText(['name'], [{ name: `${start}HYPERLINK("http://evil.example","x")` }]).split(
      /\r\n(.*)/s,
    )
    const cell = row.replace(/^"/, '')
    expect([start, /^[\s"]*[=+\-@＝＋－＠]/.test(cell)]).toEqual([start, false])
  }
  expect(csvText(['n'], [{ n: '-5' }])).toBe('n\r\n-5\r\n')
  for (const steering of ['\0', '\x1b[2J', '\x9b', '\u202e', '\u2066', '\u200f', '\ufeff=1']) {
    const text = csvText(['n'], [{ n: `a${steering}b` }])
    expect([steering, /[^\r\n\u{20}-\u{7e}\ufffd]/u.test(text)]).toEqual([steering, false])
  }
  expect(csvText(['n'], [{ n: 'naïve 名 👩‍💻' }])).toContain('naïve 名 👩‍💻')
})

test('exports of many hours by a crowd keep nobody waiting', async () => {
  const gateway = await startGateway()
  try {
    const { origin } = new URL(gateway.baseUrl)
    const { cookie } = await signedIn(gateway, { name: 'op', role: 'operator' })
    const hour = Math.floor(Date.now() / 3_600_000)
    seedHours(gateway, hour)
    const from = new Date((hour - 699) * 3_600_000).toISOString()
    const path = `/admin/v1/accounts/${gateway.accountId}/usage?by=key&step=hour&from=${from}&format=csv`
    let isOver = false
    let longest = 0
    const watch = async (): Promise<void> => {
      while (!isOver) {
        const startedMs = performance.now()
        await (await fetch(`${origin}/healthz`)).text()
        longest = Math.max(longest, performance.now() - startedMs)
        await Bun.sleep(5)
      }
    }
    const watching = watch()
    const files = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(origin + path, { headers: { cookie } })).text()),
    )
    isOver = true
    await watching
    expect(new Set(files.map((file) => file.split('\r\n').length))).toEqual(new Set([700 * 14 + 2]))
    expect(longest).toBeLessThan(1_000)
  } finally {
    // Its books do not add up: what was seeded nobody was charged.
    await gateway.crash()
    rmSync(gateway.folder, { recursive: true, force: true })
  }
}, 60_000)

/** Sums of 700 hours and 14 keys, without the requests. */
function seedHours({ folder, accountId }: TestGateway, hour: number): void {
  const db = new Database(join(folder, 'tollgate.db'))
  const columns = db.query('PRAGMA table_info(usage_hour)').all().length
  const insert = db.query(`INSERT INTO usage_hour VALUES (${Array.from({ length: columns }, () => '?').join(', ')})`)
  const sums = Array.from({ length: columns - 5 }, () => 3)
  db.transaction(() => {
    for (let i = 0; i < 700 * 14; i++) {
      insert.run(accountId, hour - Math.floor(i / 14), `key_${i % 14}`, 'm', 'chat.completions', ...sums)
    }
  })()
  db.close()
}

describe('over the wire', () => {
  let gateway: TestGateway
  let port: number
  beforeAll(async () => {
    gateway = await startGateway()
    port = Number(new URL(gateway.baseUrl).port)
  }, 30_000)
  afterAll(() => gateway.close())

  /** A request as it is written here, to the byte. */
  async function raw(line: string, headers = 'host: x', body = ''): Promise<string> {
    const client = await rawClient(port)
    client.send(`${line} HTTP/1.1\r\n${headers}\r\nconnection: close\r\n\r\n${body}`)
    const text = await client.ended()
    client.close()
    return text
  }
  const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])

  test('no path leads out of the folder of files', async () => {
    for (const path of [
      '/console/../package.json',
      '/console/assets/../../../package.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/assets/%2e%2e%2f%2e%2e%2fpackage.json',
      '/console/..%5c..%5cpackage.json',
      '/console/assets/..\\..\\..\\package.json',
      '/console/assets/%00',
      '/console/icon.svg%00.js',
      '/console/assets//etc/passwd',
      '/console//etc/passwd',
      '/console/index.html',
      '/console/manifest.json',
      '/x/y/console/icon.svg',
      '//evil.example/console',
      '/console/;/package.json',
    ]) {
      const text = await raw(`GET ${path}`)
      expect([path, /"(?:dependencies|isEntry)"|root:/.test(text)]).toEqual([path, false])
      expect([path, [200, 400, 404].includes(statusOf(text))]).toEqual([path, true])
      // Only what has a digest in its name, or is a picture, may be kept by anybody.
      expect([path, /cache-control: (?:public|private)/i.test(text)]).toEqual([path, false])
    }
  })

  test('a host header leads nowhere', async () => {
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1@evil.example', '"><script>']) {
      for (const path of ['/console', '/console/', '/console/setup', '/admin/v1/openapi.json', '/admin/v1/session']) {
        const text = await raw(`GET ${path}`, `host: ${host}\r\nx-forwarded-host: evil.example\r\nforwarded: host=evil`)
        expect([host, path, text.includes('evil')]).toEqual([host, path, false])
      }
    }
    expect(gateway.output()).toContain(`http://127.0.0.1:${port}/console/setup#setup_`)
  })

  test('everything that is not a file is not kept', async () => {
    for (const path of [
      '/console/',
      '/console/a/x/keys',
      '/admin/v1/session',
      '/admin/v1/none',
      '/console/assets/no.js',
    ]) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const text = await raw(`${method} ${path}`, 'host: x\r\ncontent-length: 0')
        expect([method, path, /cache-control: no-store/i.test(text)]).toEqual([method, path, true])
        if (method === 'HEAD') expect(text.split('\r\n\r\n')[1]).toBe('')
      }
    }
  })

  test('a body before signing in is small on every route and every page, and what follows it is no request', async () => {
    const paths = routes.filter(({ body }) => body).map(({ method, path }) => [method, `/admin/v1${path}`] as const)
    for (const [method, path] of [...paths, ['POST', '/console/'], ['PUT', '/console/assets/x.js']]) {
      const filledPath = path.replace(/\{\w+\}/g, 'none')
      const text = await raw(
        `${method} ${filledPath}`,
        'host: x\r\ncontent-type: application/json\r\ncontent-length: 9000',
        `${' '.repeat(8_900)}GET /admin/v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`.padEnd(9_000, ' '),
      )
      expect([path, text.match(/HTTP\/1\.1 /g)?.length, text.includes('smuggled')]).toEqual([path, 1, false])
      expect([path, statusOf(text) >= 400 && statusOf(text) < 500]).toEqual([path, true])
    }
  }, 30_000)
})
