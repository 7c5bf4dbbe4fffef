/** Submits a task. Its offers are tried in order until a vendor takes it, or may have taken it. */
import { redactFailure } from '../vendors/redaction.ts'
import { isFinalFault, type UpstreamFailure } from '../domain/failure.ts'
import { PrivateTexts } from '../vendors/kept-words.ts'
import { isInline } from '../formats/core/remote-media.ts'
import { secretsOf, type Offer } from '../domain/catalog.ts'
import type { VideoBody } from '../formats/core/video-body.ts'
import type { ReadSubmission } from '../formats/videos/adapter.ts'
import { buildAttemptNote, type AttemptEnd } from '../records/record-builder.ts'
import { inlineMedia, namesMedia } from './media.ts'
import type { VideoJob, VideoWorkerDeps } from './job.ts'
import { isSubmissionRefusal, submitOrder, videoVendor } from './vendor.ts'

export type SubmissionResult =
  | { readonly kind: 'accepted'; readonly offer: Offer; readonly upstreamId: string }
  /** No vendor has the task. */
  | { readonly kind: 'refused'; readonly failure: UpstreamFailure; readonly offer: Offer | undefined }
  /** A vendor may have the task, so it is not sent again. */
  | { readonly kind: 'unknown'; readonly failure: UpstreamFailure; readonly offer: Offer }

export async function submitTask(deps: VideoWorkerDeps, job: VideoJob, body: VideoBody): Promise<SubmissionResult> {
  let last: SubmissionResult = {
    kind: 'refused',
    failure: { kind: 'model_gone', message: 'no offer could be tried' },
    offer: undefined,
  }
  for (const offer of job.task.terms.offers) {
    const startedMs = Date.now() - job.task.createdAtMs
    const result = await submitTo(deps, job, { offer, body })
    if (!result) continue
    note(job, offer, startedMs, result)
    if (result.kind === 'accepted') {
      deps.learn(offer.id, undefined)
      return { ...result, offer }
    }
    const { failure } = result
    if (deps.halt.upstreamStopped && !isSubmissionRefusal(failure)) return { kind: 'unknown', failure, offer }
    deps.learn(offer.id, failure)
    if (!isSubmissionRefusal(failure)) return { kind: 'unknown', failure, offer }
    last = { kind: 'refused', failure, offer }
    if (isFinalFault(failure.kind)) break
  }
  return last
}

type Try = { readonly offer: Offer; readonly body: VideoBody }

/** Returns undefined if the offer's provider makes no videos, or makes none any more. */
async function submitTo(
  deps: VideoWorkerDeps,
  job: VideoJob,
  { offer, body }: Try,
): Promise<ReadSubmission | undefined> {
  const vendor = videoVendor(deps, offer.providerId)
  if (!vendor) return undefined
  const { wish, accountId } = job.task
  const submit = async (whole: VideoBody): Promise<ReadSubmission> => {
    const sent = await submitOrder(deps, vendor, { body: whole, wish, upstreamModel: offer.upstreamModel })
    if (sent.kind !== 'failed') return sent
    const addresses = body.media.flatMap(({ url }) => (isInline(url) ? [] : [url]))
    const failure = redactFailure(sent.failure, {
      secret: secretsOf(vendor.provider),
      texts: new PrivateTexts([body.prompt, ...addresses]),
      known: [offer.upstreamModel, offer.modelId],
      keepsMessages: deps.upstreamMessages === 'kept',
    })
    return { ...sent, failure }
  }
  if (vendor.adapter.media !== 'inline' || !namesMedia(body)) return submit(body)
  // The slot is kept until the vendor has the task, because the fetched media stay in memory until then.
  return deps.inlining.run(
    async () => {
      const inlined = await inlineMedia(deps, body, vendor.provider)
      return 'failure' in inlined ? { kind: 'failed', failure: inlined.failure } : submit(inlined)
    },
    { share: accountId },
  )
}

/** Notes the result of the submission. For an accepted task, that is its id at the vendor. */
function note(job: VideoJob, offer: Offer, startedMs: number, result: ReadSubmission): void {
  const end: AttemptEnd = result.kind === 'failed' ? result : { kind: 'ok', requestId: result.upstreamId }
  const tookMs = Date.now() - job.task.createdAtMs - startedMs
  job.attempts.push(buildAttemptNote(offer, end, { startedMs, tookMs }))
}
