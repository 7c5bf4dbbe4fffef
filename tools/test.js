// node tools/test.js [arguments of bun test]: runs the whole suite and ends with one line, `N passed, N failed`.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnv } from '../bin/bun-env.js'
import { findBun } from '../bin/find-bun.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const SCRATCH_BYTES_MIN = 4 * 1024 ** 3
const BROWSER_CLOSE_MS = 10_000

const given = process.argv.slice(2)
const namesFiles = given.some((arg, i) => !arg.startsWith('-') && !['-t', '--test-name-pattern'].includes(given[i - 1]))
// With `./` Bun takes the words as folders. Without it Bun searches for them anywhere in a path.
const folders = namesFiles
  ? []
  : ['./src', './sandbox', './tools', './web/src', './test'].filter((folder) => existsSync(folder))
// Workers are processes, and each file has its worker's globals alone. That is not only faster. Without --parallel a
// test that calls process.exit(0) ends the whole run as a success; with it the file counts as crashed (Bun 1.4.5). One
// worker more than there are cores saves a tenth of the time, but tests that depend on time then fail now and then.
const workers = Math.max(2, Math.min(4, availableParallelism()))
const scratchFolder = scratch()
const work = mkdtempSync(join(scratchFolder, 'tollgate-test-'))
// Elsewhere a folder within `work` may be too long a name for a socket.
const scratchEnv = scratchFolder === tmpdir() ? {} : { TMPDIR: work }
const report = join(work, 'junit.xml')
const timings = join(work, 'timings.json')
// The slowest files of test/ come first, because one that began last would leave the other cores idle at the end. Files
// that compute and files that wait alternate, because two of a kind are slower together.
const longest = [
  'console/widths',
  'operations/long-waits',
  'console/pages',
  'cli/cli',
  'load/memory',
  'load/wide-answers',
  'console/totals',
  'operations/failing-writes',
  'routing/busy-upstream',
  'money/ledger-mutants',
  'console/lists',
  'load/picture-bombs',
  'console/inert',
  'operations/backup',
  'video/tasks',
  'vendors/moved-mutants',
  'console/story',
  'sdk/openai-python',
  'load/malformed',
  'console/play-video',
  'video/crash',
  'load/large-replies',
  'api/idempotency',
  'money/crash',
  'console/requests',
  'console/attacks',
  'sdk/heartbeat',
  'console/operator',
  'money/funds',
  'console/playground',
  'sdk/gemini',
  'operations/runners',
]
writeFileSync(timings, JSON.stringify({ version: 1, files: timesOf(folders) }))

const browser = await startBrowser()
const code = await run(findBun(), [
  'test',
  `--parallel=${workers}`,
  `--timings=${timings}`,
  '--timeout=60000',
  '--no-env-file',
  // Gateways that a test started must not survive, even if this run is killed.
  '--no-orphans',
  '--reporter=junit',
  `--reporter-outfile=${report}`,
  ...folders,
  ...given,
])
await browser.stop()
const { passed, failed, skipped } = count(code)
rmSync(work, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** A time for every test file. Bun sorts the files by it and begins with those that have none. */
function timesOf(from) {
  const names = from.flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  const rankOf = (name) => longest.findIndex((long) => name === join('test', `${long}.test.ts`))
  const timeOf = (name) => (rankOf(name) < 0 ? 1 : 1_000 - rankOf(name))
  return Object.fromEntries(names.filter((name) => name.endsWith('.test.ts')).map((name) => [name, timeOf(name)]))
}

/**
 * The folder of the tests' data: in memory, if there is enough. A test that starts a gateway and calls it waits for
 * dozens of syncs, of 1 to 5 ms each on a disk. No test can see what a sync does to a disk.
 */
function scratch() {
  const shared = '/dev/shm'
  if (!existsSync(shared)) return tmpdir()
  const { bavail, bsize } = statfsSync(shared)
  return bavail * bsize > SCRATCH_BYTES_MIN ? shared : tmpdir()
}

/** The process that drives the browser of all files. It starts the browser when the first of them needs one. */
async function startBrowser() {
  const socket = join(work, 'browser.sock')
  const child = spawn(process.execPath, ['test/support/browser-process.js', '.tmp/browser', socket], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...scratchEnv, HOME: work },
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  // Where it cannot start it has said why, and so do the tests that need it.
  await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended])
  const stop = () => {
    child.stdin.on('error', () => undefined).end()
    setTimeout(() => child.kill('SIGKILL'), BROWSER_CLOSE_MS).unref()
    return ended
  }
  return { socket, stop }
}

/** Resolves to the exit code, or to the signal that ended the process. */
function run(command, args) {
  const env = {
    ...process.env,
    ...scratchEnv,
    TOLLGATE_BROWSER_SOCKET: browser.socket,
    BUN_CONFIG_MAX_HTTP_REQUESTS: bunEnv.BUN_CONFIG_MAX_HTTP_REQUESTS,
  }
  const child = spawn(command, args, { stdio: 'inherit', env })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (exitCode, signal) => resolve(exitCode ?? signal))
  })
}

/** Reads the totals on the root element of the JUnit report. */
function count(exitCode) {
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const total = (name) => Number(new RegExp(`<testsuites [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1] ?? 0)
  const [tests, failures, skipped] = [total('tests'), total('failures'), total('skipped')]
  const passed = tests - failures - skipped
  // The report does not count a file that cannot be loaded, or a runner that dies. It counts as one failure here.
  const failed = failures === 0 && exitCode !== 0 ? 1 : failures
  return { passed, failed, skipped }
}
