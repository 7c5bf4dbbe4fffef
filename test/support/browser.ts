/**
 * A real headless browser: Chromium, unpacked from a package and driven by Node in a process of its own, which all
 * files of a run share (tools/test.js starts it). If it cannot start, the tests that need it fail and name the reason.
 * Every wait has a limit: for the start, for an order, and for the end of the browser.
 */
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { tmpdir } from 'node:os'

const ROOT = resolve(import.meta.dir, '../..')
/** The first start on a machine unpacks 64 MB, which takes a busy one a while. */
const START_TIMEOUT_MS = 120_000
/** Playwright gives up on most things after 30 s, and says better what it waited for. */
const ORDER_TIMEOUT_MS = 40_000
const CLOSE_TIMEOUT_MS = 10_000

/** A page. Selectors are Playwright's: CSS, `text=Save`, `role=button[name="Save"]`. */
export type BrowserPage = {
  /** The status of the answer; null where there was none. */
  goto(url: string): Promise<number | null>
  /** The value of an expression in the page; of a promise what it comes to. */
  evaluate<T>(expression: string): Promise<T>
  click(selector: string): Promise<void>
  fill(selector: string, text: string): Promise<void>
  /** A key on an element, or `keyboard.press` by `call` on what has the focus. */
  press(selector: string, key: string): Promise<void>
  /** The text of the first match, once there is one. */
  text(selector: string): Promise<string>
  /** Resolves once it is visible. */
  appears(selector: string): Promise<void>
  screenshot(): Promise<Buffer>
  /** What the page's scripts have thrown and written as errors so far. */
  problems(): Promise<readonly string[]>
  /** Any other method (`reload`, `setInputFiles`, `keyboard.type`), as far as JSON carries it; bytes come as base64. */
  call<T = unknown>(method: string, ...args: readonly unknown[]): Promise<T>
  close(): Promise<void>
}

/** Of Playwright's `newContext`: `{ viewport, colorScheme, reducedMotion, javaScriptEnabled … }`. */
export type PageOptions = Readonly<Record<string, unknown>>

export type Browser = {
  readonly version: string
  /** A page with cookies and a cache of its own. */
  open(options?: PageOptions): BrowserPage
  close(): Promise<void>
}

type Answer = { readonly id: number; readonly value?: unknown; readonly error?: string }

/** The browser of the run, or with `isOwn`, and where there is none, one of its own. */
export async function startBrowser({ isOwn = false } = {}): Promise<Browser> {
  const shared = process.env['TOLLGATE_BROWSER_SOCKET']
  const driver = new Driver(shared !== undefined && !isOwn ? connectDriver(shared) : spawnDriver())
  try {
    const version = String(await driver.answerTo(0, START_TIMEOUT_MS, 'start'))
    let pages = 0
    return {
      version,
      open: (options = {}) => pageOf(driver, { name: `page-${pages++}`, options }),
      close: () => driver.close(),
    }
  } catch (error) {
    await driver.close()
    throw error
  }
}

function pageOf(driver: Driver, page: { readonly name: string; readonly options: PageOptions }): BrowserPage {
  const call = <T>(method: string, ...args: readonly unknown[]): Promise<T> =>
    driver.order(method, { page: page.name, options: page.options, args }) as Promise<T>
  return {
    call,
    goto: (url) => call('goto', url),
    evaluate: (expression) => call('evaluate', expression),
    click: (selector) => call('click', selector),
    fill: (selector, text) => call('fill', selector, text),
    press: (selector, key) => call('press', selector, key),
    text: (selector) => call('textContent', selector),
    appears: (selector) => call('waitForSelector', selector),
    screenshot: async () => Buffer.from(await call<string>('screenshot'), 'base64'),
    problems: () => call('problems'),
    close: () => call('close'),
  }
}

/** Lines to the process in which the browser is driven, and from it. */
type Line = {
  readonly answers: AsyncIterable<Uint8Array>
  /** Why there are no more answers, once there are none. */
  readonly ended: () => Promise<string>
  readonly isOpen: () => boolean
  readonly send: (line: string) => unknown
  readonly close: () => Promise<unknown>
}

function spawnDriver(): Line {
  const node = Bun.which('node')
  if (!node) throw new Error('the browser is driven by Node, which is not on the path')
  const { PATH = '', TOLLGATE_TEST_BROWSER } = process.env
  const child = Bun.spawn([node, join(import.meta.dir, 'browser-process.js'), join(ROOT, '.tmp/browser')], {
    cwd: ROOT,
    env: { PATH, HOME: tmpdir(), ...(TOLLGATE_TEST_BROWSER && { TOLLGATE_TEST_BROWSER }) },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const errors = child.stderr.text()
  return {
    answers: child.stdout,
    ended: async () => `${await child.exited}: ${(await errors).slice(-2_000)}`,
    isOpen: () => child.exitCode === null,
    async send(line) {
      await child.stdin.write(line)
      await child.stdin.flush()
    },
    /** Without its standard input the process closes the browser and ends; if it does not, it is ended. */
    async close() {
      await child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
      await child.exited
      clearTimeout(timer)
    },
  }
}

function connectDriver(path: string): Line {
  const socket = connect(path)
  const { promise: closed, resolve: close } = Promise.withResolvers<string>()
  let why = 'its connection'
  socket.on('error', (error) => (why = String(error)))
  socket.on('close', () => close(why))
  return {
    answers: chunksOf(socket),
    ended: () => closed,
    isOpen: () => !socket.destroyed,
    send: (line) => socket.write(line),
    async close() {
      socket.end()
      const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

/** Ends where the socket does, by an error too. */
async function* chunksOf(socket: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* socket
  } catch {
    // `ended` says why.
  }
}

/** The process in which the browser is driven, and the orders that wait for its answers. */
class Driver {
  private readonly line: Line
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>()
  /** Why there is no browser any more. */
  private readonly gone: Promise<Error>
  private serial = 0

  constructor(line: Line) {
    this.line = line
    this.gone = this.follow()
  }

  private async follow(): Promise<Error> {
    for await (const line of linesOf(this.line.answers)) {
      const { id, value, error } = JSON.parse(line) as Answer
      const one = this.waiting.get(id)
      if (error === undefined) one?.resolve(value)
      else one?.reject(new Error(error))
    }
    return new Error(`the browser ended with ${await this.line.ended()}`)
  }

  async answerTo(id: number, timeoutMs: number, what: string): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>()
    this.waiting.set(id, answer)
    void this.gone.then(answer.reject)
    const late = (): void => answer.reject(new Error(`the browser did not ${what} within ${timeoutMs} ms`))
    const timer = setTimeout(late, timeoutMs)
    try {
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.waiting.delete(id)
    }
  }

  async order(method: string, order: object): Promise<unknown> {
    const id = ++this.serial
    const line = JSON.stringify({ id, method, ...order })
    const answer = this.answerTo(id, ORDER_TIMEOUT_MS, line.slice(0, 200))
    if (this.line.isOpen()) await this.line.send(`${line}\n`)
    return answer
  }

  async close(): Promise<void> {
    await this.line.close()
  }
}

async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
