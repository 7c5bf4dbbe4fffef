/** Tasks and their accounts: lists, deletion, isolation, repetition, limits, and the state after a restart. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { methodsOf } from '../../src/edge/router.ts'
import { publicRoutes } from '../../src/edge/routes.ts'
import { freshFolder, INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'
import { presentations, type PresentedKey } from '../support/presentations.ts'
import { storedRows } from '../support/stored.ts'
import { VideoClient, type Task } from '../support/video-client.ts'
import { arkError, startVideoVendor, videoYaml, type VideoVendor } from '../support/video-vendor.ts'

const env = { TOLLGATE_VIDEO_POLL_MS: '25', TOLLGATE_CONTENT_PER_MINUTE: '100000' }

let gateway: TestGateway
let vendor: VideoVendor
let client: VideoClient

beforeAll(async () => {
  vendor = startVideoVendor()
  gateway = await startGateway({ yaml: videoYaml(vendor.origin), env })
  client = new VideoClient(gateway)
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
})
beforeEach(() => vendor.reset())

async function member(limits: object = {}): Promise<VideoClient> {
  const name = `member-${crypto.randomUUID()}`
  await gateway.operate('account.create', { name, balance: '10', limits })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'test' })
  return new VideoClient({ ...gateway, key })
}

type List = { object: string; data: Task[]; first_id: string | null; last_id: string | null; has_more: boolean }
const list = async (of: VideoClient, query = ''): Promise<List> =>
  (await (await of.call(`/videos${query}`)).json()) as List

describe('a list', () => {
  test('has the tasks of the account alone, the newest first, by pages', async () => {
    const own = await member()
    expect(await list(own)).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await own.made()).id)
    const newest = ids.toReversed()
    expect((await list(own)).data.map(({ id }) => id)).toEqual(newest)
    const first = await list(own, '?limit=2')
    expect(first).toMatchObject({ first_id: newest[0], last_id: newest[1], has_more: true })
    expect((await list(own, `?limit=2&after=${first.last_id}`)).data.map(({ id }) => id)).toEqual(newest.slice(2, 4))
    expect(await list(own, `?limit=2&after=${newest[3]}`)).toMatchObject({ first_id: newest[4], has_more: false })
    expect((await list(own, '?order=asc&limit=3')).data.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    await Promise.all(ids.map((id) => own.ended(id)))
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=task_x'])('refuses %s', async (query) => {
    const response = await client.call(`/videos?${query}`)
    const { error } = (await response.json()) as { error: { param: string } }
    expect([response.status, error.param]).toEqual([400, query.slice(0, query.indexOf('='))])
  })
})

describe('deletion', () => {
  test('is for tasks that have ended: the file goes too, and nobody sees that it was', async () => {
    vendor.plan.looks = 20
    const { id } = await client.made()
    const early = await client.call(`/videos/${id}`, { method: 'DELETE' })
    expect([early.status, (await early.json()) as object]).toMatchObject([
      409,
      { error: { code: 'task_not_completed' } },
    ])
    const { metadata } = await client.ended(id)
    const gone = await client.call(`/videos/${id}`, { method: 'DELETE' })
    expect(await gone.json()).toEqual({ id, object: 'video.deleted', deleted: true })
    expect((await client.call(`/videos/${id}`)).status).toBe(404)
    expect((await client.call(`/videos/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await fetch(metadata?.url ?? '')).status).toBe(404)
    expect((await list(client)).data.some((task) => task.id === id)).toBe(false)
  }, 20_000)
})

describe('the alias routes', () => {
  test('answer in the envelope that such clients read, without anything of the inside', async () => {
    vendor.plan.looks = 8
    const body = JSON.stringify({ model: 'seed', content: [{ type: 'text', text: 'a boat' }], duration: 5 })
    const made = (await (await client.call('/video/generations', { method: 'POST', body })).json()) as Task
    expect(made).toMatchObject({ object: 'video', status: 'queued', progress: 0 })
    const ask = async (): Promise<object> =>
      (await (await client.call(`/video/generations/${made.id}`)).json()) as object
    expect(await ask()).toMatchObject({
      code: 'success',
      message: '',
      data: {
        task_id: made.id,
        status: expect.stringMatching(/^(?:QUEUED|IN_PROGRESS)$/) as string,
        progress: expect.stringMatching(/^\d+%$/) as string,
      },
    })
    const { metadata } = await client.ended(made.id)
    const ended = await ask()
    expect(ended).toMatchObject({
      data: {
        status: 'SUCCESS',
        progress: '100%',
        result_url: metadata?.url,
        usage: { completion_tokens: 108_900, total_tokens: 108_900 },
        fail_reason: '',
        data: null,
      },
    })
    expect(JSON.stringify(ended)).not.toMatch(/cgt-|doubao|account|acct_|channel|platform|user_id|quota/)
    vendor.plan.end = { status: 'failed' }
    const failed = await client.made()
    await client.ended(failed.id)
    expect(await (await client.call(`/video/generations/${failed.id}`)).json()).toMatchObject({
      data: { status: 'FAILURE', progress: '100%', fail_reason: 'The video could not be made.' },
    })
  }, 20_000)
})

describe('isolation', () => {
  /** All of an answer, but for what is different every time. */
  async function seen(response: Response): Promise<string> {
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    return `${response.status}\n${headers.join('\n')}\n\n${await response.text()}`
  }
  const routes = publicRoutes
    .filter(({ path }) => /^\/v1\/videos?(?:\/\w+)?\/\{id\}$/.test(path))
    .flatMap((route) => methodsOf(route).map((method) => ({ path: route.path, method })))

  test.each(routes)(
    '$method $path: other, deleted and garbage are answered alike',
    async ({ path, method }) => {
      const [me, other] = [await member(), await member()]
      const [own, theirs, gone] = [await me.made(), await other.made(), await me.made()]
      await Promise.all([me.ended(own.id), other.ended(theirs.id), me.ended(gone.id)])
      expect((await me.call(`/videos/${gone.id}`, { method: 'DELETE' })).status).toBe(200)
      const ask = (id: string): Promise<string> =>
        me.call(path.replace('/v1', '').replace('{id}', id), { method }).then(seen)
      const refused = await ask(theirs.id)
      expect(refused).toMatch(/^404\n/)
      expect(await ask(gone.id)).toBe(refused)
      const odd = [
        'x',
        `${own.id}x`,
        own.id.slice(0, -1),
        own.id.toUpperCase(),
        'task_',
        `task_${'0'.repeat(32)}`,
        '%00',
        'a'.repeat(2_000),
      ]
      for (const id of odd) expect(await ask(id)).toBe(refused)
      const { origin } = new URL(gateway.baseUrl)
      for (const [by, present] of Object.entries<PresentedKey>(presentations)) {
        const { headers, query } = present(me.key)
        for (const id of [theirs.id, gone.id, `${own.id}x`]) {
          const url = new URL(origin + path.replace('{id}', id))
          if (query) url.searchParams.set(...query)
          expect([by, id, await seen(await fetch(url, { method, headers }))]).toEqual([by, id, refused])
        }
      }
      expect((await other.task(theirs.id)).status).toBe('completed')
      expect(await ask(own.id)).toMatch(/^200\n/)
      const keyless = await fetch(`${gateway.baseUrl}${path.replace('/v1', '').replace('{id}', own.id)}`, { method })
      expect(keyless.status).toBe(401)
    },
    20_000,
  )

  test('another’s task is no place in one’s own list', async () => {
    const [me, other] = [await member(), await member()]
    const { id } = await other.made()
    expect((await me.call(`/videos?after=${id}`)).status).toBe(400)
    await other.ended(id)
  })
})

