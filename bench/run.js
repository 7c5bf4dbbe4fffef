// node bench/run.js [console|cluster|plan] [options of that file, or of relay.ts]: a bench under the project's own Bun.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'

const [name, ...rest] = process.argv.slice(2)
const own = ['console', 'cluster', 'plan'].includes(name)
const file = fileURLToPath(new URL(own ? `${name}.ts` : 'relay.ts', import.meta.url))
const args = own ? rest : process.argv.slice(2)
const { status } = spawnSync(findBun(), ['--no-env-file', file, ...args], { stdio: 'inherit' })
process.exit(status ?? 1)
