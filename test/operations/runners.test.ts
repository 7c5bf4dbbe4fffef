/** The program started by package runners: `npx`, and Node between it and the server. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chat } from '../support/gateway.ts'

const ROOT = resolve(import.meta.dir, '../..')
const folders: string[] = []

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type Run = {
  readonly folder: string
  readonly runner: number
  readonly server: number
  readonly baseUrl: string
  readonly key: string
  readonly log: () => string
}

/** A folder with the package in it, as `npm install tollgate` makes it, and the server that npx starts there. */
async function npx(): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-npx-'))
  folders.push(folder)
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/tollgate'))
  symlinkSync('../tollgate/bin/tollgate.js', join(folder, 'node_modules/.bin/tollgate'))
  await Bun.write(join(folder, 'package.json'), '{"name":"mine","private":true}')
  // In a group of its own, as a shell starts what is typed at it.
  const line = 'exec setsid npx --no-install tollgate serve --json >out 2>err'
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, PORT: '0', TOLLGATE_DATA: join(folder, 'data') }
  const child = Bun.spawn(['sh', '-c', line], { cwd: folder, env: { ...env, npm_config_offline: 'true' } })
  const read = (name: string): string =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  await until(
    () => read('out').endsWith('\n'),
    () => read('err'),
  )
  const { pid: server, ...told } = JSON.parse(read('out')) as { pid: number; base_url: string; first_key: string }
  return { folder, runner: child.pid, server, baseUrl: told.base_url, key: told.first_key, log: () => read('err') }
}

async function until(isSo: () => boolean, said: () => string): Promise<void> {
  for (let waited = 0; !isSo(); waited++) {
    if (waited > 300) throw new Error(`it took too long: ${said()}`)
    await Bun.sleep(100)
  }
}

const parentOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').split(' ')[2])

const isGone = (pid: number): boolean => !existsSync(`/proc/${pid}`)

const WORDS = { role: 'user', content: 'write 200 tokens' }

const ends: readonly [string, (run: Run) => void][] = [
  ['npx gets SIGTERM', ({ runner }) => process.kill(runner, 'SIGTERM')],
  ['npx gets SIGHUP', ({ runner }) => process.kill(runner, 'SIGHUP')],
  ['npx is killed', ({ runner }) => process.kill(runner, 'SIGKILL')],
  ['the launcher is killed', ({ server }) => process.kill(parentOf(server), 'SIGKILL')],
  // To npx alone it would not get further than the shell, which waits for what it runs to end by itself.
  ['Ctrl-C is typed', ({ runner }) => process.kill(-runner, 'SIGINT')],
  ['the terminal is closed', ({ runner }) => process.kill(-runner, 'SIGHUP')],
]

// All at once: each waits for npx and for its drain most of the time.
test.concurrent.skipIf(process.platform !== 'linux').each(ends)(
  'the server that npx started drains and ends when %s',
  async (_, end) => {
    const run = await npx()
    const stream = await chat(run, { model: 'sandbox-chat', stream: true, messages: [WORDS] })
    expect(stream.status).toBe(200)
    end(run)
    expect(await stream.text()).toEndWith('data: [DONE]\n\n')
    await until(() => isGone(run.server), run.log)
    expect(run.log()).toContain('"drain.done"')
    expect(existsSync(join(run.folder, 'data/control.sock'))).toBe(false)
  },
  60_000,
)
