/**
 * What relaying a request costs: CPU per request by process accounting, added latency and throughput, of this gateway
 * with everything on, beside nginx in front of the same vendor as the floor. Then the figures of figures.ts: the ledger
 * beside its disk, and the start. See docs/performance.md.
 *
 *   bun bench/relay.ts [--quick] [--json] [--assert] [--rounds N] [--only TEXT] [--bun-arg ARG]... [--keep]
 */
import { cpus } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuUs, processTree, residentMb, threadsUs } from './accounting.ts'
import { freePort, start, type Contender, type Running } from './contender.ts'
import { nginx } from './contenders/nginx.ts'
import { tollgate } from './contenders/tollgate.ts'
import { hireCrew, type Crew } from './crew.ts'
import { diskFolder } from './disk-folder.ts'
import { figureCases, measureFigures, progressOf, type FigureSample } from './figures.ts'
import type { Address, LoadReport } from './load.ts'
import { summarize, type Facts, type Sample } from './summary.ts'
import { printReport } from './report.ts'
import { cases, modelName, type Case } from './workload.ts'

const WARM_UP_MS = 6_000
const JOB_TIMEOUT_MS = 120_000
/** Log lines and the last commits leave after the last answer; they belong to the requests. */
const QUIET_MS = 60

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    'bun-arg': { type: 'string', multiple: true, default: [] },
  },
})

const progress = (text: string): void => void process.stderr.write(`${text}\n`)

type Target = { readonly name: string; readonly address: Address; readonly running: Running | undefined }

/** One case against one target: warmed up, then counted. */
async function measure(crew: Crew, { name, address, running }: Target, work: Case): Promise<Sample> {
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

const addressOf = (port: number, { basePath, headers }: Pick<Address, 'basePath' | 'headers'>): Address => ({
  hostname: '127.0.0.1',
  port,
  basePath,
  headers,
})

async function startAll(contenders: readonly Contender[], folder: string, upstreamPort: number): Promise<Running[]> {
  const models = [...new Set(cases.map(({ answer }) => modelName(answer)))]
  const started: Running[] = []
  for (const contender of contenders) {
    const field = { folder: join(folder, contender.name), port: await freePort(), upstreamPort, models }
    const running = await start(contender, field)
    if (running) started.push(running)
    else progress(`!! ${contender.name} is NOT INSTALLED: it is left out, and there is nothing to compare with.`)
  }
  return started
}

const rounds = Number(options.rounds ?? (options.quick ? 3 : 5))
const chosen = cases.filter(({ id, extent }) => (!options.quick || extent === 'quick') && id.includes(options.only))
const chosenFigures = figureCases.filter(({ id }) => id.includes(options.only))

/** The ledger and the start, which need the machine for themselves: before anything else runs. */
async function runFigures(): Promise<FigureSample[]> {
  const samples: FigureSample[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const one of chosenFigures) {
      const sample = await measureFigures(one)
      samples.push(sample)
      progress(`round ${round}/${rounds} ${one.id}: ${sample.measured.problem ?? progressOf(one, sample)}`)
    }
  }
  return samples
}

/** All cases in turn, each against every target, so that a noisy minute hits all of them. */
async function run(crew: Crew, targets: readonly Target[]): Promise<Sample[]> {
  const samples: Sample[] = []
  // The first 20,000 requests or so run in the interpreter and keep the compiler busy; no round should count them.
  for (const work of chosen.filter(({ extent, connections }) => extent === 'quick' && connections > 1)) {
    progress(`warm-up ${work.id}`)
    for (const target of targets.filter(({ running }) => running?.contender.needsWarmUp)) {
      samples.push({ ...(await measure(crew, target, { ...work, runMs: WARM_UP_MS })), round: 'warm-up' })
    }
  }
  for (let round = 1; round <= rounds; round++) {
    for (const work of chosen) {
      for (const target of targets) samples.push({ ...(await measure(crew, target, work)), round })
      const line = samples.slice(-targets.length).map(({ target, cpuUs: cpu, report, problem }) => {
        const rate = Math.round((report.requests / report.tookMs) * 1000)
        return `${target} ${cpu === undefined ? '' : `${Math.round(cpu)} µs `}${rate}/s${problem ? ` !! ${problem}` : ''}`
      })
      progress(`round ${round}/${rounds} ${work.id}: ${line.join(' · ')}`)
    }
  }
  return samples
}

/** What the contenders' books have against what was sent, and what went wrong on the way. */
async function inspect(running: readonly Running[], samples: readonly Sample[]): Promise<string[]> {
  const complaints = samples.flatMap(({ target, caseId, problem }) =>
    problem ? [`${target} ${caseId}: ${problem}`] : [],
  )
  for (const { contender, field } of running) {
    const mine = samples.filter(({ target }) => target === contender.name)
    const sent = mine.reduce((sum, sample) => sum + sample.sent, 0)
    const found = (await contender.inspect?.(field, sent)) ?? []
    complaints.push(...found.map((complaint) => `${contender.name}: ${complaint}`))
    if (contender.inspect && found.length === 0) progress(`${contender.name}: ${sent} requests, its books agree`)
  }
  return complaints
}

type Relayed = Pick<Facts, 'residents' | 'complaints'> & { readonly samples: readonly Sample[] }

/** The relay's cases, against every contender that is installed. */
async function runRelay(): Promise<Relayed> {
  const folder = mkdtempSync(join(diskFolder(), 'tollgate-bench-'))
  const crew = await hireCrew()
  let running: Running[] = []
  // Killed half-way, it must leave no gateway behind; the crew ends by itself when its channel closes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      for (const { pid } of running) process.kill(pid, 'SIGTERM')
      process.exit(130)
    })
  }
  try {
    running = await startAll([tollgate(options['bun-arg']), nginx], folder, crew.upstreamPort)
    const targets: Target[] = running.map((one) => ({
      name: one.contender.name,
      address: addressOf(one.field.port, { basePath: one.contender.basePath, headers: one.headers }),
      running: one,
    }))
    const direct = addressOf(crew.upstreamPort, { basePath: '/v1', headers: {} })
    const samples = await run(crew, [...targets, { name: 'direct', address: direct, running: undefined }])
    const residents = Object.fromEntries(
      running.map(({ contender, pid }) => [contender.name, residentMb(processTree(pid))]),
    )
    return { samples, residents, complaints: await inspect(running, samples) }
  } finally {
    for (const one of running) await one.stop()
    crew.stop()
    if (options.keep) progress(`kept: ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
}

async function main(): Promise<number> {
  const figures = await runFigures()
  const relayed = chosen.length > 0 ? await runRelay() : { samples: [], residents: {}, complaints: [] }
  const complaints = [
    ...figures.flatMap(({ caseId, measured: { problem } }) => (problem ? [`${caseId}: ${problem}`] : [])),
    ...relayed.complaints,
  ]
  const { samples, residents } = relayed
  const summary = summarize(samples, { cores: cpus().length, residents, complaints, figures })
  if (options.json) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else printReport(summary)
  const isMissed = summary.bars.some(({ isBar, verdict }) => isBar && verdict === 'missed')
  return complaints.length > 0 || (options.assert && isMissed) ? 1 : 0
}

process.exitCode = await main()
