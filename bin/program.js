import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = ['src', 'sandbox', 'package.json']

/**
 * The file that Bun runs: the built program (see tools/program.ts), or the sources if it is missing or older than they
 * are. A clone that was just pulled must not run what it was before. A package has no tools and cannot be outdated.
 * @param {string} root The folder of the project. @returns {string}
 */
export function programFile(root) {
  const built = join(root, 'dist/program/main.js')
  const builtMs = modifiedMs(built)
  const isOutdated = () => modifiedMs(join(root, 'tools')) > 0 && newestMs(root) > builtMs
  return builtMs === 0 || isOutdated() ? join(root, 'src/main.ts') : built
}

/** When a source changed last. A folder changes when a file in it appears or goes (6 ms). @param {string} root */
function newestMs(root) {
  const within = (folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const sources = SOURCES.map((name) => join(root, name))
  const files = sources.flatMap((name) => [name, ...(name.endsWith('.json') ? [] : within(name))])
  return Math.max(...files.filter((name) => !name.endsWith('.test.ts')).map(modifiedMs))
}

/** 0 if the file is missing. @param {string} file */
function modifiedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
