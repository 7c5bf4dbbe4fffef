// node tools/test.js [arguments of bun test]: runs the whole suite and ends with one line, `N passed, N failed`.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnv } from '../bin/bun-env.js'
import { findBun } from '../bin/find-bun.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const given = process.argv.slice(2)
const namesFiles = given.some((arg, i) => !arg.startsWith('-') && !['-t', '--test-name-pattern'].includes(given[i - 1]))
// With `./` Bun takes them as folders; without, as words to look for anywhere in a path.
const folders = namesFiles ? [] : ['./src', './tools', './web/src', './test'].filter((folder) => existsSync(folder))
// Workers are processes, and a file has the worker's globals for itself. That is not only faster: without --parallel a
// test that calls process.exit(0) ends the whole run as a success, with it the file counts as crashed (Bun 1.4.5).
const workers = Math.max(2, Math.min(4, availableParallelism() + 1))
const report = join(mkdtempSync(join(tmpdir(), 'tollgate-test-')), 'junit.xml')

const code = await run(findBun(), [
  'test',
  `--parallel=${workers}`,
  '--timeout=60000',
  '--no-env-file',
  // Gateways that a test started, and this run itself when it is killed, must leave nothing behind.
  '--no-orphans',
  '--reporter=junit',
  `--reporter-outfile=${report}`,
  ...folders,
  ...given,
])
const { passed, failed, skipped } = count(code)
rmSync(join(report, '..'), { recursive: true })

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** Resolves to the exit code, or to the signal that ended the process. */
function run(command, args) {
  const env = { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: bunEnv.BUN_CONFIG_MAX_HTTP_REQUESTS }
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
  // A file that cannot be loaded, or a runner that dies, is no failure in the report: it counts as one here.
  const failed = failures === 0 && exitCode !== 0 ? 1 : failures
  return { passed, failed, skipped }
}
