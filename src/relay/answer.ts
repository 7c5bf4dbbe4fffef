/** Answers: what the client gets once an upstream has committed, and the settlement that must come before its end. */
import type { MeteredUsage } from '../formats/core/contract.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import { isLong, joinInOwnTurn } from '../lib/primitives/long-text.ts'
import type { KeptAnswer } from '../records/idempotency.ts'
import type { SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import { keepAnswer } from './answer-cache.ts'
import type { WholeServed } from './offers-outcome.ts'
import { factsOf } from './prepared-attempt.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { NOT_REPEATABLE, outcomeOf, settle } from './finish.ts'
import { wholeHeaders } from './headers.ts'
import { meter } from './meter.ts'
import type { StreamedAnswer } from './stream-answer.ts'

/** The headers belong to the receiver, which may add to them. Those of a whole answer include its type. */
export type Answer = WholeAnswer | StreamedAnswer
type WholeAnswer = {
  readonly kind: 'whole'
  readonly headers: Record<string, string>
  readonly content: MessageContent
}

type WholeJob = { readonly admission: Admission; readonly served: WholeServed }

/** This is not an asynchronous function, because most answers have nothing to wait for but the settlement. */
export function answerWhole(relay: Relay, call: GatewayRequest, job: WholeJob): Promise<Answer> {
  const { admission, served } = job
  call.life.answering(call.elapsedMs())
  const { usage, produced, delivered, painted } = served.reply
  const { isCut } = served
  const metering = meter(relay, call, { usage, produced, delivered, painted, admission, complete: !isCut, isCut })
  if (metering instanceof Promise) return metering.then((metered) => writeWhole(relay, call, job, metered))
  return writeWhole(relay, call, job, metering)
}

function writeWhole(relay: Relay, call: GatewayRequest, job: WholeJob, metered: MeteredUsage): Promise<Answer> {
  const { reply } = job.served
  if (reply.content) {
    const { bytes: content, contentType } = reply.content
    return settleWhole(relay, call, job, { metered, content, contentType })
  }
  const contentType = JSON_TYPE['content-type']
  const content = reply.write(factsOf(call, job.admission), metered.usage)
  if (isLong(content)) {
    return joinInOwnTurn(content).then(() => settleWhole(relay, call, job, { metered, content, contentType }))
  }
  return settleWhole(relay, call, job, { metered, content, contentType })
}

type WrittenWhole = {
  readonly metered: MeteredUsage
  readonly content: MessageContent
  readonly contentType: string
}

function settleWhole(
  relay: Relay,
  call: GatewayRequest,
  { admission, served }: WholeJob,
  { metered, content, contentType }: WrittenWhole,
): Promise<Answer> {
  const headersFor = (record: SettledRecord): Record<string, string> =>
    wholeHeaders(record, call, { contentType, dropped: served.dropped })
  return settle(relay, call, {
    admission,
    served,
    metered,
    // A cancelled answer may be shorter, because the remaining fetches were not made.
    outcome: call.cancelled ? outcomeOf(call.cancelled) : 'completed',
    answer:
      call.life.lock &&
      (isPart(call, { admission, served })
        ? () => NOT_REPEATABLE
        : (record): KeptAnswer => ({ status: 200, headers: headersFor(record), body: content })),
  }).then((record) => {
    if (call.cacheUse)
      keepAnswer(relay, call, { admission, served, record, content, form: 'whole', isCut: served.isCut })
    return { kind: 'whole', headers: headersFor(record), content }
  })
}

/** Whether less arrived than was requested, and the gateway is a cause of it. */
const isPart = (
  { upstreamStopped, request }: GatewayRequest,
  { admission: { modality, model }, served }: WholeJob,
): boolean => upstreamStopped && modality.isPart(served.reply, request, model)
