/** Several processes of one machine serve one port. */
import { expect, test } from 'bun:test'
import { chat, freshFolder, startGateway, TEST_STORE, type TestGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runCommand } from '../support/command.ts'

const secrets = { TOLLGATE_KEY_PEPPER: '5a'.repeat(32), TOLLGATE_MASTER_KEY: 'c3'.repeat(32) }
const WAIT_MS = 20_000

const startWorkers = async (count: number, env: Record<string, string> = {}): Promise<TestGateway> =>
  startGateway({
    env: { ...secrets, TOLLGATE_DATABASE_URL: await freshDatabase(), TOLLGATE_WORKERS: String(count), ...env },
    yaml: 'sandbox: true\n',
  })

/** The process ids of the workers that the first process has started, in the order of their starts. */
const startedBy = (gateway: TestGateway): number[] =>
  [...gateway.output().matchAll(/"event":"worker.started","worker":\d+,"pid":(\d+)/g)].map(([, pid]) => Number(pid))

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < WAIT_MS; await Bun.sleep(50)) {
    if (await isDone()) return
  }
  throw new Error('it did not happen in time')
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const ask = (gateway: TestGateway): Promise<Response> =>
  chat(gateway, { model: 'sandbox-mini', max_tokens: 5 }, { keepalive: false })

/** What tells the process that answers apart from the others: when it started. */
async function servedHere(gateway: TestGateway): Promise<string> {
  const response = await fetch(new URL('/metrics', gateway.baseUrl), {
    headers: { authorization: 'Bearer token-of-the-tests' },
    keepalive: false,
  })
  return /^process_start_time_seconds (\S+)/m.exec(await response.text())?.[1] ?? ''
}

test.skipIf(TEST_STORE !== 'sqlite')(
  'the processes share the port, and a dead one is started again',
  async () => {
    const gateway = await startWorkers(3)
    await until(() => startedBy(gateway).length === 2)
    const seen = new Set<string>()
    await until(async () => seen.add(await servedHere(gateway)).size === 3)
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(gateway)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200))
    const made = await fetch(`${gateway.baseUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-image-classic', prompt: 'x', size: '256x256', response_format: 'url' }),
    })
    const url = /"url":"([^"]+)"/.exec(await made.text())?.[1] ?? 'none'
    const fetched = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { keepalive: false })))
    expect(new Set(fetched.map(({ status }) => status))).toEqual(new Set([200]))
    const [victim] = startedBy(gateway) as [number]
    process.kill(victim, 'SIGKILL')
    await until(() => startedBy(gateway).length === 3)
    expect(gateway.output()).toContain('"event":"worker.ended","worker":2,"code":137')
    await until(async () => seen.add(await servedHere(gateway)).size === 4)
    expect((await ask(gateway)).status).toBe(200)
    const pids = startedBy(gateway)
    await gateway.close()
    expect(pids.filter(isAlive)).toEqual([])
  },
  60_000,
)

test.skipIf(TEST_STORE !== 'sqlite')(
  'the others end when the first one is killed',
  async () => {
    const gateway = await startWorkers(2)
    await until(() => startedBy(gateway).length === 1)
    const [other] = startedBy(gateway) as [number]
    await gateway.crash()
    await until(() => !isAlive(other))
  },
  60_000,
)

test('workers without a database are refused', async () => {
  const { code, err } = await runCommand(freshFolder(), ['serve'], { TOLLGATE_WORKERS: '2' })
  expect(err).toContain('TOLLGATE_WORKERS needs TOLLGATE_DATABASE_URL')
  expect(code).not.toBe(0)
})
