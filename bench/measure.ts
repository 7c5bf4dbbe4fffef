/** Measures one case against one target. */
import { cpuUs, processTree, residentMb, threadsUs } from './accounting.ts'
import type { Running } from './contender.ts'
import type { Crew } from './crew.ts'
import { hostMemoryNs } from './host-memory.ts'
import type { Address, LoadReport } from './load.ts'
import type { HeldSample, Sample } from './sample.ts'
import type { Case } from './workload.ts'

export type Target = { readonly name: string; readonly address: Address; readonly running: Running | undefined }

const JOB_TIMEOUT_MS = 120_000
/** Log lines and the last commits come after the last answer, and belong to the requests. */
const QUIET_MS = 60
/** For streams: the time until all are open, and how long they are then observed. */
const OPENING_MS = 6_000
const WATCHED_MS = 5_000

export const addressOf = (port: number, { basePath, headers }: Pick<Address, 'basePath' | 'headers'>): Address => ({
  hostname: '127.0.0.1',
  port,
  basePath,
  headers,
})

/** A contender that takes many times as long for a request gets fewer of them, or its rounds would never end. */
const scaled = (work: Case, { running }: Target): Case => {
  const { effort = 1 } = running?.contender ?? {}
  const part = (count: number): number => Math.ceil(count * effort)
  return { ...work, requestsMin: part(work.requestsMin), warmUp: part(work.warmUp) }
}

/** Warms up, then counts. */
export async function measure(crew: Crew, target: Target, wanted: Case): Promise<Sample> {
  const { name, address, running } = target
  const work = scaled(wanted, target)
  // Measured before the warm-up, because nothing may wait between that and the run.
  const memoryNs = hostMemoryNs()
  const opened = await crew.load({ kind: 'open', timeoutMs: JOB_TIMEOUT_MS, address, work })
  const pids = running ? processTree(running.pid) : []
  const before = { connections: await crew.upstreamConnections(), cpu: cpuUs(pids), threads: threadsUs(pids) }
  const report = await crew.load({ kind: 'run', timeoutMs: JOB_TIMEOUT_MS })
  await Bun.sleep(QUIET_MS)
  const cpu = cpuUs(pids) - before.cpu
  const threads: Record<string, number> = {}
  for (const [thread, us] of threadsUs(pids)) {
    const name = thread.slice(0, thread.lastIndexOf('.'))
    threads[name] = (threads[name] ?? 0) + (us - (before.threads.get(thread) ?? 0)) / report.requests
  }
  return {
    caseId: work.id,
    target: name,
    cpuUs: running ? cpu / report.requests : undefined,
    threads,
    memoryNs,
    upstreamConnections: (await crew.upstreamConnections()) - before.connections,
    report,
    problem: problemOf(opened, report),
    sent: opened.requests + report.requests,
  }
}

function problemOf(opened: LoadReport, report: LoadReport): string | undefined {
  const errors = opened.errors + report.errors
  if (errors > 0) return `${errors} errors, the first: ${opened.firstError ?? report.firstError}`
  const missing = opened.missing + report.missing
  return missing === 0 ? undefined : `${missing} requests without an answer`
}

/** Memory and CPU while all streams of a case are open, compared with the same process just before. */
export async function measureHeld(crew: Crew, target: Target, work: Case): Promise<HeldSample | undefined> {
  const { name, address, running } = target
  if (!running) return undefined
  const pids = processTree(running.pid)
  const corePart = async (): Promise<number> => {
    const before = cpuUs(pids)
    await Bun.sleep(WATCHED_MS)
    return (cpuUs(pids) - before) / (WATCHED_MS * 1_000)
  }
  const idle = { residentMb: residentMb(pids), corePart: await corePart() }
  const opened = await crew.load({ kind: 'open', timeoutMs: JOB_TIMEOUT_MS, address, work })
  const ending = crew.load({ kind: 'run', timeoutMs: JOB_TIMEOUT_MS })
  await Bun.sleep(OPENING_MS)
  const held = { corePart: await corePart(), residentMb: residentMb(pids) }
  const report = await ending
  return {
    caseId: work.id,
    target: name,
    idle,
    held,
    report,
    problem: problemOf(opened, report),
    sent: report.requests,
  }
}
