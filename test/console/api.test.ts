/** The console's API: objects are created, changed and shown, and its numbers match to the nano-dollar. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chat, INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'
import { PASSWORD, signedIn, type Person } from '../support/people.ts'

let gateway: TestGateway
let origin: string
let operator: { cookie: string }
let owner: { cookie: string }

type HttpAnswer<T = Record<string, unknown>> = { readonly status: number; readonly headers: Headers; readonly body: T }

async function call<T = Record<string, unknown>>(
  caller: object,
  request: string,
  body?: object,
): Promise<HttpAnswer<T>> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${origin}/admin/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...caller },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  // A change is in force at once where it is made, and within two seconds elsewhere.
  if (method !== 'GET') await gateway.caughtUp()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T }
}

async function person(name: string, input: Omit<Person, 'name'>): Promise<{ cookie: string }> {
  const { cookie } = await signedIn(gateway, { name, ...input })
  return { cookie }
}

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
  operator = await person('op', { role: 'operator' })
  owner = await person('own', { role: 'owner', account: gateway.accountId })
}, 30_000)
afterAll(() => gateway.close())

const at = (path: string): string => `/accounts/${gateway.accountId}${path}`
/** Somebody who plays. */
type Player = { readonly id: string; readonly caller: object }
type Page<T = Record<string, unknown>> = { readonly data: readonly T[]; readonly next_cursor: string | null }

/** All pages of a list. */
async function all<T = Record<string, unknown>>(caller: object, path: string, limit = 7): Promise<T[]> {
  const items: T[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const join = path.includes('?') ? '&' : '?'
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body, status }: HttpAnswer<Page<T>> = await call(caller, `GET ${path}${join}limit=${limit}${more}`)
    expect(status).toBe(200)
    items.push(...body.data)
    cursor = body.next_cursor
  }
  return items
}

describe('keys', () => {
  test('are made, shown once, limited, used, revoked, and then open nothing', async () => {
    const made = await call<{ id: string; secret: string }>(owner, `POST ${at('/keys')}`, {
      name: 'prod',
      models: ['sandbox-chat'],
      limits: { spend_per_day_nano_usd: '5000000000', requests_per_minute: 60 },
    })
    expect(made.body).toMatchObject({ status: 'active', limits: { spend_per_day_nano_usd: '5000000000' } })
    const { id, secret } = made.body
    const use = (model: string): Promise<Response> => chat({ baseUrl: gateway.baseUrl, key: secret }, { model })
    expect((await use('sandbox-chat')).status).toBe(200)
    expect((await use('sandbox-mini')).status).toBe(403)
    const wider = { models: null, limits: { requests_per_minute: null } }
    const changed = await call(owner, `PATCH ${at(`/keys/${id}`)}`, { name: 'live', ...wider })
    expect(changed.body).toMatchObject({ name: 'live', models: null, limits: { requests_per_minute: null } })
    expect((await use('sandbox-mini')).status).toBe(200)
    const shown = await call<{ spent_today_nano_usd: string }>(owner, `GET ${at(`/keys/${id}`)}`)
    expect(JSON.stringify(shown.body)).not.toContain(secret)
    expect(BigInt(shown.body.spent_today_nano_usd)).toBeGreaterThan(0n)
    expect((await call(owner, `DELETE ${at(`/keys/${id}`)}`)).body).toMatchObject({ status: 'revoked' })
    expect((await use('sandbox-chat')).status).toBe(401)
    expect((await all(owner, at('/keys?status=revoked'))).map((key) => key['id'])).toContain(id)
  })

  test('of another account are not there', async () => {
    const other = await gateway.operate<{ id: string }>('account.create', { name: 'elsewhere' })
    const theirs = await gateway.operate<{ id: string }>('key.create', { account: other.id, name: 'x' })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined
      expect((await call(owner, `${method} ${at(`/keys/${theirs.id}`)}`, body)).status).toBe(404)
    }
  })
})

