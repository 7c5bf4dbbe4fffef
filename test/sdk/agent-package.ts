/** Fetches a coding agent's package once into a folder under node_modules: none of them is a dependency. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const CACHE = resolve(import.meta.dir, '../../node_modules/.cache/tollgate')
const INSTALL_TIMEOUT_MS = 120_000

export type FoundAgent =
  | { readonly kind: 'found'; readonly program: string }
  | { readonly kind: 'missing'; readonly reason: string }

type Wanted = {
  readonly name: string
  readonly version: string
  /** Where its program for this platform is, in the folder of its packages. */
  readonly program: string
}

/** The cached program, or a fresh download, without running anything of it. */
export function findAgent({ name, version, program }: Wanted): FoundAgent {
  const folder = join(CACHE, `${name.replace(/\W+/g, '-')}-${version}`)
  const path = join(folder, 'node_modules', program)
  if (existsSync(path)) return { kind: 'found', program: path }
  const reason = install(`${name}@${version}`, folder)
  if (reason !== undefined) return { kind: 'missing', reason }
  if (existsSync(path)) return { kind: 'found', program: path }
  return { kind: 'missing', reason: `${name} ${version} has no program for this platform` }
}

/** Undefined when it worked. Another run may do the same at the same time: the folder appears whole or not at all. */
function install(spec: string, folder: string): string | undefined {
  const npm = Bun.which('npm')
  if (!npm) return 'there is no npm'
  mkdirSync(CACHE, { recursive: true })
  const fresh = mkdtempSync(join(CACHE, 'agent-'))
  try {
    const quiet = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--fetch-retries=0', '--loglevel=error']
    const done = Bun.spawnSync([npm, 'install', '--prefix', fresh, ...quiet, spec], {
      cwd: fresh,
      timeout: INSTALL_TIMEOUT_MS,
      stdout: 'ignore',
      stderr: 'pipe',
    })
    if (done.exitedDueToTimeout) return `npm took longer than ${INSTALL_TIMEOUT_MS / 1000} s`
    if (done.exitCode !== 0) return `npm failed: ${done.stderr.toString().trim().split('\n').at(-1)}`
    renameSync(fresh, folder)
    return undefined
  } catch (error) {
    if (existsSync(folder)) return undefined // The other run was first.
    throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
