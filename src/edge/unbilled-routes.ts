/**
 * Free routes: token counts and stored objects. No balance stops them, so they have limits by account: requests per
 * minute, concurrent requests, and bytes that wait for clients that do not read.
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
  /** Requests of one account for stored objects, per minute and at once. */
  readonly statePerMinute: number
  readonly stateConcurrent: number
  /** Requests of one account to count tokens. The limits of the key and the account apply too. */
  readonly countPerMinute: number
  readonly countConcurrent: number
  /** Counted bytes of one account per minute. An account without money has fewer. */
  readonly countBytesPerMinute: number
  readonly countBytesPerMinuteUnfunded: number
  /** Bytes of answers of one account that wait for their clients. A single answer may be larger. */
  readonly unreadBytesMax: number
}

/**
 * A client may poll five hundred videos twice a second. Reading and counting a megabyte takes 20 to 40 ms of two
 * threads, so an account can keep them busy for a second or two per minute.
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
type StateStream = Extract<StateAnswer, { kind: 'stream' }>

/** An answer up to this size is never refused. */
const SMALL_BYTES = 64 * KIB
const BUSY: Failure = {
  kind: 'rate_limited',
  message: 'This account has too many free requests under way, or had too many in a minute.',
}
const MUCH_COUNTED: Failure = {
  kind: 'rate_limited',
  message: 'This account has counted too many bytes in a minute.',
}
const UNREAD: Failure = {
  kind: 'rate_limited',
  message: 'Too many large answers of this account are waiting to be read by their clients.',
  retryAfterMs: 1_000,
}

export class FreeRoutes {
  private readonly options: FreeOptions
  private readonly api: Responder
  private readonly states: IpRateLimiter
  private readonly counts: IpRateLimiter
  /** Counted bytes by account. */
  private readonly counted = new Map<string, TokenBucket>()
  /** Bytes of unread answers by account. */
  private readonly unread: SharedBudget

  constructor(options: FreeOptions, api: Responder) {
    this.options = options
    this.api = api
    this.unread = new SharedBudget({ shareMax: options.free.unreadBytesMax })
    const { statePerMinute, stateConcurrent, countPerMinute, countConcurrent } = options.free
    this.states = new IpRateLimiter({ perMinute: statePerMinute, concurrent: stateConcurrent })
    this.counts = new IpRateLimiter({ perMinute: countPerMinute, concurrent: countConcurrent })
  }

  /** Answers a request for a stored object. */
  state(context: RequestContext, { handler, bytes }: StateHandler, id: string): Promise<void> {
    const { relay, links } = this.options
    return this.within(context, this.states, async (caller) => {
      const linkBase = linkBaseOf(context.exchange, links) ?? ''
      const request = { relay, caller, id, query: new URLSearchParams(context.exchange.head.query), linkBase }
      const share = new UnreadAnswer(this.unread.of(caller.account.id))
      try {
        // An answer that is too large is refused before it is read.
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

  /** Answers with the number of input tokens of a request, by the gateway's own count. Nothing is sent or charged. */
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

  /** Checks the caller again after the body, which may have taken time, has arrived. */
  private lostRight(context: RequestContext): boolean {
    const caller = this.api.callerOf(context)
    if (!('kind' in caller)) return false
    this.api.refuse(context, caller)
    return true
  }

  /** The declared size of a body. 0 for a body without one, and for a body too large to be read. */
  private declaredBytes({ exchange: { declaredBytes = 0 } }: RequestContext): number {
    return declaredBytes > this.options.chatBody.bytesMax ? 0 : declaredBytes
  }

  private counting(context: RequestContext, work: (caller: Caller, spend: Spend) => Promise<void>): Promise<void> {
    return this.within(context, this.counts, async (caller) => {
      const limited = this.options.limiter.enterFree(caller)
      if (limited) return this.api.refuse(context, limitFailure(limited))
      const { id } = caller.account
      const { relay, free } = this.options
      // The last known balance decides, however old it is: an account without money must not have the larger rate.
      const isFunded = relay.ledger.balance(id).posted > 0n
      const perMinute = isFunded ? free.countBytesPerMinute : free.countBytesPerMinuteUnfunded
      const bucket = this.counted.get(id) ?? new TokenBucket()
      this.counted.set(id, bucket)
      // A body larger than the whole allowance is counted too. The requests after it wait longer.
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

  /** Sends an answer. It ends when the client has taken the answer. */
  private async give(context: RequestContext, share: UnreadAnswer, answer: StateAnswer): Promise<void> {
    if (answer.kind === 'failure') return this.api.refuse(context, answer.failure)
    const text = answer.kind === 'text' ? answer.text : answer.kind === 'body' ? JSON.stringify(answer.body) : ''
    const bytes = answer.kind === 'stream' ? (answer.bytes ?? 0) : text.length
    if (!share.set(bytes)) return this.api.refuse(context, UNREAD)
    if (answer.kind === 'stream') await this.follow(context, answer)
    else this.api.replyText(context, text)
    await context.exchange.flushed()
  }

  /** Sends the events of an answer that is still being made. It stops when the caller loses the right to them. */
  private async follow(context: RequestContext, { events, begun }: StateStream): Promise<void> {
    const { exchange, caller } = context
    const unwatch = caller && this.options.relay.watch(caller, () => exchange.destroy())
    try {
      // The caller may have lost the right during the lookup.
      if (this.lostRight(context)) await events.close()
      else await this.api.replyWithEvents(context, { events, begun, headers: {} })
    } finally {
      unwatch?.()
    }
  }
}

/** The part of an account's unread bytes that one answer takes. */
class UnreadAnswer {
  private readonly share: BudgetShare
  private own = 0

  constructor(share: BudgetShare) {
    this.share = share
  }

  /** Replaces the part by `bytes`. False: the share is full. A single answer may have any size. */
  set(bytes: number): boolean {
    this.share.give(this.own)
    this.own = 0
    if (bytes <= SMALL_BYTES) this.share.count(bytes)
    else if (this.share.take(bytes, 0) !== 'taken') return false
    this.own = bytes
    return true
  }
}
