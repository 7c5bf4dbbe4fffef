/** Starts the real gateway and the sandbox in processes of their own, for tests over real sockets. */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bunEnv } from '../../bin/bun-env.js'
import { programFile } from '../../bin/program.js'
import { callControl } from '../../src/admin/control.ts'
import { startAlternatingProxy } from './alternating-proxy.ts'
import { runCommand } from './command.ts'
import { freePort } from './free-port.ts'
import { dropStorage, storageOf } from './pair-storage.ts'

const ROOT = resolve(import.meta.dir, '../..')
const METRICS_TOKEN = 'token-of-the-tests'
const START_TIMEOUT_MS = 20_000

export type TestGateway = {
  /** `http://127.0.0.1:…/v1` */
  readonly baseUrl: string
  readonly folder: string
  readonly pid: number
  /** Its processes and their data folders: one of each, or two of a pair. */
  readonly pids: readonly number[]
  readonly folders: readonly string[]
  /** A key of an account with plenty of money. */
  readonly key: string
  readonly accountId: string
  /** Runs an operation over the control socket and returns its value. */
  operate<T = Record<string, unknown>>(name: string, input?: object): Promise<T>
  /** Resolves once every instance has read what was changed before, through whatever it was changed. */
  caughtUp(): Promise<void>
  /** The text of `/metrics`. The samples of a pair are added up. */
  metrics(): Promise<string>
  /** What the process wrote so far. */
  readonly output: () => string
  /** Resolves with the exit code once the process is gone. */
  readonly exited: Promise<number>
  /** SIGKILL, as a crash would. The folder stays. */
  crash(): Promise<void>
  /** SIGTERM. The folder stays. Resolves with the exit code, of a pair with the higher one. */
  stop(): Promise<number>
  /** Verifies the ledger, stops the process by SIGTERM, expects exit code 0, removes the folder. */
  close(): Promise<void>
}

export type GatewayOptions = {
  /** tollgate.yaml, or nothing for the sandbox alone. */
  readonly yaml?: string
  /** An existing data folder; a new temporary one otherwise. */
  readonly folder?: string
  readonly env?: Environment
  readonly balanceUsd?: string
  /** An account and key of a former life of the folder, instead of new ones. */
  readonly as?: Pick<TestGateway, 'accountId' | 'key'> | undefined
  /** Another tree of sources, with an edit in it. */
  readonly root?: string
  /** Hears the process id at once, long before it listens. */
  readonly onSpawn?: ((pid: number) => void) | undefined
  /** How many files and sockets the process may have. */
  readonly descriptors?: number | undefined
  /** Files that the gateway's process loads before the program, to measure it from inside. */
  readonly preload?: readonly string[]
  /** Whether a file that says nothing of the sandbox gets a line that opens it to every account. */
  readonly sandboxForAll?: boolean
}

let serial = 0

/**
 * Starts `tollgate serve` on a free port and makes an account and a key. With `TOLLGATE_TEST_STORE=postgres`, two
 * instances on one database answer in turns instead, so that every test is one of several instances too. Their files
 * are in a bucket that they share.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const { folder = freshFolder(), balanceUsd = '1000', as } = options
  const running = await (TEST_STORE === 'postgres' ? startPair(folder, options) : startInstance(folder, options))
  const { operate } = running
  const createAccount = async (): Promise<Pick<TestGateway, 'accountId' | 'key'>> => {
    const name = `tester-${process.pid}-${serial++}`
    const { id: accountId } = await operate<{ id: string }>('account.create', { name, balance: balanceUsd })
    const { secret: key } = await operate<{ secret: string }>('key.create', { account: name, name: 'test' })
    return { accountId, key }
  }
  const { accountId, key } = as ?? (await createAccount())
  return {
    ...running,
    folder,
    key,
    accountId,
    async close() {
      const verified = await operate('ledger.verify')
      const code = await running.stop()
      for (const one of running.folders) rmSync(one, { recursive: true, force: true })
      await dropStorage(folder)
      expect(verified).toMatchObject({ clean: true, findings: [] })
      expect(code).toBe(0)
    },
  }
}

/** The store that tests of whole gateways run on. */
export const TEST_STORE = process.env['TOLLGATE_TEST_STORE'] ?? 'sqlite'
/** How many instances answer in turns. What each of them counts alone is bounded by so many times its limit. */
export const INSTANCES = TEST_STORE === 'postgres' ? 2 : 1

export type RunningGateway = Omit<TestGateway, 'folder' | 'key' | 'accountId' | 'close'>

