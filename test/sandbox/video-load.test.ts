/** The cost of many concurrent videos for the sandbox, in a process of its own. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bunEnv } from '../../bin/bun-env.js'
import { countOf, reportFigure } from '../support/soaks.ts'

const TASKS = countOf('sandbox-videos')
const TASK_MS = 1_500
const [START_CPU_MS, TASK_CPU_MS] = [2_000, 36]
const RESOLUTIONS = ['480p', '720p', '1080p']
const RATIOS = ['16:9', '9:16', '1:1', '21:9']

async function ask(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, init)
  expect(response.status).toBe(200)
  return (await response.json()) as Record<string, unknown>
}

async function linkOf(tasks: string, id: unknown): Promise<string> {
  for (;;) {
    const task = await ask(`${tasks}/${String(id)}`)
    if (task['status'] === 'succeeded') return (task['content'] as { video_url: string }).video_url
    expect(task['status']).toMatch(/^(queued|running)$/)
    await Bun.sleep(500)
  }
}

/** What a process had at most; 0 where the system does not say. Its `maxRSS` begins with that of whoever forked it. */
function peakMbOf(pid: number): number {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return 0
  return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] ?? 0) / 1024
}

test(`${TASKS} tasks at once: all are made, each its own, within bounds of CPU time and memory`, async () => {
  const program = join(import.meta.dir, '../support/sandbox-main.ts')
  const env = { ...process.env, ...bunEnv }
  let peakMb = 0
  const child = Bun.spawn([process.execPath, program], { env, stdout: 'pipe', stderr: 'inherit' })
  try {
    const { value } = await child.stdout.getReader().read()
    const base = new TextDecoder().decode(value).trim()
    const { origin } = new URL(base)
    const tasks = `${base}/contents/generations/tasks`
    await ask(`${origin}/sandbox/faults`, { method: 'POST', body: JSON.stringify({ 'task-ms': TASK_MS }) })
    const make = async (_: unknown, i: number): Promise<number> => {
      const model = i % 2 === 0 ? 'sandbox-video' : 'sandbox-video-fast'
      const content = [{ type: 'text', text: `Number ${i}` }]
      const resolution = RESOLUTIONS[i % (i % 2 === 0 ? 3 : 2)]
      const body = { model, content, resolution, ratio: RATIOS[i % 4], duration: 4 + (i % 12) }
      const { id } = await ask(tasks, { method: 'POST', body: JSON.stringify(body) })
      const file = await (await fetch(await linkOf(tasks, id))).bytes()
      expect(Buffer.from(file.subarray(4, 8)).toString()).toBe('ftyp')
      return file.length
    }
    const sizes = await Promise.all(Array.from({ length: TASKS }, make))
    const counted = await ask(`${origin}/sandbox/videos`)
    expect(counted).toMatchObject({
      generations: { submitted: TASKS, duplicates: 0 },
      states: { succeeded: TASKS },
      links: { opened: TASKS, with_credentials: 0 },
      films: { shot: TASKS },
    })
    expect((counted['films'] as { bytes_kept: number }).bytes_kept).toBeLessThanOrEqual(16 * 1024 * 1024)
    expect(Math.max(...sizes)).toBeLessThan(512 * 1024)
    peakMb = peakMbOf(child.pid)
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
  const usage = child.resourceUsage()
  const cpuMs = Number(usage?.cpuTime.total ?? 0) / 1_000
  reportFigure(`${TASKS} videos: ${Math.round(cpuMs)} ms of CPU, at most ${Math.round(peakMb)} MB`)
  expect(cpuMs).toBeLessThan(START_CPU_MS + TASKS * TASK_CPU_MS)
  expect(peakMb).toBeLessThan(300)
}, 120_000)
