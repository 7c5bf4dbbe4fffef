// node browser-process.js FOLDER [SOCKET]: a headless Chromium that takes orders as lines of JSON and answers each
// with a line. `{id, page, options, method, args}` calls a method of a page, as Playwright names them;
// `keyboard.press` is one of its keyboard. A page is opened at its first order and gone after `close`. FOLDER
// keeps the browser unpacked; TOLLGATE_TEST_BROWSER names another Chromium, for machines that the package is not
// made for. The process ends with its standard input. Orders come by it, or by connections to SOCKET: a client's
// pages end with its connection, and the browser starts with the first. It costs 3 s of processor time to start
// one, so the files of a run share it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const profiles = mkdtempSync(join(tmpdir(), 'tollgate-browser-'))
process.on('exit', () => rmSync(profiles, { recursive: true, force: true }))
const [folder, socketPath] = process.argv.slice(2)
let launched
if (socketPath === undefined) {
  await serve(process.stdin, process.stdout)
} else {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    serve(socket, socket).catch((error) => socket.end(`${JSON.stringify({ id: 0, error: String(error) })}\n`))
  })
  server.listen(socketPath, () => process.stdout.write('listening\n'))
  for await (const _ of process.stdin);
  server.close()
}
await launched?.then(
  (browser) => browser.close(),
  () => undefined,
)
process.exit()

/** The browser, once for all clients. A new one if it is gone. */
function launch() {
  const before = launched ?? Promise.resolve()
  launched = before.catch(() => undefined).then((browser) => (browser?.isConnected() ? browser : start()))
  return launched
}

async function start() {
  const executablePath = process.env.TOLLGATE_TEST_BROWSER || (await prepare(folder))
  process.env.TMPDIR = profiles
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath,
    // Tests may run as root, for whom Chromium has no sandbox of its own. The pages are the tests' alone.
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}

/** One client's orders, until they end. */
async function serve(input, output) {
  const browser = await launch()
  const pages = new Map()
  const say = (answer) => output.write(`${JSON.stringify(answer)}\n`)
  say({ id: 0, value: browser.version() })
  for await (const line of createInterface({ input })) {
    // Orders to several pages may overlap.
    void obey({ browser, pages }, JSON.parse(line)).then(say)
  }
  await Promise.allSettled([...pages.values()].map(async (opening) => (await opening).page.context().close()))
  output.end()
}

async function obey({ browser, pages }, { id, page: name, options, method, args }) {
  try {
    if (!pages.has(name)) pages.set(name, open(browser, options))
    const { page, problems } = await pages.get(name)
    if (method === 'problems') return { id, value: problems }
    const [last, ...path] = method.split('.').reverse()
    const target = path.reverse().reduce((object, key) => object[key], page)
    const value = await target[last](...args)
    if (method === 'close') {
      pages.delete(name)
      await page.context().close()
    }
    return { id, value: plain(value) }
  } catch (error) {
    return { id, error: String(error) }
  }
}

/** A page in a context of its own: it has no cookies and no cache of another. */
async function open(browser, options) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const problems = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  return { page, problems }
}

/** Bytes as base64. Of a response its status; of other objects that live in the browser nothing. */
function plain(value) {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value?.status === 'function') return value.status()
  return typeof value?.dispose === 'function' ? null : (value ?? null)
}

/** The browser of the package, with what a machine without a desktop lacks: libraries and a font. */
async function prepare(folder) {
  const unpacked = await unpack(folder)
  process.env.LD_LIBRARY_PATH = join(unpacked, 'al2023', 'lib')
  // The package's own list of fonts is for Amazon's paths. Without any font Chromium dies at the first letter.
  // Nor does it say which letters are of one width: codes and ids are to be as wide in pictures as they are in life.
  const even = ['DejaVu Sans Mono', 'Noto Sans Mono', 'Liberation Mono'].map((name) => `<family>${name}</family>`)
  const fonts =
    `<dir>${join(unpacked, 'fonts')}</dir><dir>/usr/share/fonts</dir><cachedir>${join(profiles, 'fonts')}</cachedir>` +
    `<alias><family>monospace</family><prefer>${even.join('')}</prefer></alias>`
  const doctype = '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
  writeFileSync(join(profiles, 'fonts.conf'), `<?xml version="1.0"?>${doctype}<fontconfig>${fonts}</fontconfig>`)
  process.env.FONTCONFIG_PATH = profiles
  return join(unpacked, 'chromium')
}

/** Unpacks it, once a version. Of several processes that do so at the same time the first is kept. */
async function unpack(folder) {
  const inPackage = (file) => fileURLToPath(new URL(file, import.meta.resolve('@sparticuz/chromium')))
  const { version } = JSON.parse(readFileSync(inPackage('../../package.json'), 'utf8'))
  const done = join(folder, version)
  if (existsSync(done)) return done
  mkdirSync(folder, { recursive: true })
  const making = mkdtempSync(join(folder, 'unpacking-'))
  process.env.TMPDIR = making
  // Taking this machine for one of Amazon's, it unpacks the libraries too.
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x'
  const { default: packed } = await import('@sparticuz/chromium')
  await packed.executablePath(inPackage('../../bin'))
  try {
    renameSync(making, done)
  } catch {
    // Another process was faster.
    rmSync(making, { recursive: true, force: true })
  }
  return done
}
