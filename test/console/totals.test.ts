/**
 * One number in every place. After any traffic, the charges in the ledger equal the usage by hour and day, in each
 * grouping and time zone, as JSON and as a file. They equal the sum of the requests in pages of any size, the overview
 * and the monthly statements. Three lives of a gateway each cross a midnight, two of them at the end of a month.
 */
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { signedIn, type Person } from '../support/people.ts'
import { HOUR_MS } from '../../src/lib/primitives/units.ts'

const yaml = `
models:
  torn: { price: { input: 1, output: 4 }, offers: [{ provider: sandbox, model: 'sandbox-chat!cutAfterBytes=1500,pace=1' }] }
  silent: { price: { input: 1.000001, output: 3.7 }, offers: [{ provider: sandbox, model: 'sandbox-chat!noUsage' }] }
  refusing: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: 'sandbox-chat!status=500' }] }
  paced: { price: { input: 0.333333, output: 7 }, offers: [{ provider: sandbox, model: 'sandbox-chat!pace=5' }] }
`
const folder = freshFolder()
/** Long enough before a midnight for a gateway to start and its first streams to begin. */
const BEFORE_MS = 4_000
const FIRST = Date.UTC(2031, 1, 1) - BEFORE_MS
/** When each life begins: a month ends, a day, a month. */
const lives = [FIRST, Date.UTC(2031, 1, 11) - BEFORE_MS, Date.UTC(2031, 2, 1) - BEFORE_MS]

