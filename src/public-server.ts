/** What the public port serves beside the API: the console's pages and their API, and the documents. */
import manifest from '../package.json' with { type: 'json' }
import { setupPath } from './accounts/users.ts'
import type { Config } from './config.ts'
import type { ConsoleFacts } from './console/context.ts'
import { isForConsole, openDoor } from './console/http-handler.ts'
import type { Edge } from './edge/edge-options.ts'
import { replyWithInternalError } from './edge/internal-error.ts'
import type { Gateway } from './gateway.ts'
import type { ServerExchange } from './inbound/exchange.ts'
import { LOOPBACK } from './lib/http/loopback.ts'
import type { Log } from './lib/runtime/log.ts'
import { formatMarkUp } from './prices/mark-up.ts'

/** Serves the public API and the console on one port. */
export function withConsole(
  edge: Edge,
  { services }: Gateway,
  { config, log }: { readonly config: Config; readonly log: Log },
): (exchange: ServerExchange) => void {
  const door = openDoor({ services, facts: factsOf(config), proxies: config.trustedProxies, log })
  const documents = documentsOf(log)
  return (exchange) => {
    const { path } = exchange.head
    if (isForConsole(path)) door(exchange)
    else if (path === '/' && wantsPage(exchange)) exchange.reply(302, TO_CONSOLE, '')
    else if (isDocument(path)) documents(exchange)
    else edge.handle(exchange)
  }
}

/** The location is relative, so it is right below any path at which a proxy serves the gateway. */
const TO_CONSOLE = { location: 'console/', 'cache-control': 'no-store', vary: 'accept' }

/** Whether a browser asks for a page. Programs get the API's 404. */
const wantsPage = (exchange: ServerExchange): boolean =>
  ['GET', 'HEAD'].includes(exchange.head.method) && /\btext\/html\b/.test(exchange.header('accept') ?? '')

const isDocument = (path: string): boolean =>
  path === '/docs' || path === '/openapi.json' || path === '/llms.txt' || path.startsWith('/docs/')

/** The documents are loaded and built for the first request. */
function documentsOf(log: Log): (exchange: ServerExchange) => void {
  const load = async () => {
    const { makeDocuments, replyWithDocument } = await import('./edge/documents.ts')
    const documents = await makeDocuments(manifest.version)
    return (exchange: ServerExchange): void => replyWithDocument(exchange, documents)
  }
  let loaded: ReturnType<typeof load> | undefined
  return (exchange) => {
    loaded ??= load()
    loaded
      .then((reply) => exchange.isGone || reply(exchange))
      .catch((error: unknown) => {
        const { stack = '' } = error as Error
        log('error', 'documents.internal', { message: String(error), stack })
        // The next request loads them again. A missing or unreadable file may be there by then.
        loaded = undefined
        replyWithInternalError(exchange)
      })
  }
}

/** Makes a new link at each start until there is an operator, so that a lost link locks nobody out. */
export async function setupUrl({ services: { users } }: Gateway, origin: string): Promise<string | undefined> {
  return users.hasOperator() ? undefined : origin + setupPath(await users.makeLink(undefined))
}

const factsOf = (config: Config): ConsoleFacts => ({
  version: manifest.version,
  publicUrl: config.publicUrl,
  publicModels: config.publicModels,
  // The headers bind a browser to https for this host. On a loopback address, that would hit other servers there.
  isSecure: config.publicUrl?.startsWith('https:') ?? (config.tls !== undefined && !LOOPBACK.test(config.host)),
  settings: () => settingsOf(config),
})

/** The settings under stable names. The console has words for each name in every language. */
export const settingsOf = async (config: Config): Promise<Readonly<Record<string, unknown>>> => ({
  host: config.host,
  port: config.port,
  public_url: config.publicUrl ?? null,
  public_models: config.publicModels === 'shown',
  data_folder: config.dataFolder,
  config_file: config.configFile ?? null,
  cors_origins: config.corsOrigins,
  log_level: config.logLevel,
  sandbox: config.sandbox,
  sandbox_for: config.sandbox ? config.sandboxFor : null,
  markup: config.markUp === 'off' ? 'off' : formatMarkUp(config.markUp),
  tls: config.tls !== undefined,
  metrics_token: config.metricsToken !== undefined,
  limits: config.limits,
  fixed_limits: await fixedValues(),
})

async function fixedValues(): Promise<Readonly<Record<string, number>>> {
  const { fixedLimits } = await import('./fixed-limits.ts')
  return Object.fromEntries([...fixedLimits].map(([name, { value }]) => [name, value]))
}
