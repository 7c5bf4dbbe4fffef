// node tools/test.js [--cluster] [arguments of bun test]: runs the whole suite and ends with one line, `N passed, N
// failed`. Files whose tests mostly wait run in a lane of their own beside the others. Their output comes when all of
// them have ended. With --cluster, or at the end of that lane, gateways under test are two instances on one PostgreSQL.
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

const isCluster = process.argv[2] === '--cluster'
const given = process.argv.slice(isCluster ? 3 : 2)
const namesFiles = given.some((arg, i) => !arg.startsWith('-') && !['-t', '--test-name-pattern'].includes(given[i - 1]))
// With `./` Bun takes the words as folders. Without it Bun searches for them anywhere in a path.
const roots = ['./src', './sandbox', './tools', './web/src', './test'].filter((folder) => existsSync(folder))
const folders = namesFiles ? [] : roots
// Workers are processes, and each file has its worker's globals alone. That is not only faster. Without --parallel a
// test that calls process.exit(0) ends the whole run as a success; with it the file counts as crashed (Bun 1.4.5). One
// worker more than there are cores saves a tenth of the time, but tests that depend on time then fail now and then.
const workers = Math.max(2, Math.min(4, availableParallelism()))
const scratchFolder = scratch()
const work = mkdtempSync(join(scratchFolder, 'tollgate-test-'))
// Elsewhere a folder within `work` may be too long a name for a socket.
const scratchEnv = scratchFolder === tmpdir() ? {} : { TMPDIR: work }
// The slowest files of test/ come first, because one that began last would leave the other cores idle at the end. Files
// that compute and files that wait alternate, because two of a kind are slower together.
const longest = [
  'console/pages',
  'load/memory',
  'console/widths',
  'cli/cli',
  'sdk/openai-images',
  'operations/rolling-cluster',
  'console/totals',
  'load/wide-answers',
  'operations/backup',
  'operations/failing-writes',
  'console/api',
  'load/picture-bombs',
  'money/cluster-gateways',
  'sdk/openai-python',
  'console/lists',
  'vendors/vendor-contract',
  'console/inert',
  'money/ledger-mutants',
  'money/refused-holds',
  'load/large-replies',
  'console/requests',
  'images/browser',
  'money/shared-histories',
  'console/play-video',
  'load/malformed',
  'console/open-ends',
  'load/floods',
  'console/story',
  'vendors/moved-mutants',
  'files/s3-storage',
  'money/cluster-crash',
  'console/keyboard',
  'images/images',
  'console/playground',
  'console/attacks',
  'money/cluster-mutants',
  'console/taking-back',
  'video/crash',
  'console/operator',
  'operations/tls',
  'api/wordless-streams',
  'money/crash',
  'money/cluster-limits',
  'console/guessing',
  'money/funds',
  'money/shared-funds',
  'sdk/heartbeat',
  'console/play-chat',
  'images/cuts',
  'api/shapes',
  'console/secrets',
  'load/overload',
  'cli/slips',
]
// Files whose tests mostly wait: for limits of seconds, for clients that try again, for vendors that are slow. A worker
// that runs them leaves its core idle. All of them use a quarter of a core. The longest of them come first.
const waiting = [
  'test/money/postgres-writer',
  'test/video/tasks',
  'test/operations/long-waits',
  'test/api/responses-of-instances',
  'test/operations/workers',
  'test/routing/busy-upstream',
  'test/video/video',
  'test/api/idempotency',
  'src/inbound/connection-limiter',
  'test/api/responses-background',
  'test/video/content',
  'test/cli/video',
  'test/sdk/openai',
  'test/sdk/gemini',
  'test/video/crowd',
  'test/console/live',
  'test/routing/connections',
  'test/load/short-memory',
  'test/files/s3-gateway',
  'test/operations/rolling-restart',
  'test/operations/runners',
  'test/routing/outbound',
  'test/routing/unreachable',
  'test/routing/timeouts',
  'test/images/fetches',
  'src/lib/runtime/reply-memory',
  'src/console/tail',
]

/** What `npm run test:cluster` runs on two instances: all that clients and SDKs do. */
const clustered = ['test/api/', 'test/sdk/', 'test/console/api', 'test/video/', 'test/images/', 'test/files/']
/** What every run has of it. */
const clusteredAlways = ['api/chat-api', 'api/embeddings', 'api/conformance', 'console/api', 'video/creation']

const files = roots
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.test.ts'))
const isWaiting = (name) => waiting.some((one) => name === `${one}.test.ts`)
const database = isCluster || files.some(usesDatabase) ? await startDatabase() : undefined
/** The variables of gateways in pairs, and of tests that need a database. */
const shared = database === undefined ? {} : { TOLLGATE_TEST_DATABASE_URL: database.url }
const pairs = { ...shared, TOLLGATE_TEST_STORE: 'postgres' }
/** The runs of Bun: their workers, what they run, and where their output goes. Arguments are for a single run. */
const lanes = lanesOf()

const browser = await startBrowser()
const counts = (await Promise.all(lanes.map(runInTurn))).flat()
await Promise.all([browser.stop(), database?.stop()])
rmSync(work, { recursive: true, force: true })