describe('the playground', () => {
  test('calls with a token that ends with the session, and spends as a key of its own', async () => {
    const player = await person('player', { role: 'owner', account: gateway.accountId })
    const { body } = await call<{ token: string }>(player, `POST ${at('/playground-token')}`)
    const use = async (): Promise<number> =>
      (await chat({ baseUrl: gateway.baseUrl, key: body.token }, { model: 'sandbox-chat' })).status
    expect(await use()).toBe(200)
    const [latest] = await all<{ key: { name: string } }>(owner, at('/requests'))
    expect(latest?.key.name).toBe('Playground')
    expect((await all<{ name: string }>(owner, at('/keys'))).map(({ name }) => name)).not.toContain('Playground')
    await call(player, 'DELETE /sessions')
    expect(await use()).toBe(401)
    expect((await call({ authorization: `Bearer ${body.token}` }, 'GET /session')).status).toBe(401)
  })

  test('spends nothing while an operator only looks at an account', async () => {
    const viewer = await person('viewer', { role: 'operator' })
    const { body } = await call<{ token: string }>(viewer, `POST ${at('/playground-token')}`)
    const use = async (): Promise<number> =>
      (await chat({ baseUrl: gateway.baseUrl, key: body.token }, { model: 'sandbox-chat' })).status
    expect(await use()).toBe(200)
    await call(viewer, 'POST /session/view-as', { account: gateway.accountId })
    expect(await use()).toBe(401)
    await call(viewer, 'DELETE /session/view-as')
    expect(await use()).toBe(200)
  })

  const ends = {
    'ends its session': ({ caller }: Player) => call(caller, 'DELETE /session'),
    'is disabled': ({ id }: Player) => call(operator, `PATCH ${at(`/users/${id}`)}`, { status: 'disabled' }),
    'is given another role': ({ id }: Player) => call(operator, `PATCH ${at(`/users/${id}`)}`, { role: 'member' }),
  }
  test.each(Object.entries(ends))(
    'is cut within a second when its person %s, and what arrived is charged',
    async (name, end) => {
      const { id, cookie } = await signedIn(gateway, { name: `who ${name}`, role: 'owner', account: gateway.accountId })
      const streamOf = (key: string): Promise<Response> => {
        const messages = [{ role: 'user', content: 'Write 400 tokens [sandbox: pace-ms=50]' }]
        return chat({ baseUrl: gateway.baseUrl, key }, { model: 'sandbox-chat', stream: true, messages })
      }
      const tokenOf = async (caller: object): Promise<string> =>
        (await call<{ token: string }>(caller, `POST ${at('/playground-token')}`)).body.token
      const [mine, others] = await Promise.all([streamOf(await tokenOf({ cookie })), streamOf(await tokenOf(owner))])
      const text = mine.text()
      await Bun.sleep(300)
      expect((await end({ id, caller: { cookie } })).status).toBe(200)
      const endedMs = performance.now()
      expect(await text).toContain('"code":"invalid_api_key"')
      // Another instance hears of it within a second.
      expect(performance.now() - endedMs).toBeLessThan(1_000 * INSTANCES)
      type Line = { readonly id: string; readonly charged: string }
      const lines = await gateway.operate<Line[]>('request.list', { account: gateway.accountId })
      const record = lines.find((line) => line.id === mine.headers.get('x-request-id'))
      expect(record).toMatchObject({ outcome: 'barred' })
      expect(Number(record?.charged)).toBeGreaterThan(0)
      // Nobody else's stream is touched.
      const reader = others.body?.getReader()
      for (let reads = 0; reads < 3; reads++) expect((await reader?.read())?.done).toBe(false)
      await reader?.cancel()
    },
  )
})

