/**
 * The gateway is killed with SIGKILL at random instants during videos, with vendors that are slow, fail, forget and
 * refuse. Nothing is submitted twice, charged twice or lost.
 */
import { expect, test } from 'bun:test'
import { freshFolder, INSTANCES, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { storedRows } from '../support/stored.ts'
import { VideoClient, words } from '../support/video-client.ts'
import { arkError, startVideoVendor, videoYaml, type VideoVendor } from '../support/video-vendor.ts'

const KILLS = countOf('video-kills')
/** Each in a data folder and with a vendor of its own. */
const GATEWAYS = 2
/** A kill that met no task in some stage proves nothing of it: until all were met there are more, with an end. */
const STAGES = ['submitting', 'queued', 'running', 'upscaling', 'storing']
const MORE_KILLS_MAX = 60
/** A pair that starts again takes its tasks over after 20 s only. So the stages have to fit into one life. */
const LIFE_MS = INSTANCES === 1 ? 350 : 2_000
const CLIENTS = 3
const POLL_MS = 25
/** Beside a task's seconds, dollars are these per second of video and of upscaling, in nano-USD. */
const [MAKING, UPSCALING] = [100_000_000n, 20_000_000n]

const chance = (share: number): boolean => Math.random() < share

/** Slow, and not always well. */
function troubled(vendor: VideoVendor): void {
  vendor.plan.looks = 4
  vendor.plan.submit = async (body) => {
    await Bun.sleep(Math.random() * 40)
    if ('client_token' in body) return chance(0.1) ? arkError(503, 'Busy') : undefined
    if (chance(0.05)) return arkError(429, 'ModelAccountRpmRateLimitExceeded')
    if (chance(0.05)) return new Response('bad gateway', { status: 502 })
    if (!chance(0.3)) return undefined
    // Taken, and the answer is late or never comes.
    const id = vendor.make(body)
    await Bun.sleep(Math.random() * 80)
    return chance(0.2) ? new Response('bad gateway', { status: 502 }) : Response.json({ id })
  }
  vendor.plan.poll = async (task) => {
    await Bun.sleep(Math.random() * 15)
    if (chance(0.05)) return new Response('', { status: 500 })
    if (task.body['duration'] === 4 && task.status === 'succeeded') {
      return Response.json({ status: 'failed', error: { code: 'InternalServiceError', message: 'x' } })
    }
    return undefined
  }
  vendor.plan.file = async () => {
    await Bun.sleep(Math.random() * 30)
    return chance(0.05) ? new Response('', { status: 503 }) : undefined
  }
}

/** Creates until the server is gone. `told`: ids that clients have read. */
async function createUntilDead(gateway: TestGateway, told: Set<string>): Promise<void> {
  const client = new VideoClient(gateway)
  const create = async (body: object): Promise<{ status: number; id: string | undefined }> => {
    const response = await client.create(body)
    return { status: response.status, id: ((await response.json()) as { id?: string }).id }
  }
  for (;;) {
    const duration = chance(0.15) ? 4 : 5
    const upscale = chance(0.4) ? { super_resolution_config: { resolution: '1080p' } } : {}
    const answer = await create({ content: [words('x')], duration, ...upscale }).catch(() => 'dead' as const)
    if (answer === 'dead') return
    if (answer.status === 200 && answer.id !== undefined) told.add(answer.id)
    else expect(answer.status).toBe(503)
    await Bun.sleep(Math.random() * 60)
  }
}

type Row = {
  id: string
  stage: string
  wish: string
  upstream_id: string | null
  orphan: string | null
  state: string
  charged: bigint | null
}
const ROWS = `SELECT t.id, t.stage, t.wish, t.upstream_id, t.orphan, h.state,
    (SELECT CAST(sum(charged) AS bigint) FROM request_record r WHERE r.id IN (t.request_id, t.request_id || '-upscale')) AS charged
  FROM video_task t LEFT JOIN hold h ON h.id = t.request_id`

const openTasks = async (folder: string): Promise<number> =>
  (await storedRows(folder, 'SELECT id FROM video_task WHERE ended_at IS NULL')).length

type Lives = { kills: number; tasks: number; completed: number; failed: number; orphans: number; stages: Set<string> }

/** Whatever was told to a client is there, has ended, and was paid for once or not at all. */
async function expectWhole(
  folder: string,
  vendor: VideoVendor,
  told: Set<string>,
): Promise<Omit<Lives, 'kills' | 'stages'>> {
  const rows = await storedRows<Row>(folder, ROWS)
  const byId = new Map(rows.map((row) => [row.id, row]))
  expect([...told].filter((id) => !byId.has(id))).toEqual([])
  let sum = 0n
  for (const { stage, state, charged, wish } of rows) {
    expect([stage, state]).toEqual(stage === 'completed' ? ['completed', 'settled'] : ['failed', 'released'])
    const { seconds, upscale } = JSON.parse(wish) as { seconds: number; upscale?: object }
    const price = stage === 'completed' ? BigInt(seconds) * (MAKING + (upscale ? UPSCALING : 0n)) : 0n
    expect(charged).toBe(price)
    sum += price
  }
  const [taken] = await storedRows<{ sum: bigint | null }>(
    folder,
    "SELECT CAST(sum(amount) AS bigint) AS sum FROM books WHERE kind = 'charge' AND account_id = 'system:revenue'",
  )
  expect(taken?.sum ?? 0n).toBe(sum)
  // A seed is drawn for each task, and a file is one task's: two tasks with one of them were submitted twice.
  const seeds = vendor.tasks.map(({ stage, body }) => `${stage} ${String(body['seed'] ?? body['video_url'])}`)
  expect(new Set(seeds).size).toBe(seeds.length)
  // What a vendor has and nobody knows of is on the operator's list.
  const known = new Set(rows.map((row) => row.upstream_id))
  const orphans = rows.filter(({ orphan }) => orphan !== null).length
  const strays = vendor.tasks.filter(({ stage, id }) => stage === 'video' && !known.has(id)).length
  expect(strays).toBeLessThanOrEqual(orphans)
  const completed = rows.filter(({ stage }) => stage === 'completed').length
  return { tasks: rows.length, completed, failed: rows.length - completed, orphans }
}

async function live(killsMin: number): Promise<Lives> {
  const vendor = startVideoVendor()
  troubled(vendor)
  const folder = freshFolder()
  const told = new Set<string>()
  const stages = new Set<string>()
  let kills = 0
  const env = { TOLLGATE_VIDEO_POLL_MS: String(POLL_MS), TOLLGATE_LOG: 'error' }
  let options: GatewayOptions = { folder, yaml: videoYaml(vendor.origin), env, balanceUsd: '100000' }
  try {
    const isEnough = (): boolean => kills >= killsMin && STAGES.every((stage) => stages.has(stage))
    for (; !isEnough() && kills < killsMin + MORE_KILLS_MAX; kills++) {
      const gateway = await startGateway(options)
      options = { ...options, as: gateway }
      const clients = Array.from({ length: CLIENTS }, () => createUntilDead(gateway, told))
      await Bun.sleep(Math.random() * LIFE_MS)
      await gateway.crash()
      await Promise.all(clients)
      const found = await storedRows<{ stage: string }>(folder, 'SELECT DISTINCT stage FROM video_task')
      for (const { stage } of found) stages.add(stage)
    }
    const last = await startGateway(options)
    for (let waits = 0; (await openTasks(folder)) > 0 && waits < 1_000; waits++) await Bun.sleep(50)
    const whole = await expectWhole(folder, vendor, told)
    const orphans = await last.operate<unknown[]>('video.orphans')
    expect(orphans.length).toBe(whole.orphans)
    expect(last.output()).not.toContain('"level":"error"')
    await last.close()
    return { ...whole, kills, stages }
  } finally {
    await vendor.stop()
  }
}

test(
  `after ${KILLS} kills every video was made once or refunded, and none is lost`,
  async () => {
    const lives = await Promise.all(Array.from({ length: GATEWAYS }, () => live(Math.ceil(KILLS / GATEWAYS))))
    const sum = (of: (one: Lives) => number): number => lives.reduce((total, one) => total + of(one), 0)
    const [kills, tasks, completed, failed, orphans] = [
      sum((one) => one.kills),
      sum((one) => one.tasks),
      sum((one) => one.completed),
      sum((one) => one.failed),
      sum((one) => one.orphans),
    ]
    const stages = new Set(lives.flatMap((one) => [...one.stages]))
    reportFigure(
      `${kills} kills, ${tasks} videos: ${completed} completed and charged once, ${failed} refunded, ` +
        `${orphans} listed for the operator, 0 lost; killed with videos ${[...stages].toSorted().join(', ')}`,
    )
    expect(completed).toBeGreaterThan(kills)
    expect(failed).toBeGreaterThan(0)
    for (const stage of STAGES) expect(stages).toContain(stage)
  },
  60_000 + (KILLS + GATEWAYS * MORE_KILLS_MAX) * 4_000,
)
