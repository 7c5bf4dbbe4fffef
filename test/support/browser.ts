/**
 * A real browser without a window: headless Chromium, unpacked from a package, driven by Node in a process of its own.
 * Where it cannot start, what needs it fails and says why. Nothing waits without an end: not for the start, not for an
 * order, not for the browser to go.
 */
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

export async function startBrowser(): Promise<Browser> {
  const driver = new Driver()
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

/** The process in which the browser is driven, and the orders that wait for its answers. */
class Driver {
  private readonly child
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>()
  /** Why there is no browser any more. */
  private readonly gone: Promise<Error>
  private serial = 0

  constructor() {
    const node = Bun.which('node')
    if (!node) throw new Error('the browser is driven by Node, which is not on the path')
    const { PATH = '', TOLLGATE_TEST_BROWSER } = process.env
    this.child = Bun.spawn([node, join(import.meta.dir, 'browser-process.js'), join(ROOT, '.tmp/browser')], {
      cwd: ROOT,
      env: { PATH, HOME: tmpdir(), ...(TOLLGATE_TEST_BROWSER && { TOLLGATE_TEST_BROWSER }) },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.gone = this.follow(this.child.stderr.text())
  }

  private async follow(errors: Promise<string>): Promise<Error> {
    for await (const line of linesOf(this.child.stdout)) {
      const { id, value, error } = JSON.parse(line) as Answer
      const one = this.waiting.get(id)
      if (error === undefined) one?.resolve(value)
      else one?.reject(new Error(error))
    }
    return new Error(`the browser ended with ${await this.child.exited}: ${(await errors).slice(-2_000)}`)
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
    if (this.child.exitCode === null) {
      await this.child.stdin.write(`${line}\n`)
      await this.child.stdin.flush()
    }
    return answer
  }

  /** Without its standard input the process closes the browser and ends; if it does not, it is ended. */
  async close(): Promise<void> {
    await this.child.stdin.end()
    const timer = setTimeout(() => this.child.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
    await this.child.exited
    clearTimeout(timer)
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
