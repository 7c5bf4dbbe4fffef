/** The trace of one request: its ids, and what is known of the request before its record. */
import { randomSpanId, writeParent } from '../lib/http/trace-context.ts'

/** The request as it arrived. */
export type RequestArrival = {
  readonly method: string
  /** The template of its route, such as `/v1/files/{id}`, or its path without ids if it has no route. */
  readonly path: string
  readonly isRoute: boolean
  /** Whether it is a task that goes on without its request, and no request of HTTP. */
  readonly isTask?: true
  /** When it arrived, as a time of `performance.now()`. */
  readonly startedMs: number
}

export type TraceIds = {
  readonly traceId: string
  /** The span of the client that called. Undefined if the trace begins here. */
  readonly parentSpanId: string | undefined
  readonly state: string | undefined
  readonly isSampled: boolean
  /** Whether upstreams are told of the trace. */
  readonly isPassedOn: boolean
}

type TraceHeaders = Readonly<Record<string, string>>

export class RequestTrace {
  readonly ids: TraceIds
  readonly arrival: RequestArrival
  /** The span of the request at this gateway. */
  readonly spanId = randomSpanId()
  /** Whether its span is written. A request with a record can be refused as well. */
  isWritten = false
  /** The spans of its attempts, by offer, in their order. */
  private readonly attempts: { readonly offerId: string; readonly spanId: string }[] = []

  constructor(ids: TraceIds, arrival: RequestArrival) {
    this.ids = ids
    this.arrival = arrival
  }

  /** What leads from a metric to this trace, if it is recorded. */
  get exemplar(): { readonly traceId: string; readonly spanId: string } | undefined {
    const { isSampled, traceId } = this.ids
    return isSampled ? { traceId, spanId: this.spanId } : undefined
  }

  /** Begins the span of an attempt. Returns the headers that tell the upstream of it. */
  attempt(offerId: string): TraceHeaders | undefined {
    const spanId = randomSpanId()
    this.attempts.push({ offerId, spanId })
    const { traceId, isSampled, isPassedOn, state } = this.ids
    if (!isPassedOn) return undefined
    const traceparent = writeParent({ traceId, spanId, isSampled })
    return state === undefined ? { traceparent } : { traceparent, tracestate: state }
  }

  /** The span of the next attempt at an offer, in the order of the attempts. An attempt that was not sent has none. */
  takeAttempt(offerId: string): string | undefined {
    const at = this.attempts.findIndex((attempt) => attempt.offerId === offerId)
    return at === -1 ? undefined : this.attempts.splice(at, 1)[0]?.spanId
  }
}
