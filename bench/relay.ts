/**
 * Measures the cost of relaying a request: CPU per request by process accounting, added latency, throughput, open
 * streams and memory. It compares this gateway with everything on with nginx in front of the same vendor as the floor.
 * Before that it measures the figures of figures.ts: the ledger with its disk, and the start. See docs/performance.md,
 * and --help.
 */
import { cpus } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { processTree, residentMb } from './accounting.ts'
import { freePort, start, type Contender, type Running } from './contender.ts'
import { litellm } from './contenders/litellm.ts'
import { nginx } from './contenders/nginx.ts'
import { policyNames } from '../src/domain/routing.ts'
import { otel } from './contenders/otel.ts'
import { portkey } from './contenders/portkey.ts'
import { ROOT, tollgate } from './contenders/tollgate.ts'
import { workers } from './contenders/workers.ts'
import { hireCrew, type Crew } from './crew.ts'
import { diskFolder } from './disk-folder.ts'
import { figureCases, measureFigures, progressOf, type FigureSample } from './figures.ts'
import { climb } from './frontier.ts'
import { addressOf, measure, measureHeld, type Target } from './measure.ts'
import { isQuiet, quietHost } from './host-memory.ts'
import { helpText, isChosen, options, progress } from './options.ts'
import { printReport } from './report.ts'
import type { HeldSample, Sample } from './sample.ts'
import { summarize, type Resident } from './summary.ts'
import { cases, frontierCase, heldCase, models, whole32, type Case } from './workload.ts'

const WARM_UP_MS = 6_000
const WARM_UP_REQUESTS = 60_000
const WARM_UPS = 2
/** Waited after the start and after the last request, so that short-lived memory does not count. */
const SETTLE_MS = 2_000

const { rounds } = options
const named = cases.filter(isChosen)
const chosen = cases.filter((work) => named.includes(work) || named.some(({ besideId }) => besideId === work.id))
const chosenFigures = figureCases.filter(isChosen)
const isFrontierChosen = isChosen({ ...frontierCase(1), id: 'frontier' })
const isHeldChosen = isChosen(heldCase)
/** Added by `--with`. */
const others: Readonly<Record<string, () => Contender>> = {
  portkey: () => portkey,
  litellm: () => litellm,
  otel: () => otel(options['bun-arg']),
  ...Object.fromEntries(
    policyNames.map((routing) => {
      const name = `routing-${routing}`
      return [name, () => tollgate({ name, root: ROOT, bunArgs: options['bun-arg'], routing })]
    }),
  ),
  'workers-1': () => workers(1, options['bun-arg']),
  'workers-2': () => workers(2, options['bun-arg']),
}

function contenders(): Contender[] {
  const ours = { name: 'tollgate', root: ROOT, bunArgs: options['bun-arg'] }
  const another = options.against ? [tollgate({ ...ours, name: 'against', root: resolve(options.against) })] : []
  const guests = options.with.map((name) => {
    const guest = others[name]
    if (!guest) throw new Error(`--with ${name}: there are ${Object.keys(others).join(', ')}`)
    return guest()
  })
  return [tollgate(ours), ...another, nginx, ...guests]
}

/** Starts the contenders that can run. `started` grows meanwhile, so that the caller can always end them. */
async function startAll(folder: string, upstreamPort: number, started: Running[]): Promise<void> {
  for (const contender of contenders()) {
    const field = { folder: join(folder, contender.name), port: await freePort(), upstreamPort, models }
    try {
      const running = await start(contender, field)
      if (running) started.push(running)
      else progress(`!! ${contender.name} is NOT INSTALLED: it is left out, so there is no comparison with it.`)
    } catch (error) {
      // This gateway must start. The dependencies of another program may be missing here.
      if (!contender.install) throw error
      progress(
        `!! ${contender.name} CANNOT BE INSTALLED: it is left out.\n${(error as Error).message.slice(-600).trim()}`,
      )
    }
  }
}

