/**
 * Five hundred videos in progress, from the sandbox in a process of its own. All of them finish, the vendor gets no
 * more requests than necessary, and other requests hardly slow down. Times are reported, and the soak, which has the
 * machine for itself, checks them.
 */
import { expect, test } from 'bun:test'
import { chat, startSandboxProcess, type TestSandbox } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { VideoClient } from '../support/video-client.ts'

const TASKS = countOf('video-crowd')
const isSoak = process.env['TOLLGATE_VIDEO_CROWD'] !== undefined
const PER_SECOND = 100
const TASK_MS = 6_000
/** Long enough that looks pile up. */
const POLL_MS = 150
const CHATS = 200
const [SUBMISSION_P99_MS_MAX, CHAT_FACTOR_MAX] = [100, 2]
/** What the gateway allows itself (domain/video.ts), and looks at a task of six seconds at most: 2, 2.6, 3.4, … s. */
const [POLLS_AT_ONCE_MAX, POLLS_PER_TASK_MAX] = [32, 8]

let sandbox: TestSandbox

const gateway = useGateway(
  async () => {
    sandbox = await startSandboxProcess()
    const faults = { method: 'POST', body: JSON.stringify({ 'task-ms': TASK_MS, 'poll-delay-ms': POLL_MS }) }
    expect((await fetch(`${new URL(sandbox.baseUrl).origin}/sandbox/faults`, faults)).status).toBe(200)
    return {
      yaml: `
sandbox: false
providers: { vendor: { preset: sandbox, base_url: '${sandbox.baseUrl}', allow_private: true } }
models:
  seed:
    kind: video
    price: { each: { second: 0.01 } }
    offers: [{ provider: vendor, model: sandbox-video }]
  words: { price: { input: 0, output: 0 }, offers: [{ provider: vendor, model: sandbox-mini }] }
`,
      env: { TOLLGATE_LOG: 'warn' },
      balanceUsd: '10000',
    }
  },
  () => sandbox.stop(),
)

const p99 = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? 0

async function timed(work: () => Promise<Response>): Promise<number> {
  const startedMs = performance.now()
  const response = await work()
  expect(response.status).toBe(200)
  await response.text()
  return performance.now() - startedMs
}

/** Chats, one after the other. */
async function chatTimes(): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < CHATS; i++) times.push(await timed(() => chat(gateway, { model: 'words', max_tokens: 5 })))
  return times
}

type Tally = { requests: number; in_flight: number }
async function looks(): Promise<Tally> {
  const { routes } = (await sandbox.stats()) as { routes: Record<string, Tally> }
  const found = Object.entries(routes).find(([path]) => path.startsWith('GET /v1/contents/generations/tasks/'))
  return found?.[1] ?? { requests: 0, in_flight: 0 }
}

test(`${TASKS} videos at once`, async () => {
  await chatTimes()
  const quietMs = p99(await chatTimes())
  const client = new VideoClient(gateway)
  const submissions: Promise<number>[] = []
  let asked = 0
  const watching = setInterval(() => void looks().then(({ in_flight }) => (asked = Math.max(asked, in_flight))), 50)
  const body = (i: number): object => ({
    content: [{ type: 'text', text: `number ${i}` }],
    resolution: '480p',
    duration: 4,
  })
  for (let i = 0; i < TASKS; i++) {
    submissions.push(timed(() => client.create(body(i))))
    await Bun.sleep(1_000 / PER_SECOND)
  }
  const meanwhile = chatTimes()
  const submissionMs = p99(await Promise.all(submissions))
  const busyMs = p99(await meanwhile)
  for (let waits = 0; waits < 1_200 && (await client.money()).held !== '0.00'; waits++) await Bun.sleep(100)
  clearInterval(watching)
  expect(await client.money()).toEqual({ posted: (10_000 - TASKS * 0.04).toFixed(2), held: '0.00' })
  const { requests } = await looks()
  reportFigure(
    `${TASKS} videos at once: submission p99 ${submissionMs.toFixed(0)} ms, chat p99 ${quietMs.toFixed(1)} ms without ` +
      `and ${busyMs.toFixed(1)} ms with them, ${(requests / TASKS).toFixed(1)} looks each, ${asked} at once at most`,
  )
  expect(asked).toBeWithin(2, POLLS_AT_ONCE_MAX + 1)
  expect(requests / TASKS).toBeLessThan(POLLS_PER_TASK_MAX)
  if (!isSoak) return
  expect(submissionMs).toBeLessThan(SUBMISSION_P99_MS_MAX)
  expect(busyMs).toBeLessThan(quietMs * CHAT_FACTOR_MAX)
}, 180_000)
