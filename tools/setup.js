// node tools/setup.js runtime|all: installs what is missing, and builds the console and the program if they are missing
// or older than their sources. Otherwise it prints nothing, so that a fresh clone only needs `npm start` or `npm test`.
// For a start it also has the viewer of the API's documents made. All of this is one process, because each process
// costs a start 50 ms. It is plain Node without dependencies, because it runs before there are any.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findBun } from '../bin/find-bun.js'
import { programFile } from '../bin/program.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = `${root}web/`
const builtFile = `${web}dist/manifest.json`
const viewerFile = `${root}dist/docs/viewer.js.gz`
const lockDir = `${root}.tmp/setup.lock`
const lockBeatMs = 1_000
const lockStaleMs = 10_000

const mode = process.argv[2]
if (mode !== 'runtime' && mode !== 'all') fail('usage: node tools/setup.js runtime|all')
if (Number.parseInt(process.versions.node, 10) < 20) {
  fail(`Node 20 or later is needed, this is ${process.versions.node}.`)
}

// The console's build tools are only for building it. A start that finds it built needs none of them.
const needsWeb = () => mode === 'all' || !isBuilt()
const isProgramBuilt = () => programFile(root).endsWith('.js')
const isAllThere = () => isReady(root, mode) && (!needsWeb() || (isReady(web, 'all') && isBuilt())) && isProgramBuilt()

if (!isAllThere()) {
  await lock()
  // Checked again, because the previous owner of the lock may have installed what is missing here.
  if (!isReady(root, mode)) await install(root, mode)
  if (needsWeb() && !isReady(web, 'all')) await install(web, 'all')
  if (!isBuilt()) await build()
  if (!isProgramBuilt()) await buildProgram()
}
if (mode === 'runtime' && !modifiedMs(viewerFile)) await import('./viewer.js')

/** Reads two small files in the usual case (2 ms). */
function isReady(folder, wantedMode) {
  const stampFile = stampFileOf(folder)
  const installedFile = `${folder}node_modules/.package-lock.json`
  const stamp = read(stampFile)
  // npm writes its own record after every change. A record newer than the stamp means that someone ran npm by hand.
  const isCurrent = modifiedMs(stampFile) >= modifiedMs(installedFile)
  if (isCurrent && (stamp === stampOf(folder, 'all') || stamp === stampOf(folder, wantedMode))) return true
  const wanted = JSON.parse(read(`${folder}package-lock.json`)).packages
  const installed = JSON.parse(read(installedFile) || '{}').packages ?? {}
  if (!holdsEverything(wanted, installed, wantedMode) || !fitsMachine(installed)) return false
  writeFileSync(stampFile, stampOf(folder, wantedMode))
  return true
}

function stampFileOf(folder) {
  return `${folder}node_modules/.tollgate-setup`
}

function stampOf(folder, installedMode) {
  const hash = createHash('sha256')
    .update(read(`${folder}package-lock.json`))
    .digest('hex')
  return `${hash} ${process.platform} ${process.arch} ${installedMode}`
}

/** Whether the console is built and newer than its sources (3 ms). */
function isBuilt() {
  const builtMs = modifiedMs(builtFile)
  if (builtMs === 0) return false
  const sources = ['src', 'public'].flatMap((folder) =>
    readdirSync(`${web}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  return [...sources, 'index.html', 'vite.config.ts', 'package-lock.json'].every(
    (name) => modifiedMs(web + name) <= builtMs,
  )
}

async function build() {
  process.stderr.write('tollgate: building the console …\n')
  const { spawn } = await import('node:child_process')
  const args = [`${web}node_modules/vite/bin/vite.js`, 'build', '--logLevel=error']
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = spawn(process.execPath, args, { cwd: web, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const code = await endOf(child)
  if (code !== 0) fail(`The console could not be built (${code}).`)
}

/** Takes 0.3 s. Without it, the sources run. */
async function buildProgram() {
  const { spawn } = await import('node:child_process')
  const child = spawn(findBun(), ['--no-env-file', `${root}tools/program.ts`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await endOf(child)
  if (code !== 0) process.stderr.write(`tollgate: the program is not built (${code}); its sources run\n`)
}

/** Whether npm's record of node_modules has every package of the lockfile that this mode needs, at its version. */
function holdsEverything(wanted, installed, wantedMode) {
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional }]) => {
    const isNeeded = path !== '' && !optional && !(wantedMode === 'runtime' && (dev || devOptional))
    return !isNeeded || installed[path]?.version === version
  })
}

/** A node_modules that is mounted into another system, such as a container, holds the wrong binaries. */
function fitsMachine(installed) {
  const { platform, arch } = process
  return Object.values(installed).every(
    ({ os = [platform], cpu = [arch] }) => os.includes(platform) && cpu.includes(arch),
  )
}

async function install(folder, wantedMode) {
  const what = folder === web ? "the console's build tools" : 'dependencies'
  process.stderr.write(`tollgate: installing ${what} …\n`)
  // The Bun binary is an optional package, and NODE_ENV or .npmrc may omit either kind. So both are named.
  const kinds = ['--include=optional', wantedMode === 'all' ? '--include=dev' : '--omit=dev']
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...kinds]
  const code = await runNpm(folder, args)
  if (code !== 0) fail(`\`npm ${args.join(' ')}\` failed (${code}).`)
  writeFileSync(stampFileOf(folder), stampOf(folder, wantedMode))
}

/** The npm that called this script, since there may be several. Otherwise the one on the path. */
async function runNpm(folder, args) {
  const { spawn } = await import('node:child_process')
  const npm = process.env.npm_execpath
  const [command, ...head] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm']
  // On Windows npm is a batch file, which only a shell can start. npm's summary on stdout is left out.
  const shell = command === 'npm' && process.platform === 'win32'
  const child = spawn(command, [...head, ...args], { cwd: folder, shell, stdio: ['ignore', 'ignore', 'inherit'] })
  return endOf(child)
}

/**
 * When this process is stopped, it waits until its child stops too. The lock must not be free while the child works.
 */
function endOf(child) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, signal) => resolve(code ?? signal))
  })
}

/**
 * Two installations at once would destroy each other's node_modules. The lock is a directory, which only one process
 * can make. Its owner touches it every second. A killed owner leaves a lock that ages and is taken over.
 */
async function lock() {
  mkdirSync(`${root}.tmp`, { recursive: true })
  while (!tryLock()) {
    if (Date.now() - (modifiedMs(lockDir) || Date.now()) > lockStaleMs) unlock()
    else await sleep(lockBeatMs / 4)
  }
  setInterval(() => modifiedMs(lockDir) && utimesSync(lockDir, new Date(), new Date()), lockBeatMs).unref()
  process.on('exit', unlock)
}

function tryLock() {
  try {
    mkdirSync(lockDir)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function unlock() {
  rmSync(lockDir, { recursive: true, force: true })
}

/** The text of a file. Empty if it is missing. */
function read(file) {
  return modifiedMs(file) ? readFileSync(file, 'utf8') : ''
}

/** 0 if the file is missing. */
function modifiedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`)
  process.exit(1)
}