let gateway: TestGateway
let shiftMs = 0
let owner: { cookie: string }
let operator: { cookie: string }
let identity: Pick<TestGateway, 'accountId' | 'key'> | undefined
const nowMs = (): number => Date.now() + shiftMs
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Json = Record<string, unknown>
async function get<T = Json>(caller: object, path: string): Promise<T> {
  const response = await fetch(`${new URL(gateway.baseUrl).origin}/admin/v1${path}`, { headers: { ...caller } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${text}`)
  return (response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
}
const at = (path: string): string => `/accounts/${gateway.accountId}${path}`
const post = (path: string, body: object, init: RequestInit = {}): Promise<Response> =>
  fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...init,
  })

async function person(name: string, input: Omit<Person, 'name'>): Promise<{ cookie: string }> {
  const { cookie } = await signedIn(gateway, { name, ...input })
  return { cookie }
}

let serial = 0
async function begin(life: number): Promise<void> {
  shiftMs = (lives[life] ?? 0) - Date.now()
  gateway = await startGateway({
    yaml,
    folder,
    as: identity,
    balanceUsd: '250.000000001',
    preload: [join(import.meta.dir, '../support/shifted-clock.ts')],
    env: { TEST_CLOCK_SHIFT_MS: String(shiftMs), TOLLGATE_VIDEO_POLL_MS: '30' },
  })
  identity = { accountId: gateway.accountId, key: gateway.key }
  operator = await person(`operator ${serial}`, { role: 'operator' })
  owner = await person(`owner ${serial++}`, { role: 'owner', account: gateway.accountId })
}

type Deed =
  | { readonly kind: 'chat' | 'stream'; readonly model: string; readonly content: string; readonly max: number }
  | { readonly kind: 'leave'; readonly afterBytes: number }
  | { readonly kind: 'image'; readonly model: string }
  | { readonly kind: 'video'; readonly note: string; readonly isUpscaled: boolean }
  | { readonly kind: 'embedding'; readonly inputs: number }
  | { readonly kind: 'credit' | 'debit' | 'refund'; readonly nano: bigint }
  | { readonly kind: 'key' }

const aDeed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('chat' as const, 'stream' as const),
      model: fc.constantFrom('sandbox-chat', 'sandbox-mini', 'torn', 'silent', 'refusing'),
      content: fc.constantFrom('hi', 'Write 40 tokens', 'a longer question, to be answered in many words'),
      max: fc.integer({ min: 1, max: 200 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('leave' as const), afterBytes: fc.integer({ min: 1, max: 2_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('image' as const),
      model: fc.constantFrom('sandbox-image', 'sandbox-image-classic'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('video' as const),
      note: fc.constantFrom('', 'fails', 'upscale-fails'),
      isUpscaled: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('embedding' as const), inputs: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('credit' as const, 'debit' as const, 'refund' as const),
      nano: fc.bigInt({ min: 1n, max: 3_000_000_000n }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('key' as const) }) },
)

/** A client that goes in the middle of a stream. */
async function leave(afterBytes: number): Promise<void> {
  const gone = new AbortController()
  const body = {
    model: 'paced',
    stream: true,
    max_tokens: 300,
    messages: [{ role: 'user', content: 'Write 300 tokens' }],
  }
  const response = await post('/chat/completions', body, { signal: gone.signal })
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) if ((bytes += (chunk as Uint8Array).length) > afterBytes) break
  } finally {
    gone.abort()
  }
}

async function makeVideo({ note, isUpscaled }: Extract<Deed, { kind: 'video' }>): Promise<void> {
  const text = `x [sandbox: ${[...(note.startsWith('task-ms') ? [] : ['task-ms=50']), ...(note === '' ? [] : [note])].join(', ')}]`
  const wish = isUpscaled ? { super_resolution_config: { resolution: '2k' } } : {}
  const made = await post('/videos', {
    model: 'sandbox-video-fast',
    content: [{ type: 'text', text }],
    duration: 4,
    ...wish,
  })
  expect(made.status).toBe(200)
}

async function act(deed: Deed): Promise<void> {
  switch (deed.kind) {
    case 'chat':
    case 'stream': {
      const { model, content, max } = deed
      const request = { model, max_tokens: max, stream: deed.kind === 'stream', messages: [{ role: 'user', content }] }
      await (await chat(gateway, request)).text().catch(() => 'cut')
      return
    }
    case 'leave':
      return leave(deed.afterBytes)
    case 'image':
      return void (await (await post('/images/generations', { model: deed.model, prompt: 'x' })).text())
    case 'video':
      return makeVideo(deed)
    case 'embedding': {
      const input = Array.from({ length: deed.inputs }, (_, i) => `text ${i}`)
      return void (await (await post('/embeddings', { model: 'sandbox-embedding', input })).text())
    }
    case 'credit':
    case 'debit':
    case 'refund': {
      const amount = `${deed.nano / 1_000_000_000n}.${String(deed.nano % 1_000_000_000n).padStart(9, '0')}`
      return void (await gateway.operate(`account.${deed.kind}`, {
        account: gateway.accountId,
        amount,
        reason: '=1+1',
      }))
    }
    case 'key': {
      const { secret } = await gateway.operate<{ secret: string }>('key.create', {
        account: gateway.accountId,
        name: `=k,"${serial++}`,
      })
      await (await chat({ baseUrl: gateway.baseUrl, key: secret }, { model: 'sandbox-mini' })).text()
    }
  }
}

/** Asks the database itself, past all that is tested here. */
function rowOf<T>(sql: string, ...bind: string[]): T {
  const db = new Database(join(gateway.folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  try {
    return db.query(sql).get(...bind) as T
  } finally {
    db.close()
  }
}

/** Until nothing is held any more on disk: streams that were left, and videos, have ended. */
async function settled(): Promise<void> {
  const sql = "SELECT count(*) AS open FROM hold WHERE account_id = ? AND state = 'open'"
  for (let i = 0; i < 800; i++) {
    if (rowOf<{ open: bigint }>(sql, gateway.accountId).open === 0n) return
    await Bun.sleep(25)
  }
  throw new Error('something stays on hold')
}

const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, amount) => total + BigInt(amount), 0n)

/** Rows of a file: names may have commas and quotes in them. */
function rowsOf(csv: string): Record<string, string>[] {
  const cells = csv
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
      ),
    )
  const [head = [], ...rows] = cells
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i] ?? '', cell])))
}

