/** Videos over the public API, from a vendor that speaks its documented wire format on a socket. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { startVideoVendor, videoYaml, type VideoVendor } from './support/video-vendor.ts'

let gateway: TestGateway
let vendor: VideoVendor

beforeAll(async () => {
  vendor = startVideoVendor()
  gateway = await startGateway({
    yaml: videoYaml(vendor.origin),
    env: { TOLLGATE_VIDEO_POLL_MS: '40', TOLLGATE_CONTENT_PER_MINUTE: '100000' },
  })
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
})
beforeEach(() => vendor.reset())

const text = (words: string): object => ({ type: 'text', text: words })

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }
async function call(path: string, init: Init = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...init.headers }
  return fetch(gateway.baseUrl + path, { ...init, headers })
}
const create = (body: object): Promise<Response> =>
  call('/videos', { method: 'POST', body: JSON.stringify({ model: 'seed', content: [text('a boat')], ...body }) })

type Task = { id: string; status: string; progress: number; metadata?: { url: string }; [field: string]: unknown }

async function settled(id: string): Promise<Task> {
  for (let tries = 0; tries < 400; tries++) {
    const task = (await (await call(`/videos/${id}`)).json()) as Task
    if (task.status === 'completed' || task.status === 'failed') return task
    await Bun.sleep(25)
  }
  throw new Error(`${id} did not end`)
}

const balance = async (): Promise<{ available: string; held: string }> =>
  (await (await call('/balance')).json()) as { available: string; held: string }

test('create, poll to 100, download', async () => {
  const before = await balance()
  const created = await create({ duration: 5 })
  expect(created.status).toBe(200)
  const task = (await created.json()) as Task
  expect(task).toEqual({
    id: expect.stringMatching(/^task_[0-9A-Za-z]{32}$/),
    task_id: task.id,
    object: 'video',
    model: 'seed',
    status: 'queued',
    progress: 0,
    created_at: expect.any(Number),
  })
  const ended = await settled(task.id)
  expect(ended).toEqual({
    id: task.id,
    object: 'video',
    model: 'seed',
    status: 'completed',
    progress: 100,
    created_at: task['created_at'],
    completed_at: expect.any(Number),
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
    metadata: { url: `${gateway.baseUrl}/videos/${task.id}/content` },
  })
  const content = await fetch(ended.metadata?.url ?? '')
  expect(content.status).toBe(200)
  expect(content.headers.get('content-type')).toBe('video/mp4')
  expect((await content.bytes()).length).toBeGreaterThan(1_000)
  const after = await balance()
  expect(after.held).toBe('0.00')
  expect((Number(before.available) - Number(after.available)).toFixed(6)).toBe('0.500000')
})
