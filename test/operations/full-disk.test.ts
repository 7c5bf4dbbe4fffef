/** A disk that fills up under load: a small tmpfs in its own mount namespace, so that root is not needed. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../support/command.ts'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

/** Set inside the namespace: this file runs itself once more in it. */
const disk = process.env['TOLLGATE_TEST_DISK']
const DISK_MB = 12

const inNamespace = (script: string): string[] => ['unshare', '-Urm', 'sh', '-ec', script]

/** Whether this user may mount in a namespace of its own; some systems and most containers forbid it. */
function mayMount(): boolean {
  if (process.platform !== 'linux' || !Bun.which('unshare')) return false
  const point = freshFolder()
  const { success } = Bun.spawnSync(inNamespace(`mount -t tmpfs tmpfs '${point}'`), { stderr: 'ignore' })
  rmSync(point, { recursive: true })
  return success
}

const isPossible = disk === undefined && mayMount()
if (disk === undefined && !isPossible) {
  console.warn('SKIPPED: this machine does not let its user mount a tmpfs (unshare -Urm); a full disk was not tried')
}

/** Takes all the room that is left. Returns the file that holds it. */
function fill(folder: string): string {
  const file = join(folder, 'filler')
  const descriptor = openSync(file, 'w')
  try {
    for (const size of [65_536, 4_096]) {
      const block = Buffer.alloc(size)
      const write = (): boolean => {
        try {
          return writeSync(descriptor, block) > 0
        } catch {
          return false // Full, which is the point.
        }
      }
      while (write());
    }
  } finally {
    closeSync(descriptor)
  }
  return file
}

async function client(gateway: TestGateway, acknowledged: Set<string>, stream: boolean): Promise<void> {
  for (;;) {
    try {
      const response = await chat(gateway, { model: 'sandbox-mini', stream, max_tokens: 5 })
      const text = await response.text()
      const isComplete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
      const id = response.headers.get('x-request-id')
      if (response.status === 200 && isComplete && id) acknowledged.add(id)
    } catch {
      return // The server has stopped.
    }
  }
}

async function fillUnderLoad(folder: string): Promise<void> {
  const gateway = await startGateway({ folder })
  const acknowledged = new Set<string>()
  const clients = Array.from({ length: 6 }, (_, i) => client(gateway, acknowledged, i % 2 === 0))
  // However slow the machine is: some must have been answered before the disk is full.
  for (let i = 0; i < 500 && acknowledged.size <= 20; i++) await Bun.sleep(20)
  const filler = fill(folder)
  expect(await gateway.exited).toBe(1)
  await Promise.all(clients)
  expect(gateway.output()).toMatch(/"event":"store\.fatal".*SQLITE_FULL.*make room and start/)
  // Still full: it says so instead of serving.
  const { code, out, err } = await runCommand(folder, ['verify-ledger'])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/disk.*full: make room and start/)
  const again = await startGateway({ folder }).catch(String)
  expect(again).toMatch(/disk.*full: make room and start/)

  rmSync(filler)
  const next = await startGateway({ folder })
  expect(await next.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true })
  const rows = db.query("SELECT id FROM hold WHERE state = 'settled'").all() as { id: string }[]
  db.close()
  const charged = new Set(rows.map(({ id }) => id))
  expect(acknowledged.size).toBeGreaterThan(20)
  expect([...acknowledged].filter((id) => !charged.has(id))).toEqual([])
  process.kill(next.pid, 'SIGTERM')
  expect(await next.exited).toBe(0)
}

if (disk === undefined) {
  test.skipIf(!isPossible)(
    'a full disk stops the process with its reason, and nothing that was answered is lost',
    async () => {
      const point = freshFolder()
      const again = `exec '${process.execPath}' --no-env-file test '${import.meta.path}' --timeout 60000`
      const child = Bun.spawn(inNamespace(`mount -t tmpfs -o size=${DISK_MB}m,mode=700 tmpfs '${point}'; ${again}`), {
        env: { ...process.env, TOLLGATE_TEST_DISK: point },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [code, output] = await Promise.all([child.exited, child.stderr.text()])
      rmSync(point, { recursive: true })
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('1 pass') })
    },
    90_000,
  )
} else {
  test('in the namespace', () => fillUnderLoad(disk))
}