async function startInstance(
  folder: string,
  { yaml, env = {}, root = ROOT, onSpawn, descriptors, preload = [], sandboxForAll = true }: GatewayOptions,
): Promise<RunningGateway> {
  const configFile = join(folder, 'tollgate.yaml')
  if (yaml !== undefined) await Bun.write(configFile, sandboxForAll ? withSandbox(yaml) : yaml)
  // What is loaded before the program may import its sources.
  const main = preload.length > 0 ? join(root, 'src/main.ts') : programFile(root)
  const program = [...preload.map((file) => `--preload=${file}`), main, 'serve']
  const { child, baseUrl, output } = await startProcess(
    program,
    {
      PORT: '0',
      TOLLGATE_DATA: folder,
      TOLLGATE_METRICS_TOKEN: METRICS_TOKEN,
      ...(yaml === undefined ? {} : { TOLLGATE_CONFIG: configFile }),
      ...env,
    },
    { onSpawn, descriptors },
  )
  return {
    baseUrl,
    pid: child.pid,
    pids: [child.pid],
    folders: [folder],
    async operate<T>(name: string, input: object = {}) {
      const result = await callControl(folder, name, input)
      // A gateway that is gone usually said why.
      if (!result) throw new Error(`${name}: no server (exit code ${child.exitCode}): ${output().slice(-1_000)}`)
      if (!result.ok) throw new Error(`${name}: ${result.message}`)
      return result.value as T
    },
    async caughtUp() {},
    async metrics() {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
      return (await fetch(new URL('/metrics', baseUrl), { headers })).text()
    },
    output,
    exited: child.exited,
    async crash() {
      child.kill('SIGKILL')
      await child.exited
    },
    stop() {
      child.kill('SIGTERM')
      return child.exited
    },
  }
}

/** Nothing balances between the instances, so none has to serve on after SIGTERM. */
export const INSTANCE_ENV = {
  TOLLGATE_KEY_PEPPER: '5a'.repeat(32),
  TOLLGATE_MASTER_KEY: 'c3'.repeat(32),
  TOLLGATE_LAME_DUCK_MS: '0',
}

/** Writes the declaration of the options into the database of a pair, as operators do before an update. */
async function applyDeclaration(databaseUrl: string, folder: string, { yaml, env }: GatewayOptions): Promise<void> {
  if (yaml === undefined) return
  const config = join(freshFolder(), 'tollgate.yaml')
  await Bun.write(config, withSandbox(yaml))
  const variables = { ...INSTANCE_ENV, ...env, TOLLGATE_DATABASE_URL: databaseUrl, TOLLGATE_CONFIG: config }
  const { code, err } = await runCommand(folder, ['apply'], variables)
  if (code !== 0) throw new Error(`tollgate apply: ${err}`)
}

type InstancePlace = { readonly folder: string; readonly port?: number | undefined }

/** Starts an instance at each place, one after the other. The first one makes the schema. */
async function startOn(
  url: string,
  places: readonly InstancePlace[],
  options: GatewayOptions,
): Promise<RunningGateway[]> {
  const instances: RunningGateway[] = []
  for (const { folder, port = 0 } of places) {
    const env = { ...INSTANCE_ENV, ...options.env, PORT: String(port), TOLLGATE_DATABASE_URL: url }
    instances.push(await startInstance(folder, { ...options, env }))
  }
  return instances
}

/** Starts instances on one PostgreSQL database, each with an address of its own. The test stops them. */
export async function startInstances(count: number, options: GatewayOptions = {}): Promise<RunningGateway[]> {
  const { freshDatabase } = await import('./postgres.ts')
  return startOn(
    await freshDatabase(),
    Array.from({ length: count }, () => ({ folder: freshFolder() })),
    options,
  )
}

/** Starts gateways on one PostgreSQL database with an account and a key in common. The test closes them. */
export async function startCluster(count: number, options: GatewayOptions): Promise<TestGateway[]> {
  const { freshDatabase } = await import('./postgres.ts')
  const env = { ...INSTANCE_ENV, ...options.env, TOLLGATE_DATABASE_URL: await freshDatabase() }
  const first = await startGateway({ ...options, env })
  const gateways = [first]
  while (gateways.length < count) gateways.push(await startGateway({ ...options, env, as: first }))
  return gateways
}

