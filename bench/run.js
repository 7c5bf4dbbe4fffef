// node bench/run.js [options of relay.ts]: the whole bench under the project's own Bun.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'

const relay = fileURLToPath(new URL('relay.ts', import.meta.url))
const { status } = spawnSync(findBun(), ['--no-env-file', relay, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exit(status ?? 1)
