// node tools/screenshots.js [words]: makes pictures of every page of the console (test/support/screenshots.ts).
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const setup = spawnSync(process.execPath, [`${root}tools/setup.js`, 'all'], { stdio: 'inherit' })
if (setup.status !== 0) process.exit(setup.status ?? 1)
// People see /docs with the viewer. Without it the picture would show the plain list.
spawnSync(process.execPath, [`${root}tools/viewer.js`], { stdio: 'inherit' })
const args = ['--no-env-file', `${root}test/support/screenshots.ts`, ...process.argv.slice(2)]
const { status } = spawnSync(findBun(), args, { stdio: 'inherit', cwd: root })
process.exit(status ?? 1)
