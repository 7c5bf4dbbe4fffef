/**
 * The life of one request, as a table of contents: admit → attempt → answer → finish. It knows no SQL, no routes and no
 * cookies; what it touches comes in through `Relay`.
 */
import type { Failure } from '../domain/failure.ts'
import { admit, unready, type Admission } from './admit.ts'
import { answerStream, answerWhole, type Answer } from './answer.ts'
import { tryOffers } from './attempt.ts'
import type { Call } from './call.ts'
import type { Relay } from './context.ts'
import { claimOnce, type Repeated } from './once.ts'
import { fail, rescue } from './finish.ts'

export type Relayed =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | Repeated

/** Relays one chat request. Resolves when its answer, or the start of its stream, may go to the client. */
export async function relayChat(relay: Relay, call: Call): Promise<Relayed> {
  const earlier = call.once && (await claimOnce(relay, call, call.once))
  if (earlier) return earlier
  // The look-up takes a while, in which a shutdown may have begun: nobody would wait for what starts now.
  const refusal = unready(relay)
  if (refusal) {
    call.claim?.end()
    return { kind: 'failure', failure: refusal }
  }
  const admission = admit(relay, call)
  if (admission.kind === 'refused') {
    call.claim?.end()
    return { kind: 'failure', failure: admission.failure }
  }
  relay.live.add(call)
  try {
    return await serve(relay, call, admission)
  } catch (error) {
    await rescue(relay, call, admission)
    throw error
  }
}

async function serve(relay: Relay, call: Call, admission: Admission): Promise<Relayed> {
  // The upstream is asked while the hold is being written; nothing reaches the client before both are done.
  const attempts = tryOffers(relay, call, admission)
  const { stream } = call.request
  const ready = stream ? Promise.all([attempts, admission.durable]).then(([attempted]) => attempted) : attempts
  const attempted = stream ? await soon(ready, relay.limits.heartbeatMs) : await ready

  if (attempted?.kind === 'failed') {
    return { kind: 'failure', failure: await fail(relay, call, { admission, attempted }) }
  }
  if (attempted?.kind === 'whole') {
    return { kind: 'answer', answer: await answerWhole(relay, call, { admission, served: attempted }) }
  }
  // Also a stream whose upstream is slow to begin: it gets its headers now, and all the rest happens inside it.
  const begun = attempted ? 'answering' : 'waiting'
  return {
    kind: 'answer',
    answer: answerStream(relay, call, { admission, ready, begun, dropped: attempted?.dropped ?? [] }),
  }
}

/** The value, or undefined when it takes longer than `waitMs`. */
async function soon<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), waitMs)
  const value = await Promise.race([promise, late])
  clearTimeout(timer)
  return value
}
