/**
 * bun bench/start.ts --by launcher|program: the time from the start of the process to its first answered requests, on a
 * data folder that has been used before. Prints one line of JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bunEnv } from '../bin/bun-env.js'
import { programFile } from '../bin/program.js'
import { freePort } from './contender.ts'
import { diskFolder } from './disk-folder.ts'
import type { Measurement } from './figures.ts'

const ROOT = resolve(import.meta.dir, '..')
const STARTS = 5
const GIVE_UP_MS = 20_000

const { values: options } = parseArgs({ options: { by: { type: 'string', default: 'launcher' } } })

/** The command that `npx tollgate` runs, and the program alone, which Node starts. */
const commands: Readonly<Record<string, readonly string[]>> = {
  launcher: ['node', join(ROOT, 'bin/tollgate.js'), 'serve'],
  program: [process.execPath, '--no-env-file', `--config=${ROOT}/package.json`, programFile(ROOT), 'serve'],
}

type Start = { readonly answerMs: number; readonly chatMs: number; readonly cpuMs: number }

type Place = { readonly folder: string; readonly port: number }

function spawn({ folder, port }: Place): Bun.ReadableSubprocess {
  return Bun.spawn([...(commands[options.by] ?? [])], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: String(port),
      TOLLGATE_DATA: join(folder, 'data'),
      ...bunEnv,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Resolves when the port accepts a connection. It tries every millisecond, which costs the start next to nothing. */
async function listening(port: number): Promise<void> {
  const giveUpMs = performance.now() + GIVE_UP_MS
  const accepts = (): Promise<boolean> =>
    new Promise((done) => {
      const socket = connect({ port, host: '127.0.0.1' })
      const end = (isUp: boolean): void => {
        socket.destroy()
        done(isUp)
      }
      // After enough attempts the system gives this socket the very port that it calls. It has then connected to
      // itself.
      socket.once('connect', () => end(socket.localPort !== port))
      socket.once('error', () => end(false))
    })
  while (!(await accepts())) {
    if (performance.now() > giveUpMs) throw new Error('it did not start')
    await Bun.sleep(1)
  }
}

async function ask(port: number, key: string, path: string, body?: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`)
}

const chat = { model: 'sandbox-mini', max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] }

async function end(child: Bun.ReadableSubprocess): Promise<void> {
  child.kill('SIGTERM')
  await child.exited
}

/** The first start on the folder, which makes the database and the first key. */
async function prepare(place: Place): Promise<string> {
  const child = spawn(place)
  await listening(place.port)
  const reader = child.stdout.getReader()
  let [output, key] = ['', '']
  for (const decoder = new TextDecoder(); key === ''; key = /sk-tg-\w+/.exec(output)?.[0] ?? '') {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the output has no key: ${output}`)
    output += decoder.decode(value)
  }
  await ask(place.port, key, '/chat/completions', chat)
  await end(child)
  return key
}

async function measure(place: Place, key: string): Promise<Start> {
  const startedMs = performance.now()
  const child = spawn(place)
  await listening(place.port)
  await ask(place.port, key, '/models')
  const answerMs = performance.now() - startedMs
  await ask(place.port, key, '/chat/completions', chat)
  const chatMs = performance.now() - startedMs
  await end(child)
  const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000
  return { answerMs, chatMs, cpuMs }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

const place: Place = { folder: mkdtempSync(join(diskFolder(), 'tollgate-start-')), port: await freePort() }
try {
  const key = await prepare(place)
  const starts: Start[] = []
  while (starts.length < STARTS) starts.push(await measure(place, key))
  const middle = (read: (start: Start) => number): number => median(starts.map(read))
  const values = {
    answerMs: middle(({ answerMs }) => answerMs),
    chatMs: middle(({ chatMs }) => chatMs),
    // CPU time from start to stop. On a machine with other work it says more than the clock.
    cpuMs: middle(({ cpuMs }) => cpuMs),
  }
  console.log(JSON.stringify({ values } satisfies Measurement))
} finally {
  rmSync(place.folder, { recursive: true })
}
