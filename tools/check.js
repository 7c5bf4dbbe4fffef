// node tools/check.js: every check of the code that needs no running gateway, in under two minutes. With --readers it
// leaves out the unit tests, for a run before the whole test suite.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const node = process.execPath
const formatted = ['src', 'sandbox', 'test', 'tools', 'bench', 'bin', 'web/src', 'web/vite.config.ts'].filter((name) =>
  existsSync(name),
)
/** Title and command. The binaries are named by path, because npx would add half a second to each. */
const readers = [
  ['format', node, 'node_modules/oxfmt/bin/oxfmt', '--check', ...formatted],
  ['lint', node, 'node_modules/oxlint/bin/oxlint'],
  ['types', node, 'node_modules/typescript/bin/tsc', '--noEmit'],
  ['types of the console', node, 'node_modules/typescript/bin/tsc', '--noEmit', '--project', 'web'],
  ['tidy', findBun(), '--no-env-file', 'tools/tidy.ts'],
  ['unused', node, 'node_modules/knip/bin/knip.js', '--no-progress'],
]
const unitTests = ['unit tests', node, 'tools/test.js', './src', './sandbox', './tools', './web/src']

// The readers only read, so they run at once and report in order. The tests then have the whole machine.
for (const finished of readers.map(run)) report(await finished)
if (!process.argv.includes('--readers')) report(await run(unitTests))

/**
 * Runs one step. Resolves to its title, time and output. The output is kept back, so that the steps' lines do not mix.
 */
function run([title, command, ...args]) {
  const startedMs = Date.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ title, output, isOk: code === 0, seconds: (Date.now() - startedMs) / 1000 }))
  })
}

/** Prints one line per step. The first failure prints the step's output and ends the check. */
function report({ title, output, isOk, seconds }) {
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${title} (${seconds.toFixed(1)} s)`)
  if (isOk) return
  console.log(output.trimEnd())
  process.exit(1)
}
