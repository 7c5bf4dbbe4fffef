/** Finds Python with the `openai` package, or installs the package once into a folder under node_modules. */
import { mkdtempSync, mkdirSync, renameSync, rmSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const VERSION = '3.54.0'
const CACHE = resolve(import.meta.dir, '../../node_modules/.cache/tollgate')
const FOLDER = join(CACHE, `python-openai-${VERSION}`)
const INSTALL_TIMEOUT_MS = 60_000

export type FoundPython =
  | { readonly kind: 'found'; readonly python: string; readonly folder: string }
  | { readonly kind: 'missing'; readonly reason: string }

/** The cached package, one that this Python has already, or a fresh download, in this order. */
export function findPython(): FoundPython {
  const python = Bun.which('python3')
  if (!python) return { kind: 'missing', reason: 'there is no python3' }
  for (const folder of [FOLDER, '']) if (imports(python, folder)) return { kind: 'found', python, folder }
  const reason = install(python)
  if (reason !== undefined) return { kind: 'missing', reason }
  if (imports(python, FOLDER)) return { kind: 'found', python, folder: FOLDER }
  return { kind: 'missing', reason: `openai ${VERSION} was fetched, but cannot be imported` }
}

function imports(python: string, folder: string): boolean {
  if (folder !== '' && !existsSync(folder)) return false
  const env = { ...process.env, PYTHONPATH: folder }
  return Bun.spawnSync([python, '-c', 'import openai, pydantic'], { env, stderr: 'ignore' }).exitCode === 0
}

/** Undefined when it worked. Another run may do the same at the same time: the folder appears whole or not at all. */
function install(python: string): string | undefined {
  mkdirSync(CACHE, { recursive: true })
  const fresh = mkdtempSync(join(CACHE, 'python-'))
  const pip = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1']
  const done = Bun.spawnSync([...pip, '--target', fresh, `openai==${VERSION}`], {
    timeout: INSTALL_TIMEOUT_MS,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  try {
    if (done.exitedDueToTimeout) return `pip took longer than ${INSTALL_TIMEOUT_MS / 1000} s`
    if (done.exitCode !== 0) return `pip failed: ${done.stderr.toString().trim().split('\n').at(-1)}`
    renameSync(fresh, FOLDER)
    return undefined
  } catch (error) {
    if (existsSync(FOLDER)) return undefined // The other run was first.
    throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
