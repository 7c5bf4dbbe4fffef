// node tools/bun.js FILE [arguments]: runs a program with the Bun of this repository, which is not on the PATH.
import { spawnSync } from 'node:child_process'
import { findBun } from '../bin/find-bun.js'

const { status } = spawnSync(findBun(), ['--no-env-file', ...process.argv.slice(2)], { stdio: 'inherit' })
process.exit(status ?? 1)