describe('an idempotency key', () => {
  test('makes one task, however often it is sent', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const first = await client.create({}, headers)
    const task = (await first.json()) as Task
    const second = await client.create({}, headers)
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(await second.json()).toEqual(task)
    expect((await client.create({ duration: 6 }, headers)).status).toBe(422)
    await client.ended(task.id)
    expect(await (await client.create({}, headers)).json()).toEqual(task)
    expect(vendor.count('video')).toBe(1)
  })

  test('of a request that no vendor took is free for another', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    vendor.plan.submit = () => new Response('{"error":{"code":"SetLimitExceeded"}}', { status: 429 })
    expect((await client.create({}, headers)).status).toBe(503)
    vendor.plan.submit = undefined
    const retried = await client.create({}, headers)
    expect(retried.status).toBe(200)
    await client.ended(((await retried.json()) as Task).id)
  })
})

describe('limits', () => {
  test('of requests and of spend hold for videos, open ones included', async () => {
    const limited = await member({ requests_per_minute: 3 })
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await limited.create()).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    vendor.plan.looks = 40
    const thrifty = await member({ spend_per_day: '1' })
    const ids = [(await thrifty.made()).id, (await thrifty.made()).id]
    const refused = await thrifty.create()
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      429,
      'spend_limit_exceeded',
    ])
    await Promise.all(ids.map((id) => thrifty.ended(id, 20_000)))
  }, 30_000)

  test('polling and lists cost nothing and are not counted', async () => {
    const poor = await member({ requests_per_minute: 1 })
    const { id } = await poor.made()
    for (let i = 0; i < 10; i++) expect((await poor.call(`/videos/${id}`)).status).toBe(200)
    await poor.ended(id)
  })
})

