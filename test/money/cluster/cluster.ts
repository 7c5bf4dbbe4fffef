/** Several instances on one database, each a process of its own, and what must be true of what they acknowledged. */
import { SQL } from 'bun'
import { expect } from 'bun:test'
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { counterCheck, counterExpirySteps } from '../../../src/accounts/limit-counter-holds.ts'
import { alsoOnExpiry } from '../../../src/gateway.ts'
import { limitsText, type Limits } from '../../../src/domain/limits.ts'
import { findingsOf } from '../../../src/lib/primitives/checks.ts'
import { expireHoldsOf } from '../../../src/ledger/dead-instance.ts'
import { openPostgresLedger } from '../../../src/ledger/postgres-ledger.ts'
import { ledgerChecks } from '../../../src/ledger/verify.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { mustWrite, type Store } from '../../../src/store/store.ts'
import { insertAccount } from '../histories/session.ts'
import type { InstancePlan, InstanceWork } from './instance.ts'

export const INSTANCES = 4
/** An instance that is silent for so long is declared dead. */
export const SILENT_MS = 3_000
const ACCOUNTS = 12
const MIXED = { kind: 'mixed', amount: 1_000_000 } as const
const FIRST_CREDIT = 20n * BigInt(MIXED.amount)

export type Instance = {
  readonly name: string
  readonly child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  readonly ready: Promise<void>
  /** What it said so far, a line for each event. */
  readonly said: readonly string[]
  /** What it wrote to its error output, once it has ended. One that starts while the server is away complains. */
  readonly complaints: Promise<string>
}

export type ClusterOptions = {
  /** Where the instances find the server, if that differs. */
  readonly port?: number
  readonly limits?: Limits
  readonly work?: InstanceWork
  readonly accounts?: number
  /** What each account begins with. */
  readonly funds?: bigint
  /** The clients of each instance. */
  readonly clients?: number
}

/** Wide limits, so that the counters count and refuse nothing. */
const WIDE = { concurrentRequests: 1_000, tokensPerMinute: 1_000_000_000 }

let serial = 0

/** Instances with clients, on one database of a server. */
export class Cluster {
  readonly instances: Instance[] = []
  private readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'))
  private readonly acknowledged = join(this.folder, 'acknowledged')
  /** The lines that were read from it, and their bytes. */
  private readonly known: string[] = []
  private readBytes = 0
  private readonly accountIds: readonly string[]
  private readonly options: ClusterOptions
  /** The database, and where the instances find it. */
  private readonly direct: string
  private readonly seen: string

  private constructor(direct: string, seen: string, options: ClusterOptions) {
    this.direct = direct
    this.seen = seen
    this.options = options
    const { accounts = ACCOUNTS } = options
    this.accountIds = Array.from({ length: accounts }, (_, i) => `acct_${String(i).padStart(2, '0')}`)
  }

  /** Makes a database with funded accounts on a server. */
  static async create(server: string, options: ClusterOptions = {}): Promise<Cluster> {
    const url = new URL(server)
    url.pathname = `/cluster_${serial++}`
    const sql = new SQL(server, { max: 1 })
    await sql.unsafe(`CREATE DATABASE ${url.pathname.slice(1)}`).simple()
    await sql.close()
    const seen = new URL(url)
    if (options.port !== undefined) seen.port = String(options.port)
    const cluster = new Cluster(url.href, seen.href, options)
    await cluster.fund()
    return cluster
  }

  get url(): string {
    return this.direct
  }

  private async fund(): Promise<void> {
    const store = await this.open(this.direct)
    const { accountIds } = this
    await mustWrite(
      store,
      accountIds.map((id) => ({ run: insertAccount, bind: [id] })),
    )
    const ledger = await openPostgresLedger(store, { instance: 'funding', onBroken: unexpected })
    for (const accountId of accountIds) {
      const credit = {
        accountId,
        amount: this.options.funds ?? FIRST_CREDIT,
        kind: 'credit',
        ref: `first ${accountId}`,
        reason: 'test',
      } as const
      expect(await ledger.adjust(credit)).toEqual({ kind: 'booked' })
    }
    await store.close()
  }

  private open(url: string): Promise<Store> {
    return openPostgresStore(url, { folder: this.folder, onFatal: unexpected })
  }

  /** Starts an instance. It has clients as soon as it is ready. */
  start(at: number): Instance {
    const name = `run_${String(serial++).padStart(6, '0')}`
    const plan: InstancePlan = {
      url: this.seen,
      name,
      folder: this.folder,
      acknowledged: this.acknowledged,
      accountIds: this.accountIds,
      clients: this.options.clients ?? 12,
      work: this.options.work ?? MIXED,
      limits: limitsText(this.options.limits ?? WIDE),
      silentMs: SILENT_MS,
    }
    const program = join(ROOT, 'test/money/cluster/instance.ts')
    const command = [process.execPath, '--no-env-file', program, JSON.stringify(plan)]
    const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    const said: string[] = []
    const complaints = child.stderr.text()
    const ready = Promise.withResolvers<void>()
    void (async () => {
      for await (const line of linesOf(child.stdout)) {
        said.push(line)
        if (line === 'ready') ready.resolve()
      }
      // One that is killed before it was ready is ready to be replaced.
      ready.resolve()
    })()
    const instance = { name, child, ready: ready.promise, said, complaints }
    this.instances[at] = instance
    return instance
  }

  async startAll(): Promise<void> {
    await Promise.all(Array.from({ length: INSTANCES }, (_, at) => this.start(at).ready))
  }

