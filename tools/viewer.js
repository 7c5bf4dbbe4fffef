// node tools/viewer.js: puts the viewer of the API's documents into dist/docs if it is missing. It is one file of one
// package at one version, whose bytes are pinned. The package's dependencies are for building it and are never
// installed. This is plain Node without dependencies. Without the file, /docs is a plain list, and everything else
// works.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

const PACKAGE = 'openapi-explorer@2.4.820'
const FILE = 'package/dist/browser/openapi-explorer.min.js'
const LICENSE = 'package/LICENSE'
const SHA256 = '6bb3f4f29b0d740f1fc0970cd4245e01d2c1346df5a26ecd20a2f7a5dda5f837'

const target = fileURLToPath(new URL('../dist/docs/viewer.js.gz', import.meta.url))
if (!existsSync(target)) {
  const problem = make()
  if (problem) process.stderr.write(`tollgate: no viewer for /docs (${problem})\n`)
}

/** Undefined if the file is there. */
function make() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-viewer-'))
  try {
    const npm = process.env.npm_execpath
    const [command, ...head] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm']
    const shell = command === 'npm' && process.platform === 'win32'
    const args = [...head, 'pack', PACKAGE, '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
    const { status } = spawnSync(command, args, { shell, cwd: folder, stdio: 'ignore', timeout: 60_000 })
    const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    if (status !== 0 || !tarball) return `npm pack ${PACKAGE} failed`
    const archive = gunzipSync(readFileSync(join(folder, tarball)))
    const [bytes, license] = [fileIn(archive, FILE), fileIn(archive, LICENSE)]
    if (!bytes || !license) return `${PACKAGE} has no ${FILE}`
    if (createHash('sha256').update(bytes).digest('hex') !== SHA256) return `${FILE} does not have the pinned bytes`
    mkdirSync(join(target, '..'), { recursive: true })
    writeFileSync(join(target, '../viewer.LICENSE'), license)
    writeFileSync(`${target}.tmp`, gzipSync(bytes, { level: 9 }))
    renameSync(`${target}.tmp`, target)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A file of a tar archive: blocks of 512 bytes, with a head of name and size before each file. */
function fileIn(archive, wanted) {
  for (let at = 0; at + 512 <= archive.length;) {
    const text = (from, length) => archive.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(text(124, 12).trim() || '0', 8)
    const prefix = text(345, 155)
    const name = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`
    if (name === wanted) return archive.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  return undefined
}