describe('a provider with several keys', () => {
  const [first, second] = ['Bearer sk-video-first', 'Bearer sk-video-second']
  /** Those of its keys that requests with a method had. */
  const keysOf = (method: string): readonly string[] =>
    [first, second].filter((key) => vendor.seen.some((one) => one.method === method && one.authorization === key))

  test('takes a task with the next key if one is refused, and asks for it with the key that took it', async () => {
    vendor.plan.submit = () =>
      vendor.seen.at(-1)?.authorization === first ? arkError(401, 'AuthenticationError') : undefined
    const { id } = await client.made({ model: 'keyed' })
    expect((await client.ended(id)).status).toBe('completed')
    expect([keysOf('POST'), keysOf('GET')]).toEqual([[first, second], [second]])
    const [record] = await gateway.operate<{ attempts: string }[]>('request.list', {
      account: gateway.accountId,
      limit: 1,
    })
    const notes = JSON.parse(record?.attempts ?? '[]') as { result: string; keyId: string }[]
    expect(notes.map(({ result }) => result)).toEqual(['auth', 'ok'])
    expect(new Set(notes.map(({ keyId }) => keyId)).size).toBe(2)
    await gateway.operate('provider.resume', { id: 'keyed' })
  })

  test('is asked with each key for a task that a submission may have left', async () => {
    const made: string[] = []
    vendor.plan.submit = (body) => {
      made.push(vendor.make(body))
      return new Response('cut', { status: 502 })
    }
    const { id } = await client.made({ model: 'keyed' })
    expect((await client.ended(id)).status).toBe('completed')
    expect(made).toHaveLength(1)
  })
})

describe('a restart', () => {
  const price = (yaml: string): string => yaml.replace('second: 0.10', 'second: 9.10')

  test('goes on where it was, at the prices of the creation, with what is held still counted', async () => {
    const folder = freshFolder()
    const yaml = videoYaml(vendor.origin)
    vendor.plan.looks = 60
    const first = await startGateway({ folder, yaml, env })
    await first.operate('account.create', { name: 'thrifty', balance: '100', limits: { spend_per_day: '1' } })
    const { secret: key } = await first.operate<{ secret: string }>('key.create', { account: 'thrifty', name: 'k' })
    const before = new VideoClient({ ...first, key })
    const headers = { 'idempotency-key': 'once' }
    const task = (await (await before.create({}, headers)).json()) as Task
    const upscaled = await before.made({ duration: 4, super_resolution_config: { resolution: '1080p' } })
    await first.crash()
    const second = await startGateway({ folder, yaml: price(yaml), env, as: first })
    const after = new VideoClient({ ...second, key })
    expect(await after.money()).toEqual({ posted: '100.00', held: '0.98' })
    expect((await after.create({}, {})).status).toBe(429)
    expect(await (await after.create({}, headers)).json()).toEqual(task)
    vendor.plan.looks = 1
    // Of instances, the others take over the tasks of a dead one after 20 s.
    expect((await after.ended(task.id, 45_000)).status).toBe('completed')
    expect((await after.ended(upscaled.id, 20_000)).status).toBe('completed')
    expect(await after.money()).toEqual({ posted: '99.02', held: '0.00' })
    expect([vendor.count('video'), vendor.count('upscale')]).toEqual([2, 1])
    await second.close()
  }, 90_000)

  test('by SIGTERM leaves no task behind, and waits for none', async () => {
    const folder = freshFolder()
    const yaml = videoYaml(vendor.origin)
    vendor.plan.looks = 1_000
    const first = await startGateway({ folder, yaml, env })
    const { id } = await new VideoClient(first).made()
    // Each instance uses its keys in turn.
    const count = 2 * INSTANCES
    const keyed = Array.from({ length: count }, () => new VideoClient(first).made({ model: 'keyed' }))
    const ids = (await Promise.all(keyed)).map((task) => task.id)
    expect(await first.stop()).toBe(0)
    vendor.seen.length = 0
    vendor.plan.looks = 1
    const second = await startGateway({ folder, yaml, env, as: first })
    for (const one of [id, ...ids]) expect((await new VideoClient(second).ended(one)).status).toBe('completed')
    // Each task goes on with its own key.
    const polls = vendor.seen.filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'))
    const keys = new Map(polls.map(({ path, authorization }) => [path, authorization]))
    expect(keys.size).toBe(1 + count)
    expect(new Set(polls.map(({ path, authorization }) => `${path} ${authorization}`)).size).toBe(1 + count)
    expect(new Set(keys.values()).size).toBe(3)
    await second.close()
  }, 60_000)
})

test('a task whose time has passed fails, is refunded, and is listed for the operator', async () => {
  vendor.plan.looks = 100_000
  const { id } = await client.made()
  const [row] = await storedRows<{ request_id: string }>(
    gateway.folder,
    `SELECT request_id FROM video_task WHERE id = '${id}'`,
  )
  const folder = freshFolder()
  const yaml = videoYaml(vendor.origin).replace('family: seedance-2,', 'family: seedance-2, deadline_s: 1,')
  const short = await startGateway({ folder, yaml, env })
  const hasty = new VideoClient(short)
  const late = await hasty.made()
  expect((await hasty.ended(late.id)).error?.message).toBe('The video was not made in time.')
  expect((await hasty.money()).held).toBe('0.00')
  const [orphan] = await short.operate<{ why: string; upstream_id: string }[]>('video.orphans')
  expect([orphan?.why, orphan?.upstream_id]).toEqual([
    'it was not made in time and may still be made',
    vendor.tasks[1]?.id,
  ])
  await short.close()
  vendor.plan.looks = 1
  await client.ended(id)
  expect(row?.request_id).toStartWith('req_')
}, 30_000)
