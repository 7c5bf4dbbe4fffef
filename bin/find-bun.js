import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * The Bun binary: TOLLGATE_BUN, or the one in the platform package, wherever npm or npx has installed it.
 * Ends the process with advice if there is none.
 * @returns {string}
 */
export function findBun() {
  const override = process.env.TOLLGATE_BUN
  if (override) return existsSync(override) ? override : fail(`TOLLGATE_BUN names ${override}, which does not exist.`)
  const { platform, arch } = process
  const os = platform === 'win32' ? 'windows' : platform
  const name = `@oven/bun-${os}-${arch === 'arm64' ? 'aarch64' : arch}${isMusl() ? '-musl' : ''}`
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${os === 'windows' ? 'bun.exe' : 'bun'}`)
  } catch {
    return fail(
      `The package ${name}, which holds the Bun runtime for this machine, is not installed.\n` +
        'Run `npm install` (without --omit=optional), or name a Bun binary in TOLLGATE_BUN.',
    )
  }
}

/** The head of Node's binary names the loader, and so the C library (0.3 ms; a process report takes 7 ms). */
function isMusl() {
  if (process.platform !== 'linux') return false
  const head = Buffer.alloc(4096)
  const file = openSync(process.execPath, 'r')
  readSync(file, head, 0, head.length, 0)
  closeSync(file)
  return head.includes('/ld-musl-')
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`)
  process.exit(1)
}
