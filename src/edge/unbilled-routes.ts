/**
 * What costs nothing: counting, and responses that are there already. No balance stops it, so it is bounded by account:
 * how often, how many at once, and how many bytes wait for clients that do not read.
 */
import { SharedBudget, type BudgetShare } from '../lib/primitives/shared-budget.ts'
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import type { Limiter } from '../accounts/limiter.ts'
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { RelayPort } from '../relay/port.ts'
import { limitFailure } from '../accounts/limit-failure.ts'
import { readJsonBody } from './body.ts'
import { linkBaseOf, type Links } from './links.ts'
import { receive, type ReceiveOptions } from './read-request.ts'
import { countResponse, type StateAnswer, type StateHandler } from './state.ts'
import type { ReplyEvents } from './stream-reply.ts'
import type { JsonBody } from './request-body.ts'
import type { Responder, RequestContext } from './request-context.ts'
import { IpRateLimiter } from './ip-rate-limiter.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type FreeOptions = ReceiveOptions & {
  readonly links: Links
  readonly relay: RelayPort
  readonly limiter: Limiter
  readonly free: FreeBounds
}

export type FreeBounds = {
  /** Requests for responses that are there: of one account, in a minute and at once. */
  readonly statePerMinute: number
  readonly stateConcurrent: number
  /** Requests to count, likewise, beside the limits of key and account. */
  readonly countPerMinute: number
  readonly countConcurrent: number
  /** And how many bytes of them; less where the account has no money. */
  readonly countBytesPerMinute: number
  readonly countBytesPerMinuteUnfunded: number
  /** Of an account's answers that wait for their clients; a single one may be larger. */
  readonly unreadBytesMax: number
}

/**
 * Whoever asks after five hundred videos twice a second is let be. Reading and counting a megabyte takes 20 to 40 ms of
 * two threads: an account may keep them busy for a second or two of a minute.
 */
export const freeBounds: FreeBounds = {
  statePerMinute: limit('freeStateRequestsPerMinute', 60_000, 'A further free request of the account gets 429.'),
  stateConcurrent: limit('freeStateRequestsConcurrent', 64, 'A further free request of the account gets 429.'),
  countPerMinute: limit('freeCountRequestsPerMinute', 1_200, 'A further count of the account gets 429.'),
  countConcurrent: limit('freeCountRequestsConcurrent', 8, 'A further count of the account gets 429.'),
  countBytesPerMinute: limit('freeCountBytesPerMinute', 48 * MIB, 'A further count of the account gets 429.'),
  countBytesPerMinuteUnfunded: limit(
    'freeCountBytesPerMinuteUnfunded',
    4 * MIB,
    'A further count of the account gets 429.',
  ),
  unreadBytesMax: limit('freeUnreadBytesMax', 64 * MIB, 'A further large answer of the account gets 429.'),
}

type Spend = (bytes: number) => void

/** An answer that is never refused. */
const SMALL_BYTES = 64 * KIB
const BUSY: Failure = {
  kind: 'rate_limited',
  message: 'This account has too many free requests under way, or had too many in a minute.',
}
const MUCH_COUNTED: Failure = {
  kind: 'rate_limited',
  message: 'This account has had too many bytes counted in a minute.',
}
const UNREAD: Failure = {
  kind: 'rate_limited',
  message: 'Too many large answers of this account wait for their clients to read them.',
  retryAfterMs: 1_000,
}

export class FreeRoutes {
  private readonly options: FreeOptions
  private readonly api: Responder
  private readonly states: IpRateLimiter
  private readonly counts: IpRateLimiter
  /** By account, of bytes that are counted. */
  private readonly counted = new Map<string, TokenBucket>()
  /** By account, of answers that are being sent. */
  private readonly unread: SharedBudget

  constructor(options: FreeOptions, api: Responder) {
    this.options = options
    this.api = api
    this.unread = new SharedBudget({ shareMax: options.free.unreadBytesMax })
    const { statePerMinute, stateConcurrent, countPerMinute, countConcurrent } = options.free
    this.states = new IpRateLimiter({ perMinute: statePerMinute, concurrent: stateConcurrent })
    this.counts = new IpRateLimiter({ perMinute: countPerMinute, concurrent: countConcurrent })
  }

  /** Answers a request for what is stored. */
  state(context: RequestContext, { handler, bytes }: StateHandler, id: string): Promise<void> {
    const { relay, links } = this.options
    return this.within(context, this.states, async (caller) => {
      const linkBase = linkBaseOf(context.exchange, links) ?? ''
      const request = { relay, caller, id, query: new URLSearchParams(context.exchange.head.query), linkBase }
      const share = new UnreadAnswer(this.unread.of(caller.account.id))
      try {
        // What is too large is not even read.
        if (bytes && !share.set(await bytes(request))) return this.api.refuse(context, UNREAD)
        await this.give(context, share, await handler(request))
      } finally {
        share.set(0)
      }
    })
  }

