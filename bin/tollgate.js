#!/usr/bin/env node
// The launcher, in plain Node without dependencies. It finds the Bun binary that npm has installed, and becomes it.
import { fileURLToPath } from 'node:url'
import { bunEnv } from './bun-env.js'
import { findBun } from './find-bun.js'
import { programFile } from './program.js'
import { runnersAbove } from './runners.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const bun = findBun()
// Bun would read a .env or bunfig.toml in the user's directory, which must not change the server. package.json has no
// bunfig key, so it serves as an empty config on every system.
const args = ['--no-env-file', `--config=${root}package.json`, programFile(root), ...process.argv.slice(2)]
const env = { ...bunEnv, ...process.env }
// The server ends when one of these processes is gone, because it may have received a signal and not passed it on.
const runners = await runnersAbove()

// `execve` keeps the process id and leaves no process in between. Node has it since 22.15 and 23.11, not on Windows.
if (process.execve && process.platform !== 'win32') {
  env.TOLLGATE_LAUNCHER_PID = runners.join(' ')
  process.execve(bun, [bun, ...args], env)
} else {
  await runAsChild()
}

async function runAsChild() {
  // Imported here, because `execve` does not need them and they take 2 ms.
  const [{ spawn }, { constants }] = await Promise.all([import('node:child_process'), import('node:os')])
  const above = [process.pid, ...runners].join(' ')
  const child = spawn(bun, args, { stdio: 'inherit', env: { ...env, TOLLGATE_LAUNCHER_PID: above } })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`tollgate: Bun could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