/** Measures the ledger and the start before anything else, because they need the whole machine. */
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

type RunSamples = { readonly samples: Sample[]; readonly held: HeldSample[] }

/** Until when the bench waits for quiet moments of the host. */
const patientUntilMs = options.quiet ? performance.now() + 15 * 60_000 : Number.POSITIVE_INFINITY

/** Runs all cases in turn, each against every target, so that a noisy minute affects all of them. */
async function run(crew: Crew, targets: readonly Target[]): Promise<RunSamples> {
  const found: RunSamples = { samples: [], held: [] }
  await warmUp(crew, targets, found)
  const contending = targets.filter(({ running }) => running)
  for (let round = 1; round <= rounds; round++) {
    // What comes second finds another state of the caches and of the host, so the order changes with each round.
    const inTurn = round % 2 === 0 ? targets.toReversed() : targets
    const say = (id: string, parts: readonly string[]): void =>
      progress(`round ${round}/${rounds} ${id}: ${parts.join(' · ')}`)
    for (const work of chosen) {
      const able = inTurn.filter((target) => canServe(target, work))
      for (let isDone = false; !isDone && performance.now() < patientUntilMs;) {
        if (options.quiet) await quietHost(patientUntilMs)
        const samples: Sample[] = []
        for (const target of able) samples.push(await measure(crew, target, work))
        isDone = !options.quiet || isQuiet(samples.map(({ memoryNs }) => memoryNs))
        found.samples.push(...samples.map((sample) => ({ ...sample, round: isDone ? round : ('busy' as const) })))
        say(work.id, [...(isDone ? [] : ['not counted: the host was busy']), ...samples.map(progressLine)])
      }
    }
    for (const target of isFrontierChosen ? contending : []) {
      const climbed = await climb(crew, target)
      found.samples.push(...climbed.map((sample) => ({ ...sample, round })))
      say('frontier', climbed.map(progressLine))
    }
    for (const target of isHeldChosen ? contending : []) {
      const sample = await measureHeld(crew, target, heldCase)
      if (!sample) continue
      found.held.push(sample)
      const { idle, held, problem } = sample
      const problemText = problem ? ` !! ${problem}` : ''
      say(heldCase.id, [
        `${target.name} ${idle.residentMb.toFixed(0)} → ${held.residentMb.toFixed(0)} MB${problemText}`,
      ])
    }
  }
  return found
}

/** nginx and the vendor itself answer in the vendor's dialect. */
const canServe = ({ running }: Target, { answer }: Case): boolean =>
  answer.kind === 'whole' || answer.dialect === 'chat' || running?.contender.translates === true

/**
 * The first requests run in the interpreter and keep the compiler busy, so no round should count them. Code that runs
 * once a request is fully compiled after some 60,000 requests: with 20,000 before the first round, compiling was still
 * a tenth of what was counted (2026-11-22, on a slow machine). Code is compiled again for new kinds of work: after
 * streams, whole replies kept the compiler busy for two rounds. So all cases run twice.
 */
async function warmUp(crew: Crew, targets: readonly Target[], { samples }: RunSamples): Promise<void> {
  const quick = cases.filter(({ extent, connections }) => extent === 'quick' && connections > 1)
  const own = quick.filter((work) => chosen.includes(work))
  const works = own.length > 0 || (chosen.length === 0 && !isFrontierChosen) ? own : quick.slice(0, 1)
  for (const work of Array.from({ length: WARM_UPS }, () => works).flat()) {
    progress(`warm-up ${work.id}`)
    for (const target of targets.filter((one) => one.running?.contender.needsWarmUp && canServe(one, work))) {
      const requestsMin = work === whole32 ? WARM_UP_REQUESTS : work.requestsMin
      samples.push({ ...(await measure(crew, target, { ...work, requestsMin, runMs: WARM_UP_MS })), round: 'warm-up' })
    }
  }
}

