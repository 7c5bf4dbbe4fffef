/**
 * The console's application: the files that `web/` is built into. Only these files are served, each by its name. A file
 * with a digest in its name never changes, so browsers keep it. Every other address is a page of the application and
 * gets the one HTML page, with its own address and a nonce for its one inline script.
 */
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ServerExchange } from '../inbound/exchange.ts'
import { makeToken } from '../lib/primitives/token.ts'
import type { ConsoleFacts } from './context.ts'
import { securityHeaders } from './headers.ts'

const ROOT = '/console'
const BUILT = fileURLToPath(new URL('../../web/dist/', import.meta.url))

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

type Asset = {
  readonly type: string
  readonly isHashed: boolean
  readonly plain: Uint8Array
  readonly zipped: Uint8Array
}
type PagesFacts = Pick<ConsoleFacts, 'publicUrl' | 'isSecure' | 'publicModels'> & {
  /** Whether there is an operator who can sign in. */
  readonly hasOperator: () => boolean
}

export class Pages {
  private readonly facts: PagesFacts
  private readonly folder: string
  private readonly names: ReadonlySet<string>
  /** Files are read at their first request. */
  private readonly assets = new Map<string, Promise<Asset>>()
  private index: Promise<string> | undefined

  constructor(facts: PagesFacts, folder = BUILT) {
    this.facts = facts
    this.folder = folder
    const found = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
    this.names = new Set(
      found.map((name) => name.replaceAll('\\', '/')).filter((name) => /\.(?:js|css|svg)$/.test(name)),
    )
  }

  async answer(exchange: ServerExchange): Promise<void> {
    const { method, path } = exchange.head
    if (method !== 'GET' && method !== 'HEAD') return this.say(exchange, 405, 'Only GET is allowed here.')
    // The location is relative, so that it is right below any path of a proxy.
    if (path === ROOT) {
      return exchange.reply(308, { ...this.headers(), location: 'console/', 'cache-control': 'no-store' }, '')
    }
    const name = path.slice(ROOT.length + 1)
    if (this.names.has(name)) return this.asset(exchange, name)
    if (name.startsWith('assets/')) return this.say(exchange, 404, 'There is no such file.')
    if (this.names.size === 0) {
      return this.say(
        exchange,
        503,
        "The console is not built: `node tools/setup.js runtime` in the program's folder builds it.",
      )
    }
    return this.page(exchange)
  }

  private async asset(exchange: ServerExchange, name: string): Promise<void> {
    const loading = this.assets.get(name) ?? load(this.folder, name)
    this.assets.set(name, loading)
    const { type, isHashed, plain, zipped } = await loading
    const takesZipped = /\bgzip\b/.test(exchange.header('accept-encoding') ?? '')
    const headers = {
      ...this.headers(),
      'content-type': type,
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      vary: 'accept-encoding',
      ...(takesZipped ? { 'content-encoding': 'gzip' } : {}),
    }
    if (!exchange.isGone) exchange.reply(200, headers, takesZipped ? zipped : plain)
  }

  private async page(exchange: ServerExchange): Promise<void> {
    this.index ??= readFile(`${this.folder}index.html`, 'utf8')
    const { publicUrl, isSecure, publicModels, hasOperator } = this.facts
    const below = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
    const nonce = makeToken()
    const text = (await this.index)
      .replace('<base href="/" />', `<base href="${escaped(below)}${ROOT}/" />`)
      .replace('nonce="NONCE"', `nonce="${nonce}"`)
      .replace('name="models" content="hidden"', `name="models" content="${publicModels}"`)
      .replace('name="operator" content="known"', `name="operator" content="${hasOperator() ? 'known' : 'missing'}"`)
    const headers = {
      ...pageHeaders(isSecure, nonce),
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
    }
    if (!exchange.isGone) exchange.reply(200, headers, text)
  }

  private say(exchange: ServerExchange, status: number, message: string): void {
    const headers = { ...this.headers(), 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
    exchange.reply(status, headers, `${message}\n`)
  }

  private headers(): Record<string, string> {
    return securityHeaders('data', this.facts.isSecure)
  }
}

/** The nonce allows the one inline script of the page. */
function pageHeaders(isSecure: boolean, nonce: string): Record<string, string> {
  const headers = securityHeaders('page', isSecure)
  const policy = headers['content-security-policy'] ?? ''
  return { ...headers, 'content-security-policy': policy.replace("script-src 'self'", `$& 'nonce-${nonce}'`) }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

async function load(folder: string, name: string): Promise<Asset> {
  const plain = await readFile(folder + name)
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return {
    type,
    isHashed: name.startsWith('assets/'),
    plain,
    zipped: Bun.gzipSync(new Uint8Array(plain), { level: 9 }),
  }
}
