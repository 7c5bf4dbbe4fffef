/** Answers requests that generate. Money is held before anything is sent. */
import type { LimiterPermit } from '../accounts/limiter.ts'
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { RoutingHints } from '../domain/routing-hints.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import { limitFailure } from '../accounts/limit-failure.ts'
import type { RelayedRequest, RelayPort } from '../relay/port.ts'
import type { RequestBody } from './request-body.ts'
import type { EdgeServices } from './edge-options.ts'
import { readCacheAsk } from './cache-ask.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { linkBaseOf } from './links.ts'
import { receive, withHintHeaders, type ReceivedRequest } from './read-request.ts'
import type { RequestContext, Responder } from './request-context.ts'

const CROWDED_ADDRESS: Failure = {
  kind: 'rate_limited',
  message: 'This address has too many requests under way, or had too many in a minute.',
}

/** Processes a request from its key to its last byte. */
export function generate(services: EdgeServices, context: RequestContext, reads: RequestBody): void | Promise<void> {
  const { responder, addresses } = services
  const caller = responder.callerOf(context)
  if ('kind' in caller) return responder.refuse(context, caller)
  if (addresses === undefined) return generateFor(services, context, { caller, reads, addressWaitMs: undefined })
  const permit = addresses.enter(responder.clientOf(context))
  if (typeof permit === 'number') return responder.refuse(context, { ...CROWDED_ADDRESS, retryAfterMs: permit })
  return generateFor(services, context, { caller, reads, addressWaitMs: permit.waitMs }).finally(permit.leave)
}

type Entry = {
  readonly caller: Caller
  readonly reads: RequestBody
  /** How long its address must wait, once the other instances have been asked. 0: it need not. */
  readonly addressWaitMs: Promise<number> | undefined
}

async function generateFor(
  services: EdgeServices,
  context: RequestContext,
  { caller, reads, addressWaitMs }: Entry,
): Promise<void> {
  const { responder, limiter, relay } = services
  const limiterPermit = limiter.enter(caller)
  if (limiterPermit.kind !== 'admitted') {
    return responder.refuse(context, limitFailure(limiterPermit), limiter.headers(caller))
  }
  let call: RelayedRequest | Failure | undefined
  try {
    const refusal = relay.precheck(caller, context.exchange.header('idempotency-key') !== undefined)
    if (refusal) return responder.refuse(context, refusal, limiterPermit.withRates())
    const receiving = receive(context, reads, services)
    // The body of nearly every request has arrived already. Such a request is processed in its own tick.
    const received = receiving instanceof Promise ? await receiving : receiving
    try {
      // The body is read in the tick of the request, so this is not awaited before.
      const waitMs = addressWaitMs && (await addressWaitMs)
      if (waitMs) return responder.refuse(context, { ...CROWDED_ADDRESS, retryAfterMs: waitMs })
      const hinting = received.kind === 'rejected' ? received : withHintHeaders(context.exchange, received)
      const hinted = hinting instanceof Promise ? await hinting : hinting
      call =
        hinted.kind === 'rejected'
          ? hinted.failure
          : requestFor(services, context, { ...hinted, caller, limiterPermit })
      if ('message' in call) return responder.refuse(context, call)
      const streaming = answer(services, context, { call, relayed: await relay.carryOut(call) })
      if (streaming) await streaming
    } finally {
      if (received.release) await received.release()
    }
  } finally {
    limiterPermit.leave()
    if (call && 'replyMemory' in call && call.replyMemory) await call.forgetReplies(context.exchange.flushed())
  }
}

type AdmittedRequest = ReceivedRequest & { readonly caller: Caller; readonly limiterPermit: LimiterPermit }

