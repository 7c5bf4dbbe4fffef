/** The parts that the public server works with, and its interface. */
import type { Blobs } from '../blobs/blobs.ts'
import type { MalformedRequest } from '../inbound/request-head.ts'
import type { Log } from '../lib/runtime/log.ts'
import type { SharedBudget } from '../lib/primitives/shared-budget.ts'
import type { TrustedProxies } from '../lib/http/trusted-proxies.ts'
import type { RefusedRequests } from '../records/refused.ts'
import type { Cors } from './cors.ts'
import type { Metrics } from './metrics.ts'
import type { AddressLimiter } from './address-limiter.ts'
import type { VisitorLimits } from './ip-rate-limiter.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { FreeOptions } from './unbilled-routes.ts'
import type { Links } from './links.ts'
import type { Responder } from './request-context.ts'

export type EdgeOptions = FreeOptions & {
  /** Memory for arriving bodies, shared by account. */
  readonly arriving: SharedBudget
  readonly metrics: Metrics
  readonly log: Log
  /** Stores refused requests. */
  readonly refused: Pick<RefusedRequests, 'note'>
  readonly cors: Cors
  readonly proxies: TrustedProxies
  readonly blobs: Blobs
  /** Limits of file requests by address. */
  readonly visitors: VisitorLimits
  /** Limits of requests that generate, by address. Undefined: there are none. */
  readonly addresses: AddressLimiter | undefined
  readonly links: Links
  /** The reason why balancers must not send requests here, if there is one. */
  readonly notReady: () => string | undefined
  /** Undefined: no traces are sent. */
  readonly telemetry: Pick<Telemetry, 'begin' | 'refused'> | undefined
  /** The token for `/metrics` and for the reasons in `/readyz`. Undefined: the public port shows neither. */
  readonly metricsToken: string | undefined
}

/** The services that handlers work with. */
export type EdgeServices = EdgeOptions & { readonly responder: Responder }

/** The interface of the public server. */
export type Edge = {
  /** The public API. */
  readonly handle: (exchange: ServerExchange) => void
  /** See `Host`. */
  readonly waitFor?: (exchange: ServerExchange) => Promise<void> | undefined
  /** Answers requests on the operator's monitoring port. */
  readonly monitor: (exchange: ServerExchange) => void
  readonly refuse: (malformed: MalformedRequest) => { readonly headers: ReplyHeaders; readonly body: string }
}
