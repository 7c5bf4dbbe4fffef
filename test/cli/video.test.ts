/** `tollgate video` and `tollgate videos` as people use them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCommand, runJson, type Ran } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { VideoClient } from '../support/video-client.ts'

let gateway: TestGateway
let env: Record<string, string>
const run = (...args: string[]): Promise<Ran> => runCommand(gateway.folder, args, env)

beforeAll(async () => {
  gateway = await startGateway({ env: { TOLLGATE_VIDEO_POLL_MS: '100' } })
  env = { TOLLGATE_API_KEY: gateway.key, TOLLGATE_BASE_URL: gateway.baseUrl }
}, 30_000)
afterAll(() => gateway.close(), 30_000)

const PROMPT = 'a lighthouse at dusk [sandbox: task-ms=600]'

test('a video in a file; stage and cost on stderr', async () => {
  const file = join(gateway.folder, 'out.mp4')
  const ran = await run('video', PROMPT, '--duration', '5', '--upscale', '1080p', '-o', file)
  expect(ran).toMatchObject({ code: 0, out: `${file}\n` })
  const told = ran.err.trimEnd().split('\n')
  expect(told[0]).toBe('asking sandbox-video …')
  expect(told).toContain('done')
  expect(told.at(-1)).toMatch(/^\[\d+ KiB, 108000 tokens, \$0\.35, \d+ s\]$/)
  expect(Buffer.from(await Bun.file(file).bytes()).toString('latin1', 4, 8)).toBe('ftyp')
}, 30_000)

test('--no-wait prints the id of a task that goes on', async () => {
  const ran = await run('video', PROMPT, '--no-wait')
  expect(ran.out).toMatch(/^task_[0-9A-Za-z]{32}\n$/)
  expect((await new VideoClient(gateway).ended(ran.out.trim())).status).toBe('completed')
}, 30_000)

test('--json says all of it on one line', async () => {
  const file = join(gateway.folder, 'json.mp4')
  const shown = await runJson(gateway.folder, ['video', PROMPT, '--resolution', '480p', '-o', file], env)
  expect(shown).toMatchObject({ file, id: expect.stringMatching(/^task_/) as string, cost_usd: '0.15' })
}, 30_000)

test('what is wrong is said, and what failed costs nothing', async () => {
  expect((await run('video', PROMPT)).err).toContain('--output FILE is needed, or --no-wait')
  expect((await run('video', PROMPT, '--ratio', '2:1', '-o', 'x.mp4')).err).toContain('must be one of 16:9')
  const refused = await run('video', PROMPT, '--duration', '3', '-o', 'x.mp4')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Invalid 'duration'") as string])
  const failed = await run('video', 'x [sandbox: fails, task-ms=0]', '-o', join(gateway.folder, 'x.mp4'))
  expect([failed.code, failed.err]).toEqual([
    1,
    expect.stringContaining('could not be made. Nothing was charged') as string,
  ])
}, 30_000)

test('orphans are listed, and taken off the list', async () => {
  expect((await run('videos', 'orphans')).err).toContain('No orphans.')
  const client = new VideoClient(gateway)
  const body = { model: 'sandbox-video', content: [{ type: 'text', text: 'x [sandbox: accept-then-close]' }] }
  await client.ended((await client.made(body)).id, 40_000)
  const listed = await run('videos', 'orphans')
  const request = /req_\w+/.exec(listed.out)?.[0] ?? ''
  expect(listed.out).toContain('it may have been submitted')
  expect((await run('videos', 'settle', request)).err).toContain('is off the list')
  expect((await run('videos', 'settle', request)).code).toBe(1)
  expect((await run('videos', 'orphans')).out).not.toContain('req_')
}, 60_000)