describe('money', () => {
  test('a code is redeemed once, by whoever comes first', async () => {
    const batch = { count: 2, amount_nano_usd: '1000000000', note: 'welcome' }
    const made = await call<{ codes: { id: string; code: string }[] }>(operator, 'POST /codes', batch)
    const [first, second] = made.body.codes
    const tried = await Promise.all(
      Array.from({ length: 10 }, () => call(owner, `POST ${at('/redemptions')}`, { code: first?.code })),
    )
    expect(tried.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(tried.find(({ status }) => status === 200)?.body).toMatchObject({ amount_nano_usd: '1000000000' })
    expect((await call(operator, `DELETE /codes/${second?.id}`)).body).toMatchObject({ state: 'voided' })
    expect((await call(owner, `POST ${at('/redemptions')}`, { code: second?.code })).status).toBe(404)
    const listed = await all<{ id: string; state: string }>(operator, '/codes', 1)
    expect(listed.map(({ state }) => state).toSorted()).toEqual(['redeemed', 'voided'])
    expect(JSON.stringify(listed)).not.toContain(first?.code)
  })

  test('an operator credits and debits with a reason, and it is in the ledger of the account', async () => {
    const move = (kind: string, amount: string, ref: string) =>
      call(operator, `POST ${at('/adjustments')}`, { kind, amount_nano_usd: amount, reason: 'invoice 7', ref })
    expect((await move('credit', '2000000001', 'inv-7')).status).toBe(200)
    expect((await move('credit', '2000000001', 'inv-7')).status).toBe(409)
    expect((await move('debit', '1', 'fix-7')).status).toBe(200)
    expect((await move('credit', '-5', 'x')).status).toBe(400)
    const { body } = await call<{ data: { ref: string; amount_nano_usd: string }[] }>(owner, `GET ${at('/ledger')}`)
    expect(body.data.find(({ ref }) => ref === 'inv-7')?.amount_nano_usd).toBe('2000000001')
    expect(body.data.find(({ ref }) => ref === 'fix-7')?.amount_nano_usd).toBe('-1')
  })
})

describe('a statement', () => {
  test('has the balance that the ledger had after each booking, whatever was charged between them that day', async () => {
    type Line = { kind: string; ref: string | null; amount_nano_usd: string; balance_nano_usd: string }
    const after = new Map<string, string>()
    for (const ref of ['mid-1', 'mid-2', 'mid-3']) {
      await (await chat(gateway, { model: 'sandbox-chat' })).text()
      const credit = { kind: 'credit', amount_nano_usd: '1000003', reason: 'between calls', ref }
      const { body } = await call<{ balance: { posted_nano_usd: string } }>(
        operator,
        `POST ${at('/adjustments')}`,
        credit,
      )
      after.set(ref, body.balance.posted_nano_usd)
    }
    await (await chat(gateway, { model: 'sandbox-chat' })).text()
    const { body } = await call<{ opening_nano_usd: string; data: Line[] }>(owner, `GET ${at('/ledger')}`)
    const lines = body.data.toReversed()
    for (const [ref, balance] of after) {
      expect(lines.find((line) => line.ref === ref)?.balance_nano_usd).toBe(balance)
      expect(lines[lines.findIndex((line) => line.ref === ref) - 1]?.kind).toBe('charges')
    }
    let balance = BigInt(body.opening_nano_usd)
    for (const line of lines) {
      balance += BigInt(line.amount_nano_usd)
      expect(line.balance_nano_usd).toBe(balance.toString())
    }
    const { body: account } = await call<{ balance: { posted_nano_usd: string } }>(owner, `GET ${at('')}`)
    expect(account.balance.posted_nano_usd).toBe(balance.toString())
  })
})

describe('a balance that runs low', () => {
  type Me = { account: { low_balance: Record<string, unknown> | null } | null }
  const warned = async (): Promise<Record<string, unknown> | null | undefined> =>
    (await call<Me>(owner, 'GET /session')).body.account?.low_balance

  test('is said to the people of the account, below the threshold they chose, until they choose none', async () => {
    const put = (threshold_nano_usd: string | null) =>
      call<{ balance: { available_nano_usd: string } }>(owner, `PUT ${at('/low-balance')}`, { threshold_nano_usd })
    expect(await warned()).toBeNull()
    const { available_nano_usd: available } = (await put('1')).body.balance
    expect(await warned()).toBeNull()
    await put(available)
    expect(await warned()).toBeNull()
    const above = (BigInt(available) + 1n).toString()
    expect((await put(above)).body).toMatchObject({ low_balance_nano_usd: above })
    expect(await warned()).toMatchObject({ threshold_nano_usd: above, available_nano_usd: available })
    expect(Number((await warned())?.['days_left'])).toBeGreaterThan(0)
    expect((await call(owner, `GET ${at('/overview')}`)).body).toMatchObject({ low_balance_nano_usd: above })
    expect((await put(null)).body).toMatchObject({ low_balance_nano_usd: null })
    expect(await warned()).toBeNull()
    for (const wrong of ['-1', '1.5', 'all']) expect((await put(wrong)).status).toBe(400)
  })
})

describe('what cannot be', () => {
  test('a statement of a month to come', async () => {
    const next = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1))
    for (const month of [next.toISOString().slice(0, 7), '9999-12']) {
      const told = await call(owner, `GET ${at(`/ledger?cursor=${month}`)}`)
      expect([told.status, told.body['error']]).toMatchObject([400, { param: 'cursor' }])
    }
    expect((await call(owner, `GET ${at('/ledger?cursor=1970-01')}`)).status).toBe(200)
  })

  test('an amount that the store cannot hold', async () => {
    const from = (amount: bigint): string => `GET ${at(`/requests?charged_min_nano_usd=${amount}`)}`
    expect((await call(owner, from(2n ** 63n - 1n))).status).toBe(200)
    const told = await call(owner, from(2n ** 63n))
    expect([told.status, told.body['error']]).toMatchObject([400, { param: 'charged_min_nano_usd' }])
  })

  test('a name of a key with a control character in it', async () => {
    for (const name of ['a\u0000', 'b\u001b[31m', 'c\nd', 'e\u009bf']) {
      expect((await call(owner, `POST ${at('/keys')}`, { name })).status).toBe(400)
    }
  })

  test('a key of a provider that no header can carry', async () => {
    for (const key of ['sk-a\r\nx-evil: 1', 'sk-a\n', 'sk-\u00e9', 'sk-\u2013']) {
      const told = await call(operator, 'POST /providers', { id: 'odd', preset: 'openai', key })
      expect([told.status, JSON.stringify(told.body).includes('sk-')]).toEqual([400, false])
    }
    expect((await call(operator, 'GET /providers/odd')).status).toBe(404)
  })

  test('a password in an address, also not in the audit log', async () => {
    const addresses = [
      'https://me:hunter2@example.com/v1',
      'https://example.com/v1?api-key=hunter2',
      'https:me:hunter2@h',
    ]
    for (const base_url of addresses) {
      expect((await call(operator, 'POST /providers', { id: 'open', preset: 'custom', base_url })).status).toBe(400)
    }
    const text = JSON.stringify(await all(operator, '/audit?action=provider.add', 50))
    expect(text).toContain('https://[secret]@example.com/v1')
    expect(text).toContain('https://example.com/v1?api-key=[secret]')
    expect(text).not.toContain('hunter2')
  })
})