/** Builds the request for the relay, or the failure that refuses it. */
function requestFor(
  { responder, relay, links }: EdgeServices,
  context: RequestContext,
  { request, fingerprint, hints, caller, limiterPermit }: AdmittedRequest,
): RelayedRequest | Failure {
  const { exchange, id, startedMs } = context
  context.request = request
  // This check follows the arrival of the body. Between here and the hold, a shutdown can only begin during the lookup
  // of an idempotency key, and the relay checks again after it.
  const refusal = relay.unready()
  if (refusal) return refusal
  const unfit = hints && refuseTaskHints(request, hints)
  if (unfit) return unfit
  const clientAddress = responder.clientOf(context)
  const linkBase = linkBaseOf(exchange, links)
  const once = readIdempotencyKey(exchange.header('idempotency-key'), exchange.head.path, fingerprint)
  if (once && 'kind' in once) return once
  const cacheAsk = relay.cachesAnswers ? readCacheAsk(exchange, fingerprint) : undefined
  if (cacheAsk && 'kind' in cacheAsk) return cacheAsk
  const call = relay.open({
    id,
    caller,
    request,
    limiterPermit,
    startedMs,
    clientAddress,
    once,
    cacheAsk,
    linkBase,
    trace: responder.traceOf(context),
    hints,
    headers: exchange.head.headers,
  })
  if (!call.isBackground) {
    if (exchange.isGone) call.cancel('client_closed')
    exchange.onClosed = () => relay.left(call)
  }
  return call
}

/** A task has frozen terms of one model, and tells at its start what its model cannot use. */
function refuseTaskHints(
  { video }: ReceivedRequest['request'],
  { fallbacks, provider }: RoutingHints,
): Failure | undefined {
  if (!video) return undefined
  const param =
    fallbacks.length > 0 ? 'models' : provider.requiresParameters ? 'provider.require_parameters' : undefined
  if (param === undefined) return undefined
  return { kind: 'unsupported_parameter', message: `'${param}' is not supported for videos.`, param }
}

type RelayResult = Awaited<ReturnType<RelayPort['carryOut']>>
type AnsweredRequest = { readonly call: RelayedRequest; readonly relayed: RelayResult }

/** Sends the result to the client. It returns a promise only when that takes more than this tick. */
function answer(
  { responder }: EdgeServices,
  context: RequestContext,
  { call, relayed }: AnsweredRequest,
): void | Promise<void> {
  const { limiterPermit } = call
  switch (relayed.kind) {
    case 'failure': {
      context.isRecorded = relayed.isRecorded ?? false
      return responder.refuse(context, relayed.failure, limiterPermit.withRates({ ...relayed.headers }))
    }
    case 'unheard':
      return undefined
    case 'repeated': {
      const { answer: kept, requestId } = relayed
      const headers = { ...kept.headers, 'idempotent-replayed': 'true', 'x-tollgate-request': requestId }
      return responder.write(context, kept.status, limiterPermit.withRates(headers), kept.body)
    }
    case 'background': {
      const headers = limiterPermit.withRates({ ...relayed.headers })
      return answerInBackground(responder, context, { call, relayed: { ...relayed, headers } })
    }
    case 'answer': {
      const { answer: given } = relayed
      const headers = limiterPermit.withRates(given.headers)
      if (given.kind !== 'stream') return responder.write(context, 200, headers, given.content)
      const { events, begun, contentType } = given
      const { heartbeat } = call.request
      return responder.replyWithStream(context, call, { events, headers, begun, contentType, heartbeat })
    }
  }
}

type BackgroundResult = Extract<RelayResult, { kind: 'background' }>

/** Answers a request that goes on without its client. */
async function answerInBackground(
  responder: Responder,
  context: RequestContext,
  { call, relayed: { response, text, headers } }: AnsweredRequest & { readonly relayed: BackgroundResult },
): Promise<void> {
  if (call.request.conversation?.mode === 'followed') {
    await responder.replyWithEvents(context, { events: response.follow(-1), headers })
  } else responder.write(context, 200, { ...JSON_TYPE, ...headers }, text)
  // The request counts against the concurrency of its key until the response ends.
  return response.over
}
