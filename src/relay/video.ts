/** A request for a video. It is admitted and held for like any other, and is its own task from then on. */
import { failureForClient } from '../domain/failure-policy.ts'
import { randomBytes, randomInt } from 'node:crypto'
import { isRequestFault, type Failure, type UpstreamFailure } from '../domain/failure.ts'
import { formatUsd } from '../domain/money.ts'
import { secondsMax, tokensMax } from '../domain/video-price.ts'
import { SEED_MAX } from '../domain/video.ts'
import type { VideoTask } from '../domain/video-task.ts'
import type { VideoBody } from '../formats/core/video-body.ts'
import { fitted, wishOf } from '../formats/videos/check.ts'
import { showCreated } from '../formats/videos/view.ts'
import { base62 } from '../lib/primitives/ids.ts'
import type { KeptAnswer } from '../records/idempotency.ts'
import type { Acceptance } from '../video/videos.ts'
import { admitTask, type HoldTerms } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { decideAgain } from './decide-again.ts'
import type { ReplayedAnswer } from './idempotency.ts'
import { endUnheld } from './refused-hold.ts'
import { scrubbed } from './scrubbed.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import type { Answer } from './answer.ts'

type VideoResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | ReplayedAnswer

/** Makes the task. Row and hold are on disk before anything is sent. It continues whether its client waits or not. */
export async function relayTask(relay: Relay, call: GatewayRequest): Promise<VideoResult> {
  const { video: body } = call.request
  if (!body) throw new Error('a video is the only task there is')
  let task: VideoTask | undefined
  let fit: ReturnType<typeof fitted> = { body, dropped: [] }
  const decide = () =>
    admitTask(relay, call, {
      obstacle: () => relay.videos.obstacle(),
      steps: (terms) => {
        fit = fitted(body, terms.model.limits.video)
        task = taskOf(call, fit.body, terms)
        const lock = call.life.lock
        return [...relay.videos.tasks.insertSteps(task), ...(lock?.keep(answerOf(task, fit.dropped)) ?? [])]
      },
    })
  let admission = decide()
  if (admission.kind === 'old_balance') admission = await decideAgain(relay, call, decide)
  if (admission.kind === 'refused' || !task) {
    relay.live.delete(call)
    call.life.ended(undefined)
    if (admission.kind === 'refused') return { kind: 'failure', failure: admission.failure }
    throw new Error('a hold without its task')
  }
  relay.live.add(call)
  try {
    const outcome = await admission.held.durable
    if (outcome.kind === 'refused') return await endUnheld(relay, call, { refusal: outcome.refusal, needed: task.held })
    const reservation = call.limiterPermit
    const accepted = await relay.videos.begin({ task, body: fit.body, reservation, undo: call.life.lock?.drop() ?? [] })
    if (accepted.kind === 'refused') return { kind: 'failure', failure: failureOf(relay, accepted) }
    const { headers, body: content } = answerOf(task, fit.dropped)
    return { kind: 'answer', answer: { kind: 'whole', headers, content } }
  } finally {
    relay.live.delete(call)
    call.life.ended(undefined)
  }
}

/** An id has 184 random bits, because it alone gives access to the video. */
const makeTaskId = (): string => `task_${base62(BigInt(`0x${randomBytes(23).toString('hex')}`), 32)}`

function taskOf(call: GatewayRequest, body: VideoBody, { model, offers, quoted, createdAtMs }: HoldTerms): VideoTask {
  const { limits, sale } = model
  const { video: facts } = limits
  const wish = wishOf(body, facts, randomInt(SEED_MAX + 1))
  const { fps, upscaler, deadlineMs } = facts
  return {
    id: makeTaskId(),
    accountId: call.caller.account.id,
    keyId: call.caller.key.id,
    requestId: call.id,
    model: model.id,
    stage: 'submitting',
    progress: 0,
    wish,
    terms: { sale, offers, upscaler, fps, secondsMax: secondsMax(facts, wish), tokensMax: tokensMax(facts, wish) },
    held: quoted.amount,
    offerId: undefined,
    upstreamId: undefined,
    upscaleId: undefined,
    made: undefined,
    usage: undefined,
    reason: undefined,
    createdAtMs,
    deadlineAtMs: createdAtMs + deadlineMs,
    startedAtMs: undefined,
    endedAtMs: undefined,
  }
}

const answerOf = (task: VideoTask, dropped: readonly string[]): KeptAnswer & { readonly body: string } => ({
  status: 200,
  headers: {
    ...JSON_TYPE,
    'x-tollgate-held-usd': formatUsd(task.held),
    ...(dropped.length === 0 ? {} : { 'x-tollgate-dropped': dropped.join(', ') }),
  },
  body: JSON.stringify(showCreated(task)),
})

/** The client is told if the request is at fault. Any other failure is temporary, and no task was made. */
function failureOf(relay: Relay, { failure, offer }: Extract<Acceptance, { kind: 'refused' }>): Failure {
  if (isRequestFault(failure.kind)) return scrubbed(relay, failureForClient(failure), offer && { offer })
  return temporary(failure)
}

const temporary = ({ retryAfterMs }: UpstreamFailure): Failure => ({
  kind: 'unavailable',
  message: 'No upstream takes a video of this model at the moment. Nothing was charged. Try again later.',
  retryAfterMs: retryAfterMs ?? 10_000,
})
