/** A refused client gets a request id, with which the operator finds the reason. */
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, runJson } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'

type Refusal = {
  readonly id: string
  readonly account: string | null
  readonly key_id: string | null
  readonly model: string | null
  readonly status: number
  readonly code: string
  readonly endpoint: string
  readonly repeats: number
}

test('every refusal is found by its id: what it was, whose, for which model, and no secret', async () => {
  const gateway = await startGateway()
  const { key, baseUrl } = gateway
  const ask = (path: string, init: RequestInit = {}, bearer = key): Promise<Response> =>
    fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    })
  const post = (body: unknown): RequestInit => ({
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const messages = [{ role: 'user', content: 'the prompt' }]
  const cases: readonly (readonly [Response, model: string | null])[] = [
    [await ask('/chat/completions', post({ model: 'no-such', messages })), 'no-such'],
    [await ask('/chat/completions', post('{"model":')), null],
    [await ask('/chat/completions', post({ model: 'sandbox-chat', messages: 5 })), null],
    [await ask('/chat/completions', post({ model: `a prompt ${'x'.repeat(300)}`, messages })), null],
    [await ask('/nowhere', post({})), null],
    [await ask('/chat/completions'), null],
    [await ask('/models/no-such'), null],
    [await ask('/videos/task_nobody'), null],
  ]
  for (const [response, model] of cases) {
    const id = response.headers.get('x-request-id') ?? ''
    const text = await response.text()
    const shown = await gateway.operate<Refusal>('request.show', { request: id })
    expect([id, shown]).toMatchObject([id, { id, status: response.status, account: expect.any(String), model }])
    expect(text).toContain(shown.code)
  }
  // Whose it was is known of a key that is revoked; of another it is not, and nothing of it is kept.
  const secret = `sk-tg-${'Z'.repeat(51)}`
  const strange = await ask('/models', {}, secret)
  const unknown = await runJson<Refusal>(gateway.folder, ['request', 'show', strange.headers.get('x-request-id') ?? ''])
  expect(unknown).toMatchObject({ account: null, key_id: null, status: 401 })
  const list = await runCommand(gateway.folder, ['request', 'list', '--refused', '--limit', '1000'])
  expect([list.code, list.out.includes('no-such'), list.out.includes('ZZZ')]).toEqual([0, true, false])
  expect(list.out).not.toContain('the prompt')
})

test('a flood of refused calls keeps few rows, is counted whole, and healthy calls are answered meanwhile', async () => {
  const gateway = await startGateway()
  const { key, baseUrl, folder } = gateway
  const ask = async (model: string): Promise<number> => {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    })
    await response.arrayBuffer()
    return response.status
  }
  const sizeOf = (): number =>
    ['tollgate.db', 'tollgate.db-wal'].reduce((sum, name) => sum + sizeAt(join(folder, name)), 0)
  const before = sizeOf()
  const flood = Array.from({ length: 16 }, async () => {
    for (let i = 0; i < 250; i++) expect(await ask('no-such')).toBe(404)
  })
  const healthy: number[] = []
  for (let i = 0; i < 20; i++) healthy.push(await ask('sandbox-chat'))
  await Promise.all(flood)
  expect(new Set(healthy)).toEqual(new Set([200]))
  const countOf = (rows: readonly Refusal[]): number => rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0)
  const read = (): Promise<Refusal[]> => gateway.operate('request.refused', { limit: 1_000 })
  let kept = await read()
  // Another instance writes its counts within seconds.
  for (let i = 0; i < 150 && countOf(kept) < 4_000; i++) {
    await Bun.sleep(100)
    kept = await read()
  }
  // At most two minutes, and their fifty rows each.
  expect(kept.length).toBeLessThanOrEqual(150)
  expect(countOf(kept)).toBe(4_000)
  expect(sizeOf() - before).toBeLessThan(8 * 1024 * 1024)
}, 120_000)

const sizeAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
