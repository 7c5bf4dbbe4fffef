/**
 * A crash of the machine leaves a log whose end was never synced, cut anywhere or filled with anything. A workload is
 * killed at random instants and its log is damaged after the synced part. The store has to open with all acknowledged
 * writes. See docs/reliability.md for the limits of this proof.
 */
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complaintsOf, readTold, type AcknowledgedWrite } from './faults/acknowledged.ts'
import { damageLog, damages, readIndex, unsyncedFrom } from './faults/log-file.ts'
import { frequentCheckpoints } from './faults/writer-faults.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { copySources } from '../support/sources.ts'

const KILLS = countOf('torn-log')
/** One folder lives through so many kills; then a new one begins, so that reading all of it stays short. */
const KILLS_PER_FOLDER = 10
const KILL_TIMEOUT_MS = 20_000
const LOG = 'tollgate.db-wal'
const INDEX = 'tollgate.db-shm'

const program = { ordinary: copySources([]), busy: copySources([frequentCheckpoints]) }
const root = mkdtempSync(join(tmpdir(), 'tollgate-torn-'))
afterAll(() => {
  program.ordinary.remove()
  program.busy.remove()
  rmSync(root, { recursive: true })
})

const chance = (limit: number): number => Math.floor(Math.random() * limit)

/** Lets the workload run in a folder and kills it, some time after its first round began. Returns what it said. */
async function workAndDie(folder: string, life: number): Promise<string> {
  const sources = life % 2 === 0 ? program.ordinary : program.busy
  const args = ['--folder', folder, '--seed', String(life), '--rounds', '1000000', '--width', String(1 + chance(60))]
  const child = Bun.spawn(
    [process.execPath, '--no-env-file', join(sources.folder, 'test/operations/faults/workload.ts'), ...args],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  let output = ''
  let timer: Timer | undefined
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    output += decoder.decode(bytes, { stream: true })
    if (output.includes('ready\n')) timer ??= setTimeout(() => child.kill('SIGKILL'), chance(200))
  }
  clearTimeout(timer)
  await child.exited
  expect(child.signalCode, output.slice(-500)).toBe('SIGKILL')
  return output
}

/** Copies what a crash leaves: the database and its log. The index in shared memory is gone with the machine. */
function copyCrashed(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)
  for (const name of ['tollgate.db', LOG])
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
}

type Tally = { acknowledged: number; openings: number; tornBytes: number }

async function examine(folder: string, output: string, tally: Tally): Promise<void> {
  const told = readTold(output)
  const path = join(folder, LOG)
  const log = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const from = log.length === 0 ? 0 : unsyncedFrom(log, readIndex(readFileSync(join(folder, INDEX))), told.acknowledged)
  for (const damage of damages) {
    const crashed = join(root, 'crashed')
    copyCrashed(folder, crashed)
    if (log.length > 0) damageLog(join(crashed, LOG), from, damage, chance)
    expect(await complaintsOf(crashed, told), `${damage}, ${log.length - from} bytes behind ${from}`).toEqual([])
    tally.openings++
  }
  tally.tornBytes += log.length - from
}

test(
  `after ${KILLS} kills, each with every damage to the log's end, all that was acknowledged is there`,
  async () => {
    const tally: Tally = { acknowledged: 0, openings: 0, tornBytes: 0 }
    const seed = seedOfRun() % 1_000_000
    let output = ''
    for (let kill = 0; kill < KILLS; kill++) {
      if (kill % KILLS_PER_FOLDER === 0) output = ''
      const folder = join(root, `folder-${Math.floor(kill / KILLS_PER_FOLDER)}`)
      const said = await workAndDie(folder, seed + kill)
      tally.acknowledged += readTold(said).acknowledged.length
      // What former lives were told must be there as well; what they were cut off in must not.
      output = `${output.slice(0, output.lastIndexOf('\n') + 1)}${said}`
      await examine(folder, output, tally)
    }
    const { acknowledged, openings, tornBytes } = tally
    reportFigure(`${KILLS} kills, ${acknowledged} acknowledged, ${openings} openings, ${tornBytes} bytes torn, 0 lost`)
    expect(acknowledged).toBeGreaterThan(KILLS * 10)
    // Kills that never leave anything behind the last acknowledgement would prove nothing.
    expect(tornBytes).toBeGreaterThan(0)
  },
  60_000 + KILLS * KILL_TIMEOUT_MS,
)

test(
  'a log that loses what was acknowledged does not pass',
  async () => {
    const folder = join(root, 'control')
    let told = readTold('')
    // Another life each time: what one of them booked before it was heard is not to be booked again.
    for (let life = 0; told.acknowledged.length === 0; life += 2) told = readTold(await workAndDie(folder, life))
    const crashed = join(root, 'crashed')
    copyCrashed(folder, crashed)
    rmSync(join(crashed, LOG))
    expect(await complaintsOf(crashed, told)).not.toEqual([])
  },
  KILL_TIMEOUT_MS,
)

test('the end of what was synced is found by salt and frame', () => {
  const [salt, other] = ['0123456789abcdef', 'ffffffffffffffff']
  const log = Buffer.alloc(32 + 3 * (4096 + 24))
  log.writeUInt32BE(4096, 8)
  log.write(salt, 16, 'hex')
  const at = (filling: string, frame: number): AcknowledgedWrite => ({ ...held, salt: filling, frame })
  const held = { kind: 'held', id: 'x', amount: undefined } as const
  const index = { salt, checkpointed: 0 }
  expect(unsyncedFrom(log, index, [at(salt, 2), at(other, 9)])).toBe(32 + 2 * 4120)
  expect(unsyncedFrom(log, { salt, checkpointed: 3 }, [at(salt, 2)])).toBe(log.length)
  expect(unsyncedFrom(log, index, [])).toBe(32)
  expect(unsyncedFrom(log, { salt: other, checkpointed: 0 }, [])).toBe(log.length)
})