  /** `POST /v1/responses/input_tokens` */
  countResponse(context: RequestContext, { read }: JsonBody): Promise<void> {
    const { exchange } = context
    return this.counting(context, async (caller, spend) => {
      const body = await readJsonBody(exchange, this.options.chatBody)
      if (body.kind === 'rejected') return this.api.refuse(context, body.failure)
      spend(body.bytes - this.declaredBytes(context))
      if (this.lostRight(context)) return
      const counted = { read: await read(body, exchange), bytes: body.bytes, spend }
      const answer = await countResponse(this.options.relay, caller, counted)
      if (answer.kind === 'failure') this.api.refuse(context, answer.failure)
      else this.api.replyText(context, JSON.stringify(answer.body))
    })
  }

  /** Says how many tokens a request would put in, by our own count: nothing is sent and nothing is charged. */
  count(context: RequestContext, reads: JsonBody, write: (inputTokens: number) => object): Promise<void> {
    const { relay } = this.options
    return this.counting(context, async (caller, spend) => {
      const received = await receive(context, reads, this.options)
      try {
        if (received.kind === 'rejected') return this.api.refuse(context, received.failure)
        if (this.lostRight(context)) return
        const { request } = received
        context.request = request
        if (this.declaredBytes(context) === 0) spend(request.textBytes)
        const counted = await relay.count(caller, request, { model: 'named' })
        if (typeof counted === 'number') this.api.replyText(context, JSON.stringify(write(counted)))
        else this.api.refuse(context, counted)
      } finally {
        await received.release?.()
      }
    })
  }

  /** Asked again once a body has arrived, which may have taken a while. */
  private lostRight(context: RequestContext): boolean {
    const caller = this.api.callerOf(context)
    if (!('kind' in caller)) return false
    this.api.refuse(context, caller)
    return true
  }

  /** What a body is said to be, where that may be: of others nothing is read. 0: nothing is said of it. */
  private declaredBytes({ exchange: { declaredBytes = 0 } }: RequestContext): number {
    return declaredBytes > this.options.chatBody.bytesMax ? 0 : declaredBytes
  }

  private counting(context: RequestContext, work: (caller: Caller, spend: Spend) => Promise<void>): Promise<void> {
    return this.within(context, this.counts, async (caller) => {
      const limited = this.options.limiter.enterFree(caller)
      if (limited) return this.api.refuse(context, limitFailure(limited))
      const { id } = caller.account
      const { relay, free } = this.options
      const perMinute = relay.ledger.isEmpty(id) ? free.countBytesPerMinuteUnfunded : free.countBytesPerMinute
      const bucket = this.counted.get(id) ?? new TokenBucket()
      this.counted.set(id, bucket)
      // One larger than all that may be is counted all the same; those behind it wait the longer.
      const waitMs = bucket.waitMs(perMinute, performance.now(), 1)
      if (waitMs > 0) return this.api.refuse(context, { ...MUCH_COUNTED, retryAfterMs: waitMs })
      const spend: Spend = (bytes) => bucket.take(perMinute, performance.now(), bytes)
      spend(this.declaredBytes(context))
      await work(caller, spend)
    })
  }

  private async within(
    context: RequestContext,
    visitors: IpRateLimiter,
    work: (caller: Caller) => Promise<void>,
  ): Promise<void> {
    const caller = this.api.callerOf(context)
    if ('kind' in caller) return this.api.refuse(context, caller)
    const left = visitors.enter(caller.account.id)
    if (typeof left === 'number') return this.api.refuse(context, { ...BUSY, retryAfterMs: left })
    try {
      await work(caller)
    } finally {
      left()
    }
  }

  /** Gives an answer, and is done when its client has taken it. */
  private async give(context: RequestContext, share: UnreadAnswer, answer: StateAnswer): Promise<void> {
    if (answer.kind === 'failure') return this.api.refuse(context, answer.failure)
    const text = answer.kind === 'text' ? answer.text : answer.kind === 'body' ? JSON.stringify(answer.body) : ''
    const bytes = answer.kind === 'stream' ? (answer.bytes ?? 0) : text.length
    if (!share.set(bytes)) return this.api.refuse(context, UNREAD)
    if (answer.kind === 'stream') await this.follow(context, answer.events)
    else this.api.replyText(context, text)
    await context.exchange.drained()
  }

  /** Events of an answer in the making are for those who may ask for it, for as long as they may. */
  private async follow(context: RequestContext, events: ReplyEvents): Promise<void> {
    const { exchange, caller } = context
    const unwatch = caller && this.options.relay.watch(caller, () => exchange.destroy())
    try {
      // It may have been lost while the answer was looked up.
      if (this.lostRight(context)) await events.close()
      else await this.api.replyWithEvents(context, events, {})
    } finally {
      unwatch?.()
    }
  }
}

/** What one answer takes of its account's share of unread bytes. */
class UnreadAnswer {
  private readonly share: BudgetShare
  private own = 0

  constructor(share: BudgetShare) {
    this.share = share
  }

  /** Takes so much instead of what it has. False where that is not to be had; one answer alone may be of any size. */
  set(bytes: number): boolean {
    this.share.give(this.own)
    this.own = 0
    if (bytes <= SMALL_BYTES) this.share.count(bytes)
    else if (this.share.take(bytes, 0) !== 'taken') return false
    this.own = bytes
    return true
  }
}
