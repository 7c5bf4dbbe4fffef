/** What the public server works with, and what it is. */
import type { Blobs } from '../blobs/blobs.ts'
import type { MalformedRequest } from '../inbound/request-head.ts'
import type { Log } from '../lib/runtime/log.ts'
import type { SharedBudget } from '../lib/primitives/shared-budget.ts'
import type { TrustedProxies } from '../lib/http/trusted-proxies.ts'
import type { RefusedRequests } from '../records/refused.ts'
import type { Cors } from './cors.ts'
import type { Metrics } from './metrics.ts'
import type { VisitorLimits } from './ip-rate-limiter.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { FreeOptions } from './unbilled-routes.ts'
import type { Links } from './links.ts'
import type { Responder } from './request-context.ts'

export type EdgeOptions = FreeOptions & {
  /** Memory for bodies that are arriving, by account. */
  readonly arriving: SharedBudget
  readonly metrics: Metrics
  readonly log: Log
  /** Where refusals are kept. */
  readonly refused: Pick<RefusedRequests, 'note'>
  readonly cors: Cors
  readonly proxies: TrustedProxies
  readonly blobs: Blobs
  /** How much of its files anybody may fetch. */
  readonly visitors: VisitorLimits
  readonly links: Links
  /** What `/metrics` and the reasons of `/readyz` are shown for; undefined: nobody sees them on this port. */
  readonly metricsToken: string | undefined
}

/** The services that handlers work with. */
export type EdgeServices = EdgeOptions & { readonly responder: Responder }

/** What the server is started with. */
export type Edge = {
  /** The public API. */
  readonly handle: (exchange: ServerExchange) => void
  /** What a monitoring port of the operator's own shows. */
  readonly monitor: (exchange: ServerExchange) => void
  readonly refuse: (malformed: MalformedRequest) => { readonly headers: ReplyHeaders; readonly body: string }
}