function booked(): { readonly charges: bigint; readonly moves: bigint; readonly posted: bigint } {
  const total = (kinds: string): bigint => {
    const sql = `SELECT coalesce(sum(amount), 0) AS total FROM books WHERE account_id = ? AND ${kinds}`
    return rowOf<{ total: bigint }>(sql, gateway.accountId).total
  }
  const { posted } = rowOf<{ posted: bigint }>('SELECT posted FROM account WHERE id = ?', gateway.accountId)
  return { charges: -total("kind = 'charge'"), moves: total("kind <> 'charge'"), posted }
}

type Usage = { total: { charged_nano_usd: string }; data: { charged_nano_usd: string; name: string | null }[] }

async function expectUsage(charges: bigint, query: string, caller = owner, path = at('/usage')): Promise<void> {
  const range = `from=${new Date(FIRST - HOUR_MS).toISOString()}&to=${new Date(nowMs() + HOUR_MS).toISOString()}`
  const shown = await get<Usage>(caller, `${path}?${range}&${query}`)
  const rows = sum(shown.data.map((row) => row.charged_nano_usd))
  const file = rowsOf(await get<string>(caller, `${path}?${range}&${query}&format=csv`))
  expect({ query, total: BigInt(shown.total.charged_nano_usd), rows }).toEqual({ query, total: charges, rows: charges })
  expect(file.map((row) => row['charged_nano_usd'])).toEqual(shown.data.map((row) => row.charged_nano_usd))
  expect(file.map((row) => row['name']?.replace(/^'/, ''))).toEqual(shown.data.map(({ name }) => name ?? ''))
}

async function expectPages(charges: bigint, limit: number): Promise<void> {
  const seen = new Set<string>()
  let total = 0n
  for (let cursor: string | null = ''; cursor !== null;) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    type Page = { data: { id: string; charged_nano_usd: string }[]; next_cursor: string | null }
    const page: Page = await get<Page>(owner, at(`/requests?limit=${limit}${more}`))
    expect(page.data.length).toBeLessThanOrEqual(limit)
    for (const { id } of page.data) expect(seen.has(id)).toBe(false)
    for (const { id } of page.data) seen.add(id)
    total += sum(page.data.map((row) => row.charged_nano_usd))
    cursor = page.next_cursor
  }
  expect({ limit, total }).toEqual({ limit, total: charges })
}

type Statement = {
  month: string
  opening_nano_usd: string
  closing_nano_usd: string
  charges_nano_usd: string
  credits_nano_usd: string
  debits_nano_usd: string
  data: { amount_nano_usd: string; balance_nano_usd: string }[]
  next_cursor: string | null
}

/** From the newest month to the first: each opens where the one before it closed. */
async function expectStatements({ charges, moves, posted }: ReturnType<typeof booked>): Promise<void> {
  let [balance, charged, moved] = [posted, 0n, 0n]
  for (let month: string | null = ''; month !== null;) {
    const path: string = at(`/ledger${month === '' ? '?' : `?cursor=${month}&`}`)
    const shown: Statement = await get<Statement>(owner, path)
    const file = rowsOf(await get<string>(owner, `${path}format=csv`))
    expect(BigInt(shown.closing_nano_usd)).toBe(balance)
    for (const { amount_nano_usd: amount, balance_nano_usd: after } of shown.data) {
      expect(BigInt(after)).toBe(balance)
      balance -= BigInt(amount)
    }
    expect(BigInt(shown.opening_nano_usd)).toBe(balance)
    expect(file.map((row) => row['amount_nano_usd'])).toEqual(shown.data.map((row) => row.amount_nano_usd))
    charged -= BigInt(shown.charges_nano_usd)
    moved += BigInt(shown.credits_nano_usd) + BigInt(shown.debits_nano_usd)
    const [year = 0, number = 1] = shown.month.split('-').map(Number)
    const [from, to] = [Date.UTC(year, number - 1), Date.UTC(year, number)].map((ms) => new Date(ms).toISOString())
    const { total } = await get<Usage>(owner, at(`/usage?from=${from}&to=${to}`))
    expect(BigInt(total.charged_nano_usd)).toBe(-BigInt(shown.charges_nano_usd))
    month = shown.next_cursor
  }
  expect({ balance, charged, moved }).toEqual({ balance: 0n, charged: charges, moved: moves })
}

async function expectOneNumber(limit: number, offset: number): Promise<void> {
  const books = booked()
  const { charges } = books
  const queries = [
    'step=hour',
    'step=day',
    'by=key',
    'by=model&step=hour',
    'by=endpoint',
    `time_zone=Etc/GMT${offset > 0 ? '-' : '%2B'}${Math.abs(offset)}`,
  ]
  for (const query of queries) await expectUsage(charges, query)
  for (const by of ['account', 'key', 'model']) await expectUsage(charges, `by=${by}`, operator, '/usage')
  await expectPages(charges, limit)
  await expectStatements(books)
  type Overview = {
    spent_nano_usd: string
    series: { charged_nano_usd: string }[]
    balance: { posted_nano_usd: string }
  }
  const overview = await get<Overview>(owner, at('/overview?range=30d'))
  expect(BigInt(overview.spent_nano_usd)).toBe(charges)
  expect(sum(overview.series.map((row) => row.charged_nano_usd))).toBe(charges)
  expect(BigInt(overview.balance.posted_nano_usd)).toBe(books.posted)
}

/** Streams all the time from before midnight until after it: each counts in the hour in which it began. */
async function acrossMidnight(life: number): Promise<void> {
  const midnightMs = (lives[life] ?? 0) + BEFORE_MS
  const running: Promise<void>[] = [makeVideo({ kind: 'video', note: 'task-ms=4000', isUpscaled: true })]
  while (nowMs() < midnightMs + 600) {
    running.push(act({ kind: 'stream', model: 'paced', content: 'Write 200 tokens', max: 200 }))
    running.push(act({ kind: 'credit', nano: 7n }))
    await Bun.sleep(250)
  }
  await Promise.all(running)
  await settled()
}

describe.each(lives.map((startMs, life) => [new Date(startMs).toISOString(), life] as const))('from %s', (_, life) => {
  test('all that is shown adds up to what was charged', async () => {
    await begin(life)
    await acrossMidnight(life)
    await expectOneNumber(1 + life, -5)
    const deeds = fc.array(aDeed, { minLength: 4, maxLength: 14 })
    const limits = fc.integer({ min: 1, max: 200 })
    await fc.assert(
      fc.asyncProperty(deeds, limits, fc.integer({ min: -12, max: 14 }), async (all, limit, offset) => {
        await Promise.all(all.map(act))
        await settled()
        await expectOneNumber(limit, offset)
      }),
      { numRuns: 3, endOnFailure: true },
    )
    await stop(life)
  }, 120_000)
})

/** The folder stays for the next life; the last one verifies the books. */
async function stop(life: number): Promise<void> {
  if (life === lives.length - 1) return gateway.close()
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, findings: [] })
  process.kill(gateway.pid, 'SIGTERM')
  expect(await gateway.exited).toBe(0)
}

test('a statement is right while requests are being charged', async () => {
  gateway = await startGateway()
  try {
    shiftMs = 0
    owner = await person('reader', { role: 'owner', account: gateway.accountId })
    let isOver = false
    const busy = Array.from({ length: 8 }, async () => {
      while (!isOver) await (await chat(gateway, { model: 'sandbox-chat', max_tokens: 8 })).text()
    })
    const openings = new Set<string>()
    for (let i = 0; i < 150; i++) openings.add((await get<Statement>(owner, at('/ledger'))).opening_nano_usd)
    isOver = true
    await Promise.all(busy)
    // The account began with nothing: what a statement opens with is what nobody has booked.
    expect([...openings]).toEqual(['0'])
  } finally {
    await gateway.close()
  }
}, 30_000)