/** Rows of a file, by the names of its first line. */
function rowsOf(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.trim().split('\r\n')
  const names = head.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i] ?? '', cell])))
}

describe('numbers', () => {
  const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, amount) => total + BigInt(amount), 0n)

  test('usage, requests, ledger and files are one number, after any traffic', async () => {
    const aCall = fc.record({
      model: fc.constantFrom('sandbox-chat', 'sandbox-mini'),
      stream: fc.boolean(),
      content: fc.constantFrom('hi', 'Write 40 tokens', 'a longer question, to be answered in many words'),
      max_tokens: fc.integer({ min: 1, max: 60 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(aCall, { minLength: 1, maxLength: 12 }), async (calls) => {
        await Promise.all(
          calls.map(async ({ content, ...rest }) =>
            (await chat(gateway, { ...rest, messages: [{ role: 'user', content }] })).text(),
          ),
        )
        const charged = async (query: string): Promise<string> =>
          (await call<{ total: { charged_nano_usd: string } }>(owner, `GET ${at(`/usage?${query}`)}`)).body.total
            .charged_nano_usd
        const total = await charged('step=hour')
        for (const query of ['step=day', 'by=key', 'by=model&step=hour', 'by=endpoint', 'time_zone=Asia/Tokyo']) {
          expect({ query, charged: await charged(query) }).toEqual({ query, charged: total })
        }
        const { body: csv } = await call<string>(owner, `GET ${at('/usage?by=model&step=hour&format=csv')}`)
        expect(sum(rowsOf(csv).map((row) => row['charged_nano_usd'] ?? '')).toString()).toBe(total)
        const requests = await all<{ charged_nano_usd: string }>(owner, at('/requests'), 20)
        expect(sum(requests.map(({ charged_nano_usd: amount }) => amount)).toString()).toBe(total)
        type Ledger = {
          charges_nano_usd: string
          closing_nano_usd: string
          opening_nano_usd: string
          data: { amount_nano_usd: string }[]
        }
        const { body: ledger } = await call<Ledger>(owner, `GET ${at('/ledger')}`)
        expect((-BigInt(ledger.charges_nano_usd)).toString()).toBe(total)
        const moved = sum(ledger.data.map(({ amount_nano_usd: amount }) => amount))
        expect(BigInt(ledger.opening_nano_usd) + moved).toBe(BigInt(ledger.closing_nano_usd))
        const { body: account } = await call<{ balance: { posted_nano_usd: string } }>(owner, `GET ${at('')}`)
        expect(ledger.closing_nano_usd).toBe(account.balance.posted_nano_usd)
        const { body: file } = await call<string>(owner, `GET ${at('/ledger?format=csv')}`)
        expect(sum(rowsOf(file).map((row) => row['amount_nano_usd'] ?? ''))).toBe(moved)
      }),
      { numRuns: 6 },
    )
  }, 60_000)

  test('the lines of a request’s price add up to what was charged, and what was held is charged or released', async () => {
    await (await chat(gateway, { model: 'sandbox-chat', max_tokens: 50 })).text()
    const [latest] = await all<{ id: string }>(owner, at('/requests'), 50)
    const { body } = await call<{
      charged_nano_usd: string
      held_nano_usd: string
      released_nano_usd: string
      price: { lines: { amount_nano_usd: string }[]; rounding_nano_usd: string; total_nano_usd: string }
      attempts_made: object[]
    }>(owner, `GET ${at(`/requests/${latest?.id}`)}`)
    const millionths = (text: string): bigint => {
      const [whole = '0', fraction = ''] = text.split('.')
      return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
    }
    const lines = body.price.lines.reduce((total, line) => total + millionths(line.amount_nano_usd), 0n)
    expect(lines + millionths(body.price.rounding_nano_usd)).toBe(millionths(body.charged_nano_usd))
    expect(BigInt(body.charged_nano_usd) + BigInt(body.released_nano_usd)).toBe(BigInt(body.held_nano_usd))
    expect(JSON.stringify(body)).not.toContain('provider')
    const { body: whole } = await call(operator, `GET /requests/${latest?.id}`)
    expect(whole).toMatchObject({ account: gateway.accountId, provider: 'sandbox', attempts_made: [{ result: 'ok' }] })
  })

  test('the overview is one call', async () => {
    const { body } = await call<Record<string, unknown>>(owner, `GET ${at('/overview?range=24h')}`)
    expect(body).toMatchObject({ first_steps: { has_key: true, has_called: true, has_succeeded: true }, step: 'hour' })
    expect(Number(body['days_left'])).toBeGreaterThan(0)
  })
})

