// node bench/run.js [console] [options of relay.ts, or of console.ts]: a bench under the project's own Bun.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'

const [name, ...rest] = process.argv.slice(2)
const isConsole = name === 'console'
const file = fileURLToPath(new URL(isConsole ? 'console.ts' : 'relay.ts', import.meta.url))
const args = isConsole ? rest : process.argv.slice(2)
const { status } = spawnSync(findBun(), ['--no-env-file', file, ...args], { stdio: 'inherit' })
process.exit(status ?? 1)