  /** Starts those again that have ended. Returns what they said last. */
  restartEnded(): readonly string[] {
    return this.instances.flatMap(({ child, said }, at) => {
      if (child.exitCode === null && child.signalCode === null) return []
      this.start(at)
      return said.at(-1) ?? []
    })
  }

  async kill(at: number): Promise<void> {
    const { child } = this.instances[at] as Instance
    child.kill('SIGKILL')
    await child.exited
  }

  /** Ends all at once, also those that are frozen. */
  async killAll(): Promise<void> {
    await Promise.all(this.instances.map((_, at) => this.kill(at)))
  }

  /** How many lines were acknowledged, by all or by one instance. */
  count(instance?: Instance): number {
    const lines = this.lines()
    return instance ? lines.filter((line) => line.includes(` ${instance.name}.`)).length : lines.length
  }

  /** Resolves once so much more is acknowledged by all together, or by each of some. */
  async more(count: number, each?: readonly Instance[]): Promise<void> {
    const waits = each?.map((instance) => [instance, this.count(instance) + count] as const) ?? [
      [undefined, this.count() + count] as const,
    ]
    const untilMs = performance.now() + PATIENCE_MS
    for (const [instance, until] of waits) {
      while (this.count(instance) < until) {
        if (performance.now() > untilMs) throw new Error(`nothing is acknowledged any more: ${this.states()}`)
        // Whoever was declared dead because the machine is busy is replaced.
        if (instance === undefined) this.restartEnded()
        await Bun.sleep(20)
      }
    }
  }

  /** What became of the instances so far. */
  states(): string {
    return this.instances.map(({ name, said }) => `${name}: ${said.at(-1) ?? 'silent'}`).join('; ')
  }

  /** What was acknowledged so far. Only what is new is read. */
  private lines(): readonly string[] {
    if (!existsSync(this.acknowledged)) return []
    const file = openSync(this.acknowledged, 'r')
    const bytes = Buffer.alloc(fstatSync(file).size - this.readBytes)
    readSync(file, bytes, 0, bytes.length, this.readBytes)
    closeSync(file)
    const end = bytes.lastIndexOf('\n') + 1
    this.readBytes += end
    for (const line of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) this.known.push(line)
    return this.known
  }

  /**
   * Expires what the instances have left, which must have ended, and compares what was acknowledged with the books.
   * `url` is the server that has the truth now.
   */
  async expectExact(server = this.direct): Promise<ClusterFigures> {
    const url = new URL(server)
    url.pathname = new URL(this.direct).pathname
    const store = await this.open(url.href)
    try {
      await expireAll(store)
      const findings = await findingsOf(store, [...ledgerChecks, counterCheck])
      expect(findings).toEqual([])
      const figures = await compare(store, this.lines())
      return figures
    } finally {
      await store.close()
    }
  }

  async remove(): Promise<void> {
    await this.killAll()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const ROOT = join(import.meta.dir, '../../..')
/** A busy machine, and the time in which a dead instance keeps money. */
const PATIENCE_MS = 60_000

const unexpected = (message: string): never => {
  throw new Error(message)
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

const expiry = { ofInstance: counterExpirySteps, ofHold: alsoOnExpiry }

/** All instances but this one have ended, so nobody waits for their signs of life. */
async function expireAll(store: Store): Promise<void> {
  const others = `SELECT id, CAST(beat AS text) AS beat FROM instance WHERE id <> ? AND state IN ('alive', 'draining')`
  for (const { id, beat } of await store.query(others, [store.instance ?? ''])) {
    await expireHoldsOf(store, { id: String(id), beat: String(beat) }, expiry)
  }
}

export type ClusterFigures = { readonly settled: number; readonly holds: number; readonly credited: number }

/** Each acknowledged hold, settlement, release and credit is there, once, and says what was told. */
async function compare(store: Store, lines: readonly string[]): Promise<ClusterFigures> {
  const rows = await store.query('SELECT id, state, settled, amount FROM hold')
  const holds = new Map(rows.map((row) => [row['id'] as string, row]))
  const refs = await store.query(
    'SELECT j.ref, e.amount FROM journal j JOIN entry e ON e.journal_id = j.id AND e.amount > 0',
  )
  const credits = new Map(refs.map((row) => [row['ref'] as string, row['amount'] as bigint]))
  const wrong: string[] = []
  const ended = new Set<string>()
  const figures = { settled: 0, holds: 0, credited: 0 }
  for (const line of lines) {
    const [kind, id = '', value = ''] = line.split(' ')
    const hold = holds.get(id)
    if (kind === 'hold') figures.holds++
    if (kind === 'credited') {
      figures.credited++
      if (credits.get(id) !== BigInt(value)) wrong.push(`${line}: ${credits.get(id) ?? 'nothing'}`)
    } else if (!hold) wrong.push(`${line}: no hold`)
    else if (kind === 'grown' && (hold['amount'] as bigint) < BigInt(value))
      wrong.push(`${line}: ${String(hold['amount'])}`)
    else if (kind === 'settled' || kind === 'released') {
      if (ended.has(id)) wrong.push(`${line}: twice`)
      ended.add(id)
      if (hold['state'] !== kind) wrong.push(`${line}: ${String(hold['state'])}`)
      if (kind === 'settled' && hold['settled'] !== BigInt(value)) wrong.push(`${line}: ${String(hold['settled'])}`)
      if (kind === 'settled') figures.settled++
    }
  }
  expect(wrong.slice(0, 10)).toEqual([])
  const [left] = await store.query(
    `SELECT (SELECT count(*) FROM hold WHERE state = 'open') AS open, (SELECT coalesce(sum(held), 0)::bigint FROM account) AS held`,
  )
  expect(left).toEqual({ open: 0n, held: 0n })
  return figures
}
