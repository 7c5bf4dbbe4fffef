/**
 * Limits of what clients store on the disk: a share for each account, nothing without payment, and nothing when the
 * disk is short.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { create, failure, joined, made, send, until, yamlOf, type Member } from '../support/speaker.ts'

const STORED_BYTES_MAX = 300_000
const LARGE = 'x'.repeat(100_000)

let sandbox: TestSandbox
let gateway: TestGateway
beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const env = { TOLLGATE_STORED_BYTES_MAX: String(STORED_BYTES_MAX) }
  gateway = await startGateway({ yaml: yamlOf(sandbox.baseUrl), env })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

const member = (): Promise<Member> => joined(gateway)

function onDisk({ account }: Member): { turns: number; bytes: number } {
  const db = new Database(join(gateway.folder, 'tollgate.db'), { readonly: true })
  try {
    const sql = `SELECT count(*) AS turns, coalesce(sum(octet_length(input) + octet_length(output)), 0) AS bytes
      FROM response WHERE account_id = ?`
    return db.query(sql).get(account) as { turns: number; bytes: number }
  } finally {
    db.close()
  }
}

describe('responses that are kept', () => {
  test('of requests that fail without a charge leave no input behind', async () => {
    const who = await member()
    // Ten times what would fit.
    for (let i = 0; i < 30; i++) {
      const { id } = await made(who, { background: true, model: 'failing', input: LARGE })
      await until(who, id, 'failed')
    }
    expect(onDisk(who).turns).toBe(30)
    expect(onDisk(who).bytes).toBeLessThan(30 * 100)
    const { id } = await made(who, { background: true, model: 'failing', input: LARGE })
    await until(who, id, 'failed')
    expect(await (await send(who, `/responses/${id}/input_items`)).json()).toMatchObject({ data: [], has_more: false })
    const next = await create(who, { previous_response_id: id })
    expect(await failure(next)).toEqual([400, 'previous_response_not_found', 'previous_response_id'])
  }, 30_000)

  test('are so many bytes for each account, however many come at once, and fewer when some are deleted', async () => {
    const [who, other] = [await member(), await member()]
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(who, { model: 'late', input: LARGE })))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(6)
    const [first = await create(who, {})] = refused
    expect(first.headers.get('x-should-retry')).toBe('false')
    const { error } = (await first.json()) as { error: Record<string, string> }
    expect(error).toMatchObject({ code: 'storage_limit_exceeded', param: 'store' })
    expect(error['message']).toMatch(/may keep 300000 bytes of responses.*Delete.*store: false/)
    expect(onDisk(who)).toMatchObject({ turns: 2 })
    expect(onDisk(who).bytes).toBeLessThan(STORED_BYTES_MAX)
    expect((await create(who, { input: LARGE, store: false })).status).toBe(200)
    expect((await create(other, { input: LARGE })).status).toBe(200)
    expect((await create(who, { input: LARGE, background: true })).status).toBe(429)
    const [kept] = await Promise.all(answers.filter(({ status }) => status === 200).map((answer) => answer.json()))
    const { id } = kept as { id: string }
    expect((await send(who, `/responses/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await create(who, { input: LARGE })).status).toBe(200)
  })

  test('cannot be multiplied by naming one large item again and again', async () => {
    const who = await member()
    const { id } = await made(who, { input: LARGE })
    const items = (await (await send(who, `/responses/${id}/input_items`)).json()) as { data: { id: string }[] }
    const input = Array.from({ length: 400 }, () => ({ type: 'item_reference', id: items.data[0]?.id }))
    expect(await failure(await create(who, { input }))).toEqual([400, 'context_length_exceeded', expect.anything()])
    expect((await create(who, { input: input.slice(0, 3) })).status).toBe(429)
  })
})

test('a disk that is short of room takes no responses and no files; everything else goes on', async () => {
  const short = await startGateway({
    yaml: `sandbox: true`,
    env: { TOLLGATE_DISK_FLOOR_BYTES: String(1024 ** 4) },
  })
  const body = { model: 'sandbox-chat', input: 'hello' }
  const refused = await create(short, body)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await failure(refused)).toEqual([503, 'service_unavailable', null])
  expect((await create(short, { ...body, store: false })).status).toBe(200)
  const form = new FormData()
  form.set('model', 'sandbox-image')
  form.set('prompt', 'x')
  form.set('image', new File([new Uint8Array(10)], 'a.png'))
  const headers = { authorization: `Bearer ${short.key}` }
  const edit = await fetch(`${short.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
  expect(await failure(edit)).toEqual([503, 'service_unavailable', null])
  const picture = { model: 'sandbox-image-classic', prompt: 'x', size: '1024x1024' }
  const hosted = await send(short, '/images/generations', {
    method: 'POST',
    body: { ...picture, response_format: 'url' },
  })
  expect(await failure(hosted)).toEqual([503, 'service_unavailable', null])
  // Whoever leaves it to the gateway gets the bytes.
  const given = await send(short, '/images/generations', { method: 'POST', body: picture })
  expect(await given.json()).toMatchObject({ data: [{ b64_json: expect.stringMatching(/^.{1000}/) }] })
  const scene = { model: 'sandbox-video', content: [{ type: 'text', text: 'x' }] }
  const video = await send(short, '/videos', { method: 'POST', body: scene })
  expect(await failure(video)).toEqual([503, 'service_unavailable', null])
  await short.close()
}, 30_000)
