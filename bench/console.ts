/**
 * node bench/run.js console [--requests N] [--rounds N] [--assert]: what the console's pages ask, over a month of a
 * million requests, and what that does to chat meanwhile. Medians; the bar is 50 ms a call.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { callControl } from '../src/admin/control.ts'
import { seed, type Seeded } from './console-seed.ts'
import { freePort } from './contender.ts'
import { diskFolder } from './disk-folder.ts'

const ROOT = resolve(import.meta.dir, '..')
const BAR_MS = 50
const P99_FACTOR = 1.1
const CHATS = 600
const CHAT_ROUNDS = 5
const WAIT_MS = 60_000

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '25' },
    assert: { type: 'boolean', default: false },
  },
})

type Server = { readonly origin: string; stop(): Promise<void> }

async function serve(data: string): Promise<Server> {
  const port = await freePort()
  const child = Bun.spawn([process.execPath, '--no-env-file', join(ROOT, 'src/main.ts'), 'serve'], {
    cwd: data,
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), TOLLGATE_DATA: data, TOLLGATE_LOG: 'error' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const origin = `http://127.0.0.1:${port}`
  for (const startedMs = Date.now(); ; await Bun.sleep(50)) {
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined)
    if (answer?.ok) break
    if (Date.now() - startedMs > WAIT_MS) throw new Error('it did not start')
  }
  return {
    origin,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

async function operate<T>(data: string, name: string, input: object): Promise<T> {
  const result = await callControl(data, name, input)
  if (!result?.ok) throw new Error(`${name}: ${result?.message ?? 'no server'}`)
  return result.value as T
}

/** Every call of every page that reads from the store, dear ones first. */
const callsOf = ({ accountId, keyId, rareKeyId, requestId }: Seeded): readonly (readonly [string, string])[] => {
  const at = `/accounts/${accountId}`
  const month = `from=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`
  return [
    ['overview, 24 h', `${at}/overview?range=24h`],
    ['overview, 7 days', `${at}/overview?range=7d`],
    ['overview, 30 days', `${at}/overview?range=30d`],
    ['usage, 30 days by day and model', `${at}/usage?${month}&by=model`],
    ['usage, 30 days by day and key', `${at}/usage?${month}&by=key`],
    ['usage, 30 days by hour', `${at}/usage?${month}&step=hour`],
    ['usage, 7 days by hour and endpoint', `${at}/usage?step=hour&by=endpoint`],
    ['usage, 30 days of one key', `${at}/usage?${month}&key=${keyId}`],
    ['requests, the newest', `${at}/requests`],
    ['requests, of a key', `${at}/requests?key=${keyId}`],
    ['requests, of a key used 1 in 100,000', `${at}/requests?key=${rareKeyId}`],
    ['requests, failed', `${at}/requests?outcome=failed`],
    ['requests, failed of a model', `${at}/requests?outcome=failed&model=model-11`],
    ['requests, dear ones', `${at}/requests?charged_min_nano_usd=4999000`],
    ['requests, none that slow', `${at}/requests?total_ms_min=60000`],
    ['requests, from the middle', `${at}/requests?cursor=${requestId}`],
    ['request, one', `${at}/requests/${requestId}`],
    ['request, anywhere', `/requests/${requestId}`],
    ['tasks', `${at}/tasks`],
    ['keys', `${at}/keys`],
    ['models of an account', `${at}/models`],
    ['ledger, this month', `${at}/ledger`],
    ['holds', `${at}/holds`],
    ['accounts', '/accounts'],
    ['accounts, searched', '/accounts?q=seeded%204'],
    ['models', '/models'],
    ['providers', '/providers'],
    ['health', '/health'],
    ['usage of all accounts, 7 days by account', '/usage?by=account'],
    ['usage of all accounts, 30 days by model', `/usage?${month}&by=model`],
    ['audit log', '/audit'],
    ['codes', '/codes'],
    ['users', '/users'],
  ]
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

type Timed = { readonly name: string; readonly p50: number; readonly p95: number; readonly kib: number }

async function time(
  origin: string,
  headers: Record<string, string>,
  [name, path]: readonly [string, string],
): Promise<Timed> {
  const took: number[] = []
  let bytes = 0
  for (let i = 0; i <= Number(options.rounds); i++) {
    const startedMs = performance.now()
    const answer = await fetch(`${origin}/admin/v1${path}`, { headers })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
    // The first warms up what is compiled and cached once.
    if (i > 0) took.push(performance.now() - startedMs)
  }
  took.sort((a, b) => a - b)
  return { name, p50: quantile(took, 0.5), p95: quantile(took, 0.95), kib: bytes / 1024 }
}

/** Chat, one call after the other; while `beside` runs, where there is one. Milliseconds of each, sorted. */
async function chat(
  origin: string,
  key: string,
  beside?: (isOver: () => boolean) => Promise<void>,
): Promise<readonly number[]> {
  let isOver = false
  const other = beside?.(() => isOver)
  const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }], max_tokens: 8 })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const took: number[] = []
  for (let i = 0; i < CHATS; i++) {
    const startedMs = performance.now()
    const answer = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`chat: ${answer.status}`)
    took.push(performance.now() - startedMs)
  }
  isOver = true
  await other
  return took.toSorted((a, b) => a - b)
}

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const ms = (value: number): string => value.toFixed(1).padStart(8)