function progressLine({ target, cpuUs: cpu, memoryNs, report, problem }: Sample): string {
  const rate = Math.round((report.requests / report.tookMs) * 1000)
  const cost = cpu === undefined ? '' : `${Math.round(cpu)} µs (memory ${Math.round(memoryNs)} ns) `
  return `${target} ${cost}${rate}/s${problem ? ` !! ${problem}` : ''}`
}

/** The errors in the contenders' books, and what went wrong during the run. */
async function inspect(running: readonly Running[], { samples, held }: RunSamples): Promise<string[]> {
  const all = [...samples, ...held]
  const complaints = all.flatMap(({ target, caseId, problem }) => (problem ? [`${target} ${caseId}: ${problem}`] : []))
  for (const { contender, field } of running) {
    const sent = all.filter(({ target }) => target === contender.name).reduce((sum, sample) => sum + sample.sent, 0)
    const found = (await contender.inspect?.(field, sent)) ?? []
    complaints.push(...found.map((complaint) => `${contender.name}: ${complaint}`))
    if (contender.inspect && found.length === 0) progress(`${contender.name}: ${sent} requests, its books agree`)
  }
  return complaints
}

type RelayedRun = RunSamples & {
  readonly residents: Readonly<Record<string, Resident>>
  readonly complaints: readonly string[]
}

/** Runs the relay's cases against every contender that is installed. */
async function runRelay(): Promise<RelayedRun> {
  const folder = mkdtempSync(join(diskFolder(), 'tollgate-bench-'))
  const crew = await hireCrew()
  const running: Running[] = []
  // A killed bench must leave no gateway behind. The crew ends by itself when its channel closes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      for (const { pid } of running) process.kill(pid, 'SIGTERM')
      process.exit(130)
    })
  }
  try {
    await startAll(folder, crew.upstreamPort, running)
    const targets: Target[] = running.map((one) => ({
      name: one.contender.name,
      address: addressOf(one.field.port, { basePath: one.contender.basePath, headers: one.headers }),
      running: one,
    }))
    const idleMb = await residents(running)
    const direct = addressOf(crew.upstreamPort, { basePath: '/v1', headers: {} })
    const found = await run(crew, [...targets, { name: 'direct', address: direct, running: undefined }])
    const afterMb = await residents(running)
    const memory = running.map(({ contender: { name } }, i): [string, Resident] => [
      name,
      { idleMb: idleMb[i] ?? Number.NaN, afterMb: afterMb[i] ?? Number.NaN },
    ])
    return { ...found, residents: Object.fromEntries(memory), complaints: await inspect(running, found) }
  } finally {
    for (const one of running) await one.stop()
    crew.stop()
    if (options.keep) progress(`kept: ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
}

async function residents(running: readonly Running[]): Promise<number[]> {
  await Bun.sleep(SETTLE_MS)
  return running.map(({ pid }) => residentMb(processTree(pid)))
}

const nothing: RelayedRun = { samples: [], held: [], residents: {}, complaints: [] }

async function main(): Promise<number> {
  if (options.help) {
    const ids = [...cases.map(({ id }) => id), 'frontier', heldCase.id, ...figureCases.map(({ id }) => id)]
    process.stdout.write(helpText(ids))
    return 0
  }
  const figures = await runFigures()
  const { samples, held, residents: memory, complaints: wrong } = isRelayChosen ? await runRelay() : nothing
  const complaints = [
    ...figures.flatMap(({ caseId, measured: { problem } }) => (problem ? [`${caseId}: ${problem}`] : [])),
    ...wrong,
  ]
  const summary = summarize(samples, { cores: cpus().length, residents: memory, complaints, figures, held })
  if (options.json) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else printReport(summary)
  const isMissed = summary.bars.some(({ verdict }) => verdict === 'missed')
  return complaints.length > 0 || (options.assert && isMissed) ? 1 : 0
}

const isRelayChosen = chosen.length > 0 || isFrontierChosen || isHeldChosen

process.exitCode = await main()
