#!/usr/bin/env node
// The launcher: plain Node, no dependencies. It finds the Bun binary that npm put beside it and becomes it.
import { fileURLToPath } from 'node:url'
import { bunEnv } from './bun-env.js'
import { findBun } from './find-bun.js'
import { runnersAbove } from './runners.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const bun = findBun()
// A .env or bunfig.toml that happens to lie in the user's directory must not change the server: Bun would read both.
// package.json holds no bunfig key, so it stands for an empty config on every system.
const args = ['--no-env-file', `--config=${root}package.json`, `${root}src/main.ts`, ...process.argv.slice(2)]
const env = { ...bunEnv, ...process.env }
// The server ends when one of those above it is gone that may have been told to pass a signal on, and did not.
const runners = await runnersAbove()

// Becoming Bun keeps the process id and leaves nothing in between. Node has it from 22.15 and 23.11, not on Windows.
if (process.execve && process.platform !== 'win32') {
  env.TOLLGATE_LAUNCHER_PID = runners.join(' ')
  process.execve(bun, [bun, ...args], env)
} else {
  await runAsChild()
}

async function runAsChild() {
  // Imported here and not above: an exec does not need them, and they take 2 ms.
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