describe('an operator', () => {
  test('adds a provider, tests it, routes a model to it, drains it', async () => {
    const url = (await gateway.operate<{ base_url: string }[]>('provider.list'))[0]?.base_url ?? ''
    const draft = { id: 'mine', preset: 'sandbox', base_url: url, allow_private: true, key: 'sk-upstream-secret' }
    const made = await call(operator, 'POST /providers', draft)
    expect(made.body).toMatchObject({ id: 'mine', has_key: true, origin: 'stored', state: 'serving' })
    expect(JSON.stringify(made.body)).not.toContain('sk-upstream-secret')
    expect((await call(operator, 'POST /providers', draft)).status).toBe(409)
    expect((await call(operator, 'POST /providers/mine/test')).body).toMatchObject({ ok: true, status: 200 })
    const price = { input: '1000000000', output: '3000000000' }
    const model = {
      id: 'house/one',
      price,
      offers: [{ provider: 'mine', model: 'sandbox-chat', cost: { input: '500000000', output: '1000000000' } }],
    }
    const routed = await call(operator, 'POST /models', model)
    expect(routed.body).toMatchObject({
      offers: [
        {
          state: 'ready',
          margin: { input_percent: 50, output_percent: 66.7, input_markup_percent: 100, output_markup_percent: 200 },
        },
      ],
    })
    const ask = async (): Promise<number> => (await chat(gateway, { model: 'house/one' })).status
    expect(await ask()).toBe(200)
    const path = `/models/${encodeURIComponent('house/one')}`
    const dearer = await call(operator, `PATCH ${path}`, { price: { input: '2000000000', output: '3000000000' } })
    expect(dearer.body).toMatchObject({ price: { input: '2000000000' }, offers: [{ cost: { input: '500000000' } }] })
    const history = await call<{ data: { of: string }[] }>(operator, `GET ${path}/prices`)
    expect(history.body.data.filter(({ of }) => of === 'sale')).toHaveLength(2)
    const before = await call(operator, `POST ${path}/explain`, { account: gateway.accountId })
    expect(before.body).toMatchObject({
      admitted: true,
      lacking: [],
      steps: [{ provider: 'mine', verdict: 'first', share_percent: 100 }],
    })
    expect((await call(operator, 'PUT /providers/mine/state', { state: 'drained' })).body).toMatchObject({
      state: 'drained',
    })
    expect(await ask()).toBe(503)
    const after = await call(operator, `POST ${path}/explain`, { account: gateway.accountId })
    expect(after.body).toMatchObject({ admitted: false, lacking: ['offer'], steps: [{ verdict: 'skipped' }] })
    await call(operator, 'PUT /providers/mine/state', { state: 'serving' })
    expect(await ask()).toBe(200)
  })

  test('sees what is declared, and cannot change it here', async () => {
    const models = await all<{ id: string; origin: string }>(operator, '/models', 2)
    expect(models.find(({ id }) => id === 'sandbox-chat')?.origin).toBe('declared')
    const changed = await call(operator, 'PATCH /models/sandbox-chat', { price: { input: '1', output: '1' } })
    expect([changed.status, changed.body['error']]).toMatchObject([409, { code: 'declared' }])
    expect((await call(operator, 'DELETE /providers/sandbox')).status).toBe(409)
  })

  test('suspends an account, which then can look but not call', async () => {
    expect((await call(operator, `PATCH ${at('')}`, { status: 'suspended' })).body).toMatchObject({
      status: 'suspended',
    })
    expect((await chat(gateway, { model: 'sandbox-chat' })).status).toBe(403)
    expect((await call(owner, `GET ${at('/overview')}`)).status).toBe(200)
    expect((await call(owner, `POST ${at('/playground-token')}`)).status).toBe(403)
    await call(operator, `PATCH ${at('')}`, { status: 'active' })
    expect((await chat(gateway, { model: 'sandbox-chat' })).status).toBe(200)
  })

  test('reads in the audit log who changed what, without secrets', async () => {
    const entries = await all<Record<string, unknown>>(operator, '/audit', 50)
    const provider = entries.find(({ action, subject }) => action === 'provider.add' && subject === 'mine')
    expect(provider).toMatchObject({ actor: { kind: 'user', name: 'op' }, outcome: 'done' })
    const suspended = entries.find(({ action }) => action === 'account.suspend')
    expect(suspended).toMatchObject({ before: { status: 'active' }, after: { status: 'suspended' }, outcome: 'done' })
    expect(entries.find(({ action }) => action === 'account.create')).toMatchObject({ actor: { kind: 'command' } })
    for (const action of ['key.create', 'key.revoke', 'account.credit', 'code.redeem']) {
      expect({ action, found: entries.some((entry) => entry['action'] === action) }).toEqual({ action, found: true })
    }
    const text = JSON.stringify(entries)
    for (const secret of ['sk-upstream-secret', PASSWORD, gateway.key, 'setup_', 'TG-0'])
      expect(text).not.toContain(secret)
    expect(await all(operator, '/audit?action=account.suspend')).toHaveLength(1)
  })

  test('verifies the books', async () => {
    expect((await call(operator, 'POST /health/verification')).body).toMatchObject({ clean: true, findings: [] })
    // Each instance shows its own last verification.
    const shown = await Promise.all([1, 2].map(() => call(operator, 'GET /health')))
    expect(shown.map(({ body }) => body)).toContainEqual(expect.objectContaining({ open_holds: 0 }))
    expect(shown.some(({ body }) => (body['ledger'] as { clean: boolean } | null)?.clean === true)).toBe(true)
  })

  test('a management key that a command made says so, in the list and in the audit log', async () => {
    const made = await gateway.operate<{ id: string; secret: string }>('management_key.create', { name: 'cron' })
    const keys = await all<{ id: string; created_by: object | null }>(operator, '/management-keys')
    expect(keys.find(({ id }) => id === made.id)).toMatchObject({ created_by: null, status: 'active' })
    const entries = await all(operator, '/audit?action=management_key.create')
    expect(entries.find(({ subject }) => subject === made.id)).toMatchObject({
      actor: { kind: 'command', id: null },
      outcome: 'done',
      after: { id: made.id, name: 'cron', made_by: 'command' },
    })
    expect(JSON.stringify(entries)).not.toContain(made.secret)
    const ofUser = await call<{ id: string }>(operator, 'POST /management-keys', { name: 'by hand' })
    const [latest] = await all(operator, '/audit?action=management_key.create')
    expect(latest).toMatchObject({ subject: ofUser.body.id, after: { made_by: 'user' } })
  })

  test('gives a program a key, which manages and neither signs in nor makes more of its kind', async () => {
    const made = await call<{ id: string; secret: string }>(operator, 'POST /management-keys', { name: 'terraform' })
    const program = { authorization: `Bearer ${made.body.secret}` }
    expect((await call(program, 'POST /accounts', { name: 'by-program', balance_nano_usd: '7' })).body).toMatchObject({
      balance: { posted_nano_usd: '7' },
    })
    expect((await call(program, 'POST /management-keys', { name: 'more' })).status).toBe(403)
    expect((await call(program, 'GET /session')).status).toBe(403)
    expect((await fetch(`${gateway.baseUrl}/models`, { headers: program })).status).toBe(401)
    await call(operator, `DELETE /management-keys/${made.body.id}`)
    expect((await call(program, 'GET /accounts')).status).toBe(401)
  })
})

