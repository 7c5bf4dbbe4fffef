/** What is measured: a gateway as a manifest, and the running of one. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Where a contender stands: a folder of its own, its port, and the vendor it has to relay to. */
export type Field = {
  readonly folder: string
  readonly port: number
  readonly upstreamPort: number
  /** The models it has to offer; the vendor knows them by the same names. */
  readonly models: readonly string[]
}

/** How a gateway is started and spoken to. Another gateway is one more of these, in contenders/. */
export type Contender = {
  readonly name: string
  /** Fetches the program into `folder`, which is there. Throws where it cannot be had: then it is left out. */
  install?(folder: string): Promise<void>
  /** Program and arguments; it must stay in the foreground. The program's absence leaves the contender out. */
  command(field: Field): readonly [string, ...string[]]
  /** Files to be written into the folder before the start, by name. */
  files?(field: Field): Readonly<Record<string, string>>
  env?(field: Field): Readonly<Record<string, string>>
  /** `/v1`, before `/chat/completions` */
  readonly basePath: string
  /** Can ask a vendor that speaks Messages for a client that speaks chat. */
  readonly translates?: boolean
  /** Compiled while it runs: it gets some seconds of load before anything is counted. */
  readonly needsWarmUp?: boolean
  /** The part of the requests that it gets, where all of them would take it minutes. */
  readonly effort?: number
  readonly startTimeoutMs?: number
  /** Called once it listens: makes what requests need, and returns their headers. */
  prepare?(field: Field): Promise<Readonly<Record<string, string>>>
  /** Called after the last request, before the stop: what its books have against `requests` of them. */
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

/** A port nobody listens on at the moment. */
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

/** Starts a contender and waits until it listens. Undefined when its program is not installed. */
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

/** Runs a program to its end, for `install`. Throws with what it said when it fails. */
export async function runToEnd(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, env: process.env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}:\n${(errors || output).slice(-1_500)}`)
}