// The last lines say which tests failed, because their own output may be far above.
for (const name of counts.flatMap((one) => one.failures)) console.log(`(fail) ${name}`)
const sumOf = (name) => counts.reduce((sum, one) => sum + one[name], 0)
const [passed, failed, skipped] = [sumOf('passed'), sumOf('failed'), sumOf('skipped')]
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

function lanesOf() {
  if (isCluster) {
    const tests = pathsOf(files.filter((name) => clustered.some((one) => name.startsWith(one))))
    return [[{ workers, tests: namesFiles ? given : [...tests, ...given], stdio: 'inherit', env: pairs }]]
  }
  if (given.length > 0) return [[{ workers, tests: [...folders, ...given], stdio: 'inherit', env: shared }]]
  const paired = clusteredAlways.map((name) => `./test/${name}.test.ts`)
  return [
    [{ workers, tests: pathsOf(files.filter((name) => !isWaiting(name))), stdio: 'inherit', env: shared }],
    // Pairs compute, so they wait until the lane of waiting files has ended.
    [
      { workers: 1, tests: pathsOf(files.filter(isWaiting)), stdio: 'pipe', env: shared },
      { workers: 1, tests: paired, stdio: 'pipe', env: pairs },
    ],
  ]
}

/** Whether a file of this run makes databases. If files are named, the others do not run. */
function usesDatabase(file) {
  const runs = !namesFiles || given.some((name) => `./${file}`.startsWith(name) || file.includes(name))
  return runs && /postgres|freshDatabase/i.test(readFileSync(file, 'utf8'))
}

/** With `./` Bun takes a name as a path. */
function pathsOf(names) {
  return names.map((name) => `./${name}`)
}

/** The runs of a lane go one after the other. */
async function runInTurn(runs, lane) {
  const done = []
  for (const [at, one] of runs.entries()) done.push(await runBun(one, `${lane}-${at}`))
  return done
}

/** Resolves to the counts of the tests. */
async function runBun({ workers: processes, tests, stdio, env }, name) {
  const timings = join(work, `timings-${name}.json`)
  const report = join(work, `junit-${name}.xml`)
  const times = Object.fromEntries(files.map((file) => [file, timeOf(file)]))
  writeFileSync(timings, JSON.stringify({ version: 1, files: times }))
  const args = [
    'test',
    `--parallel=${processes}`,
    `--timings=${timings}`,
    '--timeout=60000',
    '--no-env-file',
    // Gateways that a test started must not survive, even if this run is killed.
    '--no-orphans',
    '--reporter=junit',
    `--reporter-outfile=${report}`,
    ...tests,
  ]
  return count(report, await run(findBun(), args, { stdio, env }))
}

/** Bun sorts the files by their times and begins with the longest. */
function timeOf(name) {
  const rank = isWaiting(name)
    ? waiting.findIndex((one) => name === `${one}.test.ts`)
    : longest.findIndex((one) => name === join('test', `${one}.test.ts`))
  return rank < 0 ? 1 : 1_000 - rank
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

/** A PostgreSQL for all files, or the one that is named. Where it cannot start, the tests that need it say why. */
async function startDatabase() {
  const given = process.env.TOLLGATE_TEST_DATABASE_URL
  if (given !== undefined) return { url: given, stop: () => undefined }
  const child = spawn(findBun(), ['--no-env-file', 'test/support/postgres-main.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...scratchEnv },
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const url = await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended])
  if (typeof url === 'number') return undefined
  const stop = () => {
    child.stdin.on('error', () => undefined).end()
    return ended
  }
  return { url: String(url).trim(), stop }
}

/** Resolves to the exit code, or to the signal that ended the process. Output that is piped is printed at the end. */
function run(command, args, { stdio, env: own }) {
  const env = {
    ...process.env,
    ...own,
    ...scratchEnv,
    TOLLGATE_BROWSER_SOCKET: browser.socket,
    BUN_CONFIG_MAX_HTTP_REQUESTS: bunEnv.BUN_CONFIG_MAX_HTTP_REQUESTS,
  }
  const child = spawn(command, args, { stdio: ['inherit', stdio, stdio], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      process.stdout.write(output)
      resolve(exitCode ?? signal)
    })
  })
}

/** Reads the totals on the root element of the JUnit report, and the names of the tests that failed. */
function count(report, exitCode) {
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const total = (name) => Number(new RegExp(`<testsuites [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1] ?? 0)
  const cases = xml.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*<failure/g)
  const failures = Array.from(cases, ([, name, group, file]) => `${file}: ${group} > ${name}`)
  const [tests, failed, skipped] = [total('tests'), total('failures'), total('skipped')]
  const passed = tests - failed - skipped
  // The report does not count a file that cannot be loaded, or a runner that dies. It counts as one failure here. In a
  // single worker, a test that calls process.exit(0) ends the run without a report.
  if (failed > 0 || (exitCode === 0 && tests > 0)) return { passed, failed, skipped, failures }
  return { passed, failed: 1, skipped, failures: ['a file that could not be loaded, or a run that died: see above'] }
}