const folder = mkdtempSync(join(diskFolder(), 'tollgate-console-bench-'))
let failed = false
const running: Server[] = []
try {
  const first = await serve(folder)
  await first.stop()
  const startedMs = performance.now()
  const seeded = seed(folder, Number(options.requests))
  show(
    `${seeded.requests} requests in 30 days, half of them of one account (${Math.round((performance.now() - startedMs) / 1000)} s to write)\n`,
  )
  const server = await serve(folder)
  running.push(server)
  show(`${Math.round(await foldedMs(folder))} ms until its days were summed up\n`)
  const { secret } = await operate<{ secret: string }>(folder, 'management_key.create', { name: 'bench' })
  const session = await signedIn(folder, server.origin)
  const calls = callsOf(seeded)
  show(`${'call'.padEnd(44)}  p50 ms    p95 ms       KiB`)
  for (const call of calls) {
    const headers = call[1] === '/users' ? session : { authorization: `Bearer ${secret}` }
    const { name, p50, p95, kib } = await time(server.origin, headers, call)
    failed ||= p50 > BAR_MS
    show(`${name.padEnd(44)}${ms(p50)}  ${ms(p95)}  ${ms(kib)}${p50 > BAR_MS ? '  MISSED' : ''}`)
  }
  await operate(folder, 'account.create', { name: 'chatty', balance: '100' })
  const { secret: key } = await operate<{ secret: string }>(folder, 'key.create', { account: 'chatty', name: 'k' })
  const pages = async (isOver: () => boolean): Promise<void> => {
    for (let i = 0; !isOver(); i++) {
      const [, path] = calls[i % calls.length] ?? ['', '']
      await fetch(`${server.origin}/admin/v1${path}`, { headers: session }).then((answer) => answer.arrayBuffer())
      // Somebody who clicks through the pages three times a second.
      await Bun.sleep(333)
    }
  }
  const figures: { p50: number; p99: number; p50Beside: number; p99Beside: number }[] = []
  await chat(server.origin, key)
  for (let i = 0; i < CHAT_ROUNDS; i++) {
    const [alone, beside] = [await chat(server.origin, key), await chat(server.origin, key, pages)]
    const [p50, p99] = [quantile(alone, 0.5), quantile(alone, 0.99)]
    figures.push({ p50, p99, p50Beside: quantile(beside, 0.5), p99Beside: quantile(beside, 0.99) })
  }
  const median = (of: (round: (typeof figures)[number]) => number): number =>
    quantile(
      figures.map(of).toSorted((a, b) => a - b),
      0.5,
    )
  const factor = median(({ p99, p99Beside }) => p99Beside / p99)
  show(`\nchat p50 / p99 ms: alone ${ms(median(({ p50 }) => p50))} /${ms(median(({ p99 }) => p99))}`)
  show(
    `with the console in use  ${ms(median(({ p50Beside }) => p50Beside))} /${ms(median(({ p99Beside }) => p99Beside))}`,
  )
  show(`p99 × ${factor.toFixed(2)}, median of ${CHAT_ROUNDS} rounds, each beside the other; bar ${P99_FACTOR}`)
  failed ||= factor > P99_FACTOR
} finally {
  for (const each of running) await each.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (failed && options.assert) process.exit(1)

/** How long the server took, beside requests, to sum up the days. */
async function foldedMs(data: string): Promise<number> {
  const startedMs = performance.now()
  const db = new Database(join(data, 'tollgate.db'), { readonly: true })
  // A day is summed up ten minutes after its end.
  const today = Math.floor((Date.now() - 600_000) / 86_400_000)
  try {
    const until = db.query('SELECT day FROM usage_days_until')
    while ((until.get() as { day: number }).day < today) {
      if (performance.now() - startedMs > WAIT_MS) throw new Error('the days were not summed up')
      await Bun.sleep(20)
    }
  } finally {
    db.close()
  }
  return performance.now() - startedMs
}

/** The cookie of an operator. */
async function signedIn(data: string, origin: string): Promise<Record<string, string>> {
  const input = { name: 'bench', role: 'operator' }
  const { setup_path: path } = await operate<{ setup_path: string }>(data, 'user.create', input)
  const body = JSON.stringify({ token: path.split('#')[1], password: 'a long bench password' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${origin}/admin/v1/links/redeem`, { method: 'POST', headers, body })
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
