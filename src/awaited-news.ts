/**
 * What a request waits for where instances share a database. A client may make a key at one instance and use it at
 * another at once, and so may a person who has just signed in. The request is handled when the news of that is here.
 */
import type { Accounts } from './accounts/accounts.ts'
import type { AdminServices } from './admin/operation.ts'
import { isForConsole } from './console/http-handler.ts'
import type { Edge } from './edge/edge-options.ts'
import { presentedKey } from './edge/presented-key.ts'
import type { ServerExchange } from './inbound/exchange.ts'
import { limit } from './lib/primitives/limit.ts'

const WAIT_MS = limit(
  'newsWaitMs',
  1_500,
  'A request that waits for the changes of other instances gets 503 after this time.',
)

type NewsOptions = Pick<AdminServices, 'catchUp'> & {
  readonly accounts: Pick<Accounts, 'awaitKey'>
  /** Answers requests that have waited in vain. */
  readonly unready: Edge
}

/** Lets the requests of an edge wait for news. */
export function withNews(edge: Edge, { accounts, catchUp, unready }: NewsOptions): Edge {
  const inVain = new WeakSet<ServerExchange>()
  const newsFor = (exchange: ServerExchange): Promise<void> | undefined =>
    isForConsole(exchange.head.path) ? catchUp() : accounts.awaitKey(unknownKey(exchange))
  return {
    ...edge,
    handle: (exchange) => (inVain.has(exchange) ? unready : edge).handle(exchange),
    waitFor(exchange) {
      const news = newsFor(exchange)
      return news && within(news).catch(() => void inVain.add(exchange))
    },
  }
}

/** The presented key, unless the connection is known to belong to its holder. */
function unknownKey(exchange: ServerExchange): string {
  const presented = presentedKey(exchange) ?? ''
  return exchange.notes.get('presented') === presented ? '' : presented
}

function within(news: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no news')), WAIT_MS)
  return Promise.race([news, late.promise]).finally(() => clearTimeout(timer))
}
