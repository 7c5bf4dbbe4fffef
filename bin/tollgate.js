#!/usr/bin/env node
// The launcher: plain Node, no dependencies. It finds the Bun binary that npm put beside it and becomes it.
import { fileURLToPath } from 'node:url'
import { bunEnv } from './bun-env.js'
import { findBun } from './find-bun.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const bun = findBun()
// A .env or bunfig.toml that happens to lie in the user's directory must not change the server: Bun would read both.
// package.json holds no bunfig key, so it stands for an empty config on every system.
const args = ['--no-env-file', `--config=${root}package.json`, `${root}src/main.ts`, ...process.argv.slice(2)]
const env = { ...bunEnv, ...process.env }

// npm passes a signal on to the shell it runs this in, and the shell to nobody: what is left of them is a new parent.
const shell = process.env.npm_lifecycle_event === 'start' ? process.ppid : undefined

// Becoming Bun keeps the process id and leaves nothing in between. Node has it from 22.15 and 23.11, not on Windows.
if (process.execve && process.platform !== 'win32') {
  delete env.TOLLGATE_LAUNCHER_PID
  if (shell) env.TOLLGATE_LAUNCHER_PID = String(shell)
  process.execve(bun, [bun, ...args], env)
} else {
  await runAsChild()
}

async function runAsChild() {
  // Imported here and not above: an exec does not need them, and they take 2 ms.
  const [{ spawn }, { constants }] = await Promise.all([import('node:child_process'), import('node:os')])
  // Should this process be killed without a chance to pass that on, the child sees that its parent has changed.
  const child = spawn(bun, args, { stdio: 'inherit', env: { ...env, TOLLGATE_LAUNCHER_PID: String(process.pid) } })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  if (shell) setInterval(() => process.ppid === shell || child.kill('SIGTERM'), 1_000).unref()
  child.on('error', (error) => {
    process.stderr.write(`tollgate: Bun could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
