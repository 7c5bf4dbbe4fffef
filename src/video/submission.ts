/** Submits a task. Its offers are tried in order until a vendor takes it, or may have taken it. */
import { redactFailure } from '../vendors/redaction.ts'
import { isFinalFault, type UpstreamFailure } from '../domain/failure.ts'
import { PrivateTexts } from '../vendors/kept-words.ts'
import { isInline } from '../formats/core/remote-media.ts'
import { secretsOf, type Offer, type Provider } from '../domain/catalog.ts'
import type { VideoBody } from '../formats/core/video-body.ts'
import type { ReadSubmission, VideoAdapter } from '../formats/videos/adapter.ts'
import { buildAttemptNote, type AttemptEnd } from '../records/record-builder.ts'
import { inlineMedia, namesMedia } from './media.ts'
import type { VideoJob, VideoWorkerDeps } from './job.ts'
import { isSubmissionRefusal, submitOrder, videoVendor, type VideoVendor } from './vendor.ts'

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
    const vendor = videoVendor(deps, offer.providerId)
    // Its provider makes no videos, or makes none any more.
    if (!vendor) continue
    const result = await submitWithKeys(deps, job, { offer, body, vendor })
    if (result.kind !== 'refused') return result
    last = result
    if (isFinalFault(result.failure.kind)) break
  }
  return last
}

type Try = { readonly offer: Offer; readonly body: VideoBody; readonly vendor: VideoVendor<VideoAdapter> }

/** Submits to an offer with one key of its provider after the other, as long as only the key is at fault. */
async function submitWithKeys(deps: VideoWorkerDeps, job: VideoJob, once: Try): Promise<SubmissionResult> {
  const { offer, vendor } = once
  for (let keysLeft = vendor.provider.keys?.length ?? 1; ; keysLeft--) {
    const startedMs = Date.now() - job.task.createdAtMs
    const provider = deps.withKey(vendor.provider, offer.id)
    const result = await submitTo(deps, job, { ...once, vendor: { ...vendor, provider } })
    note(job, { offer, provider }, startedMs, result)
    if (result.kind === 'accepted') {
      deps.learn(offer.id, provider, undefined)
      return { ...result, offer }
    }
    const { failure } = result
    const isRefused = isSubmissionRefusal(failure)
    if (deps.halt.upstreamStopped && !isRefused) return { kind: 'unknown', failure, offer }
    const hasAnother = deps.learn(offer.id, provider, failure)
    if (!isRefused) return { kind: 'unknown', failure, offer }
    if (!hasAnother || keysLeft <= 1) return { kind: 'refused', failure, offer }
  }
}

async function submitTo(deps: VideoWorkerDeps, job: VideoJob, { offer, body, vendor }: Try): Promise<ReadSubmission> {
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

type TriedOffer = { readonly offer: Offer; readonly provider: Provider }

/** Notes the result of the submission. For an accepted task, that is its id at the vendor. */
function note(job: VideoJob, { offer, provider }: TriedOffer, startedMs: number, result: ReadSubmission): void {
  const end: AttemptEnd = result.kind === 'failed' ? result : { kind: 'ok', requestId: result.upstreamId }
  const tookMs = Date.now() - job.task.createdAtMs - startedMs
  job.attempts.push(buildAttemptNote(offer, end, { startedMs, tookMs, keyId: provider.key?.id }))
}