describe('tasks', () => {
  test('are images and videos in one list, with how far each is and what it cost', async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const ask = (path: string, body: object): Promise<Response> =>
      fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect((await ask('/images/generations', { model: 'sandbox-image', prompt: 'x' })).status).toBe(200)
    const film = { model: 'sandbox-video-fast', content: [{ type: 'text', text: 'x' }], duration: 4 }
    const { id } = (await (await ask('/videos', film)).json()) as { id: string }
    type Task = { id: string; kind: string; status: string; charged_nano_usd: string }
    const ofVideo = async (): Promise<Task | undefined> =>
      (await all<Task>(owner, at('/tasks'), 1)).find((task) => task.id === id)
    expect(await ofVideo()).toMatchObject({ kind: 'video', request: expect.stringMatching(/^req_/) })
    let task = await ofVideo()
    for (let tries = 0; tries < 200 && task?.status !== 'completed'; tries++) {
      await Bun.sleep(100)
      task = await ofVideo()
    }
    expect(task).toMatchObject({ status: 'completed', progress: 100, outputs: 1 })
    expect(BigInt(task?.charged_nano_usd ?? '0')).toBeGreaterThan(0n)
    expect((await call<Task>(owner, `GET ${at(`/tasks/${id}`)}`)).body).toMatchObject({ id, status: 'completed' })
    const [picture] = await all<Task>(owner, at('/tasks?kind=image'))
    expect((await call<Task>(owner, `GET ${at(`/tasks/${picture?.id}`)}`)).body).toEqual(picture ?? expect.anything())
    const theirs = await gateway.operate<{ id: string }>('account.create', { name: 'not-its-maker' })
    for (const path of [at('/tasks/task_none'), `/accounts/${theirs.id}/tasks/${id}`])
      expect((await call(operator, `GET ${path}`)).status).toBe(404)
    const kinds = (await all<Task>(owner, at('/tasks'), 1)).map(({ kind }) => kind)
    expect(kinds.slice(0, 2)).toEqual(['video', 'image'])
    expect((await all<Task>(owner, at('/tasks?kind=image'))).every(({ kind }) => kind === 'image')).toBe(true)
  }, 30_000)

  test('of a video cost what the ledger charged for it, its super-resolution included', async () => {
    const charges = async (): Promise<bigint> =>
      -BigInt((await call<{ charges_nano_usd: string }>(owner, `GET ${at('/ledger')}`)).body.charges_nano_usd)
    const before = await charges()
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({
      model: 'sandbox-video-fast',
      content: [{ type: 'text', text: 'x [sandbox: task-ms=300]' }],
      duration: 4,
      super_resolution_config: { resolution: '2k' },
    })
    const made = await fetch(`${gateway.baseUrl}/videos`, { method: 'POST', headers, body })
    const { id } = (await made.json()) as { id: string }
    type Charge = { endpoint: string; charged_nano_usd: string }
    type Task = { id: string; request: string; status: string; charged_nano_usd: string; charges: Charge[] }
    let task: Task | undefined
    for (let tries = 0; tries < 200 && task?.status !== 'completed'; tries++) {
      await Bun.sleep(100)
      task = (await all<Task>(owner, at('/tasks?kind=video'))).find((one) => one.id === id)
    }
    expect(BigInt(task?.charged_nano_usd ?? '0')).toBe((await charges()) - before)
    expect(task?.charges.map(({ endpoint }) => endpoint)).toEqual(['videos', 'videos.upscale'])
    expect(task?.charges.reduce((sum, line) => sum + BigInt(line.charged_nano_usd), 0n)).toBe(
      BigInt(task?.charged_nano_usd ?? '0'),
    )
    // By its request, which may be said aloud; and by the id with which whoever has it can fetch the video.
    const alone = await call<Task & { expires_at: string }>(owner, `GET ${at(`/tasks/${task?.request}`)}`)
    expect(alone.body).toEqual({ ...task, expires_at: alone.body.expires_at } as never)
    expect(alone.body).toMatchObject({
      stage: 'completed',
      wish: { resolution: '720p', upscale: { resolution: '2k' } },
    })
    expect(Date.parse(alone.body.expires_at)).toBeGreaterThan(Date.now())
    expect((await call(owner, `GET ${at(`/tasks/${id}`)}`)).body).toEqual(alone.body as never)
  }, 30_000)
})