async function startPair(folder: string, options: GatewayOptions): Promise<RunningGateway> {
  const storage = await storageOf(folder, options.yaml)
  const { databaseUrl, s3, secondFolder } = storage
  const shared = { ...options, env: { ...s3.env, ...options.env } }
  if (options.yaml !== undefined && options.yaml !== storage.yaml) {
    await applyDeclaration(databaseUrl, folder, shared)
    storage.yaml = options.yaml
  }
  // A port that the test has chosen is the one that clients use.
  const { PORT } = options.env ?? {}
  const portOf = ({ baseUrl }: RunningGateway): number => Number(new URL(baseUrl).port)
  const chosen = PORT === undefined ? [] : [freePort(), freePort()]
  const places = [folder, secondFolder].map((one, i) => ({ folder: one, port: chosen[i] }))
  const both = await startOn(databaseUrl, places, shared)
  const [first, second] = both as [RunningGateway, RunningGateway]
  const proxy = startAlternatingProxy(PORT === undefined ? both.map(portOf) : chosen, Number(PORT ?? 0))
  let turn = 0
  return {
    ...first,
    pids: both.map(({ pid }) => pid),
    folders: [folder, secondFolder],
    baseUrl: `http://127.0.0.1:${proxy.port}/v1`,
    async operate<T>(name: string, input?: object) {
      const [one, other] = turn++ % 2 === 0 ? [first, second] : [second, first]
      const value = await one.operate<T>(name, input)
      // The other instance has every change within two seconds, and a test expects it at once. An operation begins with
      // what is new. The first request with a new key does so too.
      if (name !== 'key.create') await other.operate('user.list')
      return value
    },
    async caughtUp() {
      await Promise.all(both.map((one) => one.operate('user.list')))
    },
    metrics: async () => addedUp(await Promise.all(both.map((one) => one.metrics()))),
    output: () => both.map(({ output }) => output()).join(''),
    async crash() {
      await Promise.all(both.map((one) => one.crash()))
      proxy.stop()
    },
    async stop() {
      const codes = await Promise.all(both.map((one) => one.stop()))
      proxy.stop()
      return Math.max(...codes)
    },
  }
}

/** The texts of `/metrics`, with the sums of their samples. */
function addedUp([text = '', ...others]: readonly string[]): string {
  const samples = others.flatMap((other) => other.split('\n')).map((line) => /^([^#].*) (\S+)$/.exec(line))
  const sums = new Map<string, number>()
  for (const [, name = '', value] of samples.filter((sample) => sample !== null))
    sums.set(name, (sums.get(name) ?? 0) + Number(value))
  const lines = text.split('\n').map((line) => {
    const [, name = '', value] = /^([^#].*) (\S+)$/.exec(line) ?? []
    const added = sums.get(name)
    sums.delete(name)
    return added === undefined ? line : `${name} ${Number(value) + added}`
  })
  // What only another one has.
  return [...lines, ...[...sums].map(([name, value]) => `${name} ${value}`), ''].join('\n')
}

/** Tests have accounts of their own: where the file says nothing, these have the sandbox's models, too. */
const withSandbox = (yaml: string): string => (/^sandbox:/m.test(yaml) ? yaml : `${yaml}\nsandbox: true\n`)

export const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'tollgate-test-'))

export type TestSandbox = { readonly baseUrl: string; stats(): Promise<Record<string, unknown>>; stop(): Promise<void> }

/** Starts the sandbox vendor alone. */
export async function startSandboxProcess(): Promise<TestSandbox> {
  const { child, baseUrl } = await startProcess([join(ROOT, 'test/support/sandbox-main.ts')])
  return {
    baseUrl,
    stats: async () =>
      (await (await fetch(`${new URL(baseUrl).origin}/sandbox/stats`)).json()) as Record<string, unknown>,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

type StartedProcess = { readonly child: Bun.Subprocess; readonly baseUrl: string; readonly output: () => string }

type Environment = Readonly<Record<string, string>>

/** Starts a program and waits until it says where it listens. */
async function startProcess(
  args: readonly string[],
  env: Environment = {},
  { onSpawn, descriptors }: Pick<GatewayOptions, 'onSpawn' | 'descriptors'> = {},
): Promise<StartedProcess> {
  const limited = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`]
  const child = Bun.spawn([...limited, process.execPath, ...process.execArgv, ...args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: tmpdir(),
      ...bunEnv,
      ...env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
    cwd: ROOT,
  })
  onSpawn?.(child.pid)
  let text = ''
  const { promise: listening, resolve: found, reject } = Promise.withResolvers<string>()
  const follow = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      const match = /https?:\/\/[\w.:[\]/]+\/v1/.exec(text)
      if (match) found(match[0])
    }
  }
  void follow(child.stdout)
  void follow(child.stderr)
  void child.exited.then((code) => reject(new Error(`exited with ${code} before listening:\n${text}`)))
  const timer = setTimeout(() => reject(new Error(`did not start in time:\n${text}`)), START_TIMEOUT_MS)
  const baseUrl = await listening
  clearTimeout(timer)
  return { child, baseUrl, output: () => text }
}

/** A chat request to a gateway, as plain fetch: no SDK in between. */
export function chat(
  gateway: Pick<TestGateway, 'baseUrl' | 'key'>,
  body: object,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], ...body }),
    ...init,
  })
}
