/** A contender: a gateway to measure, described by data, and the code that runs it. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** The place of a contender: its folder, its port, and the vendor that it relays to. */
export type Field = {
  readonly folder: string
  readonly port: number
  readonly upstreamPort: number
  /** The models to offer. The vendor uses the same names. */
  readonly models: readonly string[]
}

/** How to start and call a gateway. Another gateway is one more of these, in contenders/. */
export type Contender = {
  readonly name: string
  /** Installs the program into the existing `folder`. Throws if that fails; the contender is then left out. */
  install?(folder: string): Promise<void>
  /** Program and arguments. It must stay in the foreground. A missing program leaves the contender out. */
  command(field: Field): readonly [string, ...string[]]
  /** Files to write into the folder before the start, by name. */
  files?(field: Field): Readonly<Record<string, string>>
  env?(field: Field): Readonly<Record<string, string>>
  /** `/v1`, before `/chat/completions`. */
  readonly basePath: string
  /** Whether it can call a vendor that speaks Messages for a client that speaks chat. */
  readonly translates?: boolean
  /** Whether it is compiled while it runs. It then gets some seconds of load before anything is counted. */
  readonly needsWarmUp?: boolean
  /** The share of the requests that it gets, if all of them would take minutes. */
  readonly effort?: number
  readonly startTimeoutMs?: number
  /** Called once it listens. Makes what requests need and returns their headers. */
  prepare?(field: Field): Promise<Readonly<Record<string, string>>>
  /**
   * Called after the last request, before the stop. Returns the errors in its books, which must hold `requests`
   * requests.
   */
  inspect?(field: Field, requests: number): Promise<readonly string[]>
}

export type Running = {
  readonly contender: Contender
  readonly field: Field
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 40_000

/** A port on which no process listens at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  const closed = new Promise((done) => server.close(done))
  await closed
  return typeof address === 'object' && address ? address.port : 0
}

/** Starts a contender and waits until it listens. Undefined if its program is not installed. */
export async function start(contender: Contender, field: Field): Promise<Running | undefined> {
  mkdirSync(field.folder, { recursive: true })
  await contender.install?.(field.folder)
  const [program, ...args] = contender.command(field)
  if (!existsSync(program)) return undefined
  for (const [name, text] of Object.entries(contender.files?.(field) ?? {}))
    writeFileSync(join(field.folder, name), text)
  const outputFile = join(field.folder, 'output.log')
  const child = Bun.spawn([program, ...args], {
    cwd: field.folder,
    env: { PATH: process.env['PATH'] ?? '', ...contender.env?.(field) },
    stdin: 'ignore',
    stdout: Bun.file(join(field.folder, 'stdout.log')),
    stderr: Bun.file(outputFile),
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await child.exited
    clearTimeout(timer)
  }
  const deadlineMs = performance.now() + (contender.startTimeoutMs ?? START_TIMEOUT_MS)
  while (!(await listens(field.port))) {
    if (child.exitCode === null && performance.now() < deadlineMs) continue
    await stop()
    throw new Error(`${contender.name} did not start:\n${await Bun.file(outputFile).text()}`)
  }
  try {
    return { contender, field, pid: child.pid, headers: (await contender.prepare?.(field)) ?? {}, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function listens(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
    socket.end()
    return true
  } catch {
    await Bun.sleep(50)
    return false
  }
}

/** Runs a program to its end, for `install`. Throws with its output if it fails. */
export async function runToEnd(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, env: process.env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}:\n${(errors || output).slice(-1_500)}`)
}
