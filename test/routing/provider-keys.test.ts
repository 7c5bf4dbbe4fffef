/** A provider with several keys: a refused one rests, the next serves the same request, and keys come and go. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { filesOf, found } from '../support/canary.ts'
import { chat, INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'

const secret = (name: string): string => `planted-${name}-${crypto.randomUUID()}`
const [one, two, three] = [secret('one'), secret('two'), secret('three')]
const planted = { one, two, three }

/** What the vendor answers to a key, or to a key and a model. */
let answers: Record<string, number> = {}
let used: string[] = []
/** How long the vendor takes for an answer. */
let tookMs = 0
let vendor: Bun.Server<unknown>
let gateway: TestGateway

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const key = request.headers.get('authorization')?.slice('Bearer '.length) ?? ''
      used.push(key)
      const { model = '' } = request.method === 'POST' ? ((await request.json()) as { model?: string }) : {}
      const status = answers[`${key} ${model}`] ?? answers[key] ?? 200
      if (status !== 200) {
        const headers = status === 429 ? { 'retry-after': '60' } : {}
        return Response.json({ error: { message: `no, ${key}`, code: key } }, { status, headers })
      }
      if (new URL(request.url).pathname.endsWith('/models')) {
        return Response.json({ object: 'list', data: [{ id: 'm' }] })
      }
      await Bun.sleep(tookMs)
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      })
    },
  })
  const at = `base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true`
  gateway = await startGateway({
    env: { TOLLGATE_LOG: 'debug' },
    yaml: `
providers:
  several: { ${at}, keys: [${one}, { key: ${two}, concurrent_requests: 50 }] }
  narrow: { ${at}, keys: [{ key: ${one}, concurrent_requests: 1 }, { key: ${two}, concurrent_requests: 1 }] }
  rated: { ${at}, keys: [${one}, ${two}] }
models:
  rated-m: { price: { input: 1, output: 1 }, offers: [{ provider: rated, model: m }] }
  rated-n: { price: { input: 1, output: 1 }, offers: [{ provider: rated, model: n }] }
  narrow: { price: { input: 1, output: 1 }, offers: [{ provider: narrow, model: m }] }
  m: { price: { input: 1, output: 1 }, offers: [{ provider: several, model: m }] }
`,
  })
  const stored = { id: 'stored', base_url: `http://127.0.0.1:${vendor.port}/v1`, allow_private: true, key: one }
  await gateway.operate('provider.add', stored)
  const price = { input: '1', output: '1' }
  await gateway.operate('model.add', { id: 'stored', price, offers: [{ provider: 'stored', model: 'm' }] })
}, 30_000)
beforeEach(async () => {
  answers = {}
  used = []
  tookMs = 0
  for (const id of ['several', 'stored', 'narrow', 'rated']) await gateway.operate('provider.resume', { id })
  await gateway.caughtUp()
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

const ask = async (model = 'm'): Promise<{ status: number; text: string }> => {
  const response = await chat(gateway, { model, messages: [{ role: 'user', content: 'hi' }] })
  return { status: response.status, text: await response.text() }
}
type Note = { readonly result: string; readonly keyId?: string }
async function lastNotes(): Promise<readonly Note[]> {
  const wanted = { account: gateway.accountId, limit: 1 }
  const [record] = await gateway.operate<{ attempts: string }[]>('request.list', wanted)
  return JSON.parse(record?.attempts ?? '[]') as Note[]
}
const idsOf = async (id: string): Promise<string[]> =>
  (await gateway.operate<{ id: string }[]>('provider.key.list', { id })).map((key) => key.id)

test('keys are used in turn, and the record says which one', async () => {
  for (let i = 0; i < 4 * INSTANCES; i++) expect((await ask()).status).toBe(200)
  expect(used.filter((key) => key === one)).toHaveLength(2 * INSTANCES)
  expect(used.filter((key) => key === two)).toHaveLength(2 * INSTANCES)
  const [note] = await lastNotes()
  expect(await idsOf('several')).toContain(note?.keyId ?? '')
})

test.each([401, 402, 403, 429])(
  'after %d the next key serves the same request, and the refused one rests',
  async (status) => {
    answers = { [one]: status }
    for (let i = 0; i < 6; i++) expect((await ask()).status).toBe(200)
    // Each instance tries the refused key once.
    expect(used.filter((key) => key === one).length).toBeWithin(1, INSTANCES + 1)
    const keys = await gateway.operate<{ reason: string | null }[]>('provider.key.list', { id: 'several' })
    if (INSTANCES === 1)
      expect(keys[0]?.reason).toBe({ 401: 'auth', 402: 'funds', 403: 'auth', 429: 'rate' }[status] ?? '')
    expect(keys[1]?.reason).toBeNull()
  },
)

test('a key that is at its rate for one model serves others', async () => {
  answers = { [`${one} m`]: 429 }
  for (let i = 0; i < 4 * INSTANCES; i++) expect((await ask('rated-m')).status).toBe(200)
  expect(used.filter((key) => key === one).length).toBeWithin(1, INSTANCES + 1)
  used = []
  for (let i = 0; i < 4 * INSTANCES; i++) expect((await ask('rated-n')).status).toBe(200)
  expect(used.filter((key) => key === one)).toHaveLength(2 * INSTANCES)
  // An offer rests only if every key refuses it.
  answers = { [`${one} m`]: 429, [`${two} m`]: 429 }
  expect((await ask('rated-m')).status).toBeGreaterThanOrEqual(429)
  expect((await ask('rated-n')).status).toBe(200)
})

test('both attempts are in the record with their keys, and no secret is', async () => {
  answers = { [one]: 401 }
  let notes: readonly Note[] = []
  for (let i = 0; i < 4 && notes.length < 2; i++) {
    await ask()
    notes = await lastNotes()
  }
  const [first, second] = await idsOf('several')
  expect(notes).toMatchObject([
    { result: 'auth', keyId: first },
    { result: 'ok', keyId: second },
  ])
})

test('rests that are ended at one instance are ended at all', async () => {
  answers = { [one]: 401 }
  for (let i = 0; i < 4 * INSTANCES; i++) expect((await ask()).status).toBe(200)
  await gateway.operate('provider.resume', { id: 'several' })
  await gateway.caughtUp()
  answers = {}
  used = []
  for (let i = 0; i < 4 * INSTANCES; i++) expect((await ask()).status).toBe(200)
  expect(used.filter((key) => key === one)).toHaveLength(2 * INSTANCES)
})

test('the requests of a conversation keep to one key, and move only when it is refused', async () => {
  const talk = async (): Promise<string> => {
    const body = { model: 'm', prompt_cache_key: 'talk', messages: [{ role: 'user', content: 'hi' }] }
    expect((await chat(gateway, body)).status).toBe(200)
    return used.at(-1) ?? ''
  }
  const key = await talk()
  for (let i = 0; i < 4; i++) expect(await talk()).toBe(key)
  answers = { [key]: 429 }
  expect(await talk()).toBe(key === one ? two : one)
})

test('a request whose key is refused waits for a key that is busy', async () => {
  answers = { [one]: 401 }
  tookMs = 50
  const got = await Promise.all(Array.from({ length: 2 * INSTANCES }, () => ask('narrow')))
  expect(got.map(({ status }) => status)).toEqual(got.map(() => 200))
})

test('of keys that are added and removed at once none is lost', async () => {
  const id = 'at-once'
  const base = { id, base_url: `http://127.0.0.1:${vendor.port}/v1`, allow_private: true, key: one }
  await gateway.operate('provider.add', base)
  await Promise.all(
    Array.from({ length: 6 }, (_, i) => gateway.operate('provider.key.add', { id, key: secret(`new-${i}`) })),
  )
  const ids = await idsOf(id)
  expect(ids).toHaveLength(7)
  await Promise.all([
    ...ids.slice(0, 2).map((keyId) => gateway.operate('provider.key.remove', { id, key_id: keyId })),
    gateway.operate('provider.add', { id, concurrent_requests: 9 }),
  ])
  expect((await idsOf(id)).toSorted()).toEqual(ids.slice(2).toSorted())
  await gateway.operate('provider.remove', { id })
})

test('if every key is refused the offer rests, and comes back with the first key', async () => {
  answers = { [one]: 401, [two]: 429 }
  const { status, text } = await ask()
  expect(status).toBeGreaterThanOrEqual(429)
  expect(found(Buffer.from(text).toString('latin1'), planted)).toEqual([])
  expect(used.toSorted()).toEqual([one, two].toSorted())
  await gateway.operate('provider.resume', { id: 'several' })
  answers = {}
  expect((await ask()).status).toBe(200)
})

test('a test of a provider tries each key, and names the one that fails', async () => {
  answers = { [two]: 401 }
  const [, second = ''] = await idsOf('several')
  const tested = await gateway.operate<{ ok: boolean; problem: string }>('provider.test', { id: 'several' })
  expect(tested).toMatchObject({ ok: false, status: 401 })
  expect(tested.problem).toBe(`key ${second}: auth: no, [redacted]`)
})

test('keys of a stored provider are added and removed without a restart', async () => {
  expect(await idsOf('stored')).toEqual([])
  await gateway.operate('provider.key.add', { id: 'stored', key: three, concurrent_requests: 5 })
  await gateway.caughtUp()
  const [first = '', second = ''] = await idsOf('stored')
  for (let i = 0; i < 2 * INSTANCES; i++) await ask('stored')
  expect(new Set(used)).toEqual(new Set([one, three]))
  const again = gateway.operate('provider.key.add', { id: 'stored', key: three })
  expect(await again.catch((error: unknown) => (error as Error).message)).toContain('has this key already')
  await gateway.operate('provider.key.remove', { id: 'stored', key_id: first })
  await gateway.caughtUp()
  used = []
  for (let i = 0; i < 2 * INSTANCES; i++) await ask('stored')
  expect(new Set(used)).toEqual(new Set([three]))
  expect(await idsOf('stored')).toEqual([second])
  const declared = gateway.operate('provider.key.add', { id: 'several', key: three })
  expect(await declared.catch((error: unknown) => (error as Error).message)).toContain('is declared')
})

test('no key is in the log or the data folder', () => {
  expect(found(Buffer.from(gateway.output()).toString('latin1'), planted)).toEqual([])
  for (const [file, bytes] of gateway.folders.flatMap((folder) => [...filesOf(folder)]))
    expect([file, found(bytes, planted)]).toEqual([file, []])
})
