/**
 * Every database call of a workload fails once in the writer thread: statements, BEGIN and COMMIT. The ways to fail
 * take turns and a seed says which begins, so that three scripts cover each way for each kind of call. The store runs
 * the batch again without visible effect, or the process stops. No acknowledged write may be lost, and none half
 * written.
 */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complaintsOf, readTold, type AcknowledgedFacts } from './faults/acknowledged.ts'
import type { FaultMode } from './faults/faulty-database.ts'
import { faultyWriter } from './faults/writer-faults.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { copySources } from '../support/sources.ts'

const SCRIPTS = countOf('failing-writes')
/** Every so many calls of a script fail, in turn. The short form has a quarter of them, and so all ways to fail. */
const STEP = SCRIPTS > 1 ? 1 : 4
const MODES: readonly FaultMode[] = ['before', 'after', 'from']
/** Processes at once. */
const LANES = 3
const SCRIPT_TIMEOUT_MS = 300_000

const copy = copySources([faultyWriter])
afterAll(() => copy.remove())

type Fault = { readonly at: number; readonly mode: FaultMode }
type Outcome = {
  readonly exitCode: number
  readonly calls: number
  readonly complaints: string[]
  readonly told: AcknowledgedFacts
}

async function runScript(seed: number, { at, mode }: Fault): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-faults-'))
  try {
    const countFile = join(folder, 'calls')
    const args = [join(copy.folder, 'test/operations/faults/workload.ts'), '--folder', folder, '--seed', String(seed)]
    const env = { TOLLGATE_FAULT_AT: String(at), TOLLGATE_FAULT_MODE: mode, TOLLGATE_FAULT_COUNT: countFile }
    const child = Bun.spawn([process.execPath, '--no-env-file', ...args], {
      env: { ...process.env, ...env },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const told = readTold(await child.stdout.text())
    const exitCode = await child.exited
    const calls = at === 0 ? Number(readFileSync(countFile, 'utf8')) : 0
    return { exitCode, calls, complaints: await complaintsOf(folder, told), told }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs a script once for each call that is to fail. Returns how many of them stopped the process. */
async function failEverywhere(seed: number): Promise<{ readonly faults: number; readonly stopped: number }> {
  const whole = await runScript(seed, { at: 0, mode: 'before' })
  expect(whole).toMatchObject({ exitCode: 0, complaints: [], told: { isDone: true } })
  const modeOf = (call: number): FaultMode => MODES[(seed + call) % MODES.length] ?? 'before'
  const calls = Array.from({ length: whole.calls }, (_, i) => ({ at: i + 1, mode: modeOf(i) }))
  const faults = calls.filter((_, i) => (seed + i) % STEP === 0)
  const waiting = [...faults]
  let stopped = 0
  const lane = async (): Promise<void> => {
    for (let fault = waiting.pop(); fault; fault = waiting.pop()) {
      const { exitCode, complaints, told } = await runScript(seed, fault)
      const which = `seed ${seed}, call ${fault.at} fails (${fault.mode})`
      expect(complaints, which).toEqual([])
      // It comes to its end, or stops by itself, or does not even start. It never goes on after a commit that failed.
      expect(exitCode === 0, which).toBe(told.isDone)
      if (exitCode !== 0) expect(told.isStopped || !told.isReady, which).toBe(true)
      if (exitCode !== 0) stopped++
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { faults: faults.length, stopped }
}

test(
  `${SCRIPTS} scripts in which each call of the database fails lose nothing that was acknowledged`,
  async () => {
    const seed = seedOfRun()
    let [faults, stopped] = [0, 0]
    for (let script = 0; script < SCRIPTS; script++) {
      const run = await failEverywhere((seed + script) >>> 0)
      faults += run.faults
      stopped += run.stopped
    }
    reportFigure(`${faults} failed calls, ${stopped} stopped the process, nothing acknowledged lost (seed ${seed})`)
    expect(stopped).toBeGreaterThan(0)
    expect(stopped).toBeLessThan(faults)
  },
  SCRIPTS * SCRIPT_TIMEOUT_MS,
)
