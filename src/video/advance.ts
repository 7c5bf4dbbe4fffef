/** Polls a task once: asks its vendor for the state, and takes the step that follows. */
import { videoBounds } from '../domain/video.ts'
import type { Offer, Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { videoFaults as reasons, type VideoTask } from '../domain/video-task.ts'
import type { ReadState, ReadSubmission, UpscaleOrder, VideoSource, VideoState } from '../formats/videos/adapter.ts'
import { checkUrl } from '../outbound/guard.ts'
import { buildAttemptNote } from '../records/record-builder.ts'
import type { AttemptNote } from '../records/records.ts'
import { chosenOffer, completeTask, failTask } from './ending.ts'
import { bringFile, TOO_LARGE } from './file.ts'
import { taskFields, type DownloadedFile, type VideoJob, type VideoWorkerDeps } from './job.ts'
import { progressOf } from './poll-schedule.ts'
import {
  atKey,
  askState,
  askText,
  isSubmissionRefusal,
  submitOrder,
  upscaleVendor,
  videoVendor,
  type VideoVendor,
} from './vendor.ts'

/** Polls once. An error of a vendor is retried. Only a vendor's verdict or the deadline ends a task. */
export async function advanceTask(deps: VideoWorkerDeps, job: VideoJob): Promise<void> {
  const { stage } = job.task
  const before = stage
  job.looks++
  // Its vendor may forget a video whose file is already here.
  if (job.brought) await store(deps, job, job.brought)
  else if (stage === 'submitting') await lookFor(deps, job)
  else await follow(deps, job)
  if (job.isEnded || deps.halt.upstreamStopped) return
  if (job.task.stage !== before) Object.assign(job, { looks: 0, failures: 0 })
  if (Date.now() >= lastMs(job)) await giveUp(deps, job)
}

/** When a task fails at the latest. The storage of a file that is here has a time of its own. */
const lastMs = ({ task, brought }: VideoJob): number =>
  brought ? Math.max(task.deadlineAtMs, brought.atMs + videoBounds.storeMs) : task.deadlineAtMs

async function giveUp(deps: VideoWorkerDeps, job: VideoJob): Promise<void> {
  const { brought } = job
  const orphan = brought ? 'its file could not be stored' : 'it was not made in time and may still be made'
  await failTask(deps, job, { reason: reasons.overdue, orphan })
  await brought?.blob.discard()
}

/** Searches for a task whose submission broke or whose process died. If found, it continues. It is never sent again. */
async function lookFor(deps: VideoWorkerDeps, job: VideoJob): Promise<void> {
  const { task } = job
  const unsure = 'it may have been submitted, but is not among the newest tasks there'
  let mayBeListed = false
  for (const offer of task.terms.offers) {
    const vendor = videoVendor(deps, offer.providerId)
    const find = vendor?.adapter.find
    if (!vendor || !find) continue
    mayBeListed = true
    for (const provider of vendor.provider.keys ?? [vendor.provider]) {
      const text = await askText(deps, { ...vendor, provider }, find.request(offer.upstreamModel))
      const found = text === undefined ? undefined : find.read(text, task)
      const known = await deps.tasks.knows(found ?? [])
      const free = (found ?? []).filter((id) => !known.has(id))
      const [upstreamId] = free
      // Two candidates count as none, because the right one cannot be told.
      if (upstreamId === undefined || free.length > 1) continue
      const attempts = [...job.attempts, ...foundNote(offer, upstreamId, provider)]
      if (!(await deps.tasks.accepted(task, { offerId: offer.id, upstreamId, attempts }))) continue
      job.attempts.splice(0, job.attempts.length, ...attempts)
      job.task = { ...task, stage: 'queued', offerId: offer.id, upstreamId }
      return deps.log('warn', 'video.found', taskFields(job))
    }
  }
  if (deps.halt.upstreamStopped) return
  if (mayBeListed && job.looks < videoBounds.looksMax) return
  await failTask(deps, job, { reason: reasons.unsure, orphan: unsure })
}

/** What says later with which of several keys the task was found. */
const foundNote = (offer: Offer, upstreamId: string, { key }: Provider): readonly AttemptNote[] =>
  key
    ? [buildAttemptNote(offer, { kind: 'ok', requestId: upstreamId }, { startedMs: 0, tookMs: 0, keyId: key.id })]
    : []

/** The key of a task at its vendor, if the provider has several: the one that it was submitted with. */
const keyOf = ({ task, attempts }: VideoJob): string | undefined =>
  attempts.findLast(({ offerId, result, keyId }) => offerId === task.offerId && result === 'ok' && keyId)?.keyId

/** Asks the vendor that works on the task. */
async function follow(deps: VideoWorkerDeps, job: VideoJob): Promise<void> {
  const { task } = job
  const offer = chosenOffer(task)
  const vendor = offer && videoVendor(deps, offer.providerId)
  const maker = vendor && atKey(vendor, keyOf(job))
  const isUpscaled = task.wish.upscale !== undefined
  const upscaler = isUpscaled ? upscaleVendor(deps, task.terms.upscaler) : undefined
  // Without its provider the task waits. The operator may bring the provider back before the deadline.
  if (!offer || !maker || task.upstreamId === undefined || (isUpscaled && !upscaler)) return void job.failures++
  const { upscaleId, upstreamId } = task
  const read =
    upscaler && upscaleId !== undefined
      ? await askState(deps, upscaler, { upstreamId: upscaleId, upstreamModel: '' })
      : await askState(deps, maker, { upstreamId, upstreamModel: offer.upstreamModel })
  if (deps.halt.upstreamStopped) return
  const state = await stateFrom(deps, job, read)
  if (!state) return
  if (state.kind !== 'done') return note(deps, job, state)
  if (upscaler && upscaleId === undefined) return beginUpscaling(deps, job, { upscaler, maker, state })
  await bring(deps, job, { state, vendor: upscaler ?? maker })
}

/** The state that the vendor gave, if it gave one. A task that it does not know three times in a row has failed. */
async function stateFrom(deps: VideoWorkerDeps, job: VideoJob, read: ReadState): Promise<VideoState | undefined> {
  if (read.kind === 'state') {
    Object.assign(job, { failures: 0, misses: 0 })
    return read.state
  }
  const { failure } = read
  job.failures++
  deps.log('info', 'video.status_unavailable', { ...taskFields(job), result: failure.kind, status: failure.status })
  job.misses = failure.status === 404 ? job.misses + 1 : 0
  if (job.misses < videoBounds.missesMax) return undefined
  await failTask(deps, job, { reason: reasons.gone, orphan: 'its vendor no longer knows it' })
  return undefined
}

/** Notes the state of a task that continues or has failed. */
async function note(deps: VideoWorkerDeps, job: VideoJob, state: Exclude<VideoState, { kind: 'done' }>): Promise<void> {
  const { task } = job
  if (state.kind === 'failed') {
    deps.log('warn', 'video.failed', { ...taskFields(job), why: state.why, code: state.code })
    const { offers } = task.terms
    job.attempts.push(...offers.filter(({ id }) => id === task.offerId).map((offer) => verdict(task, offer.id, state)))
    const reason = task.stage === 'upscaling' && state.why === 'fault' ? reasons.upscaling : reasons[state.why]
    return failTask(deps, job, { reason })
  }
  if (state.kind === 'queued') return
  const startedAtMs = task.startedAtMs ?? Date.now()
  const stage = task.stage === 'queued' ? 'running' : task.stage
  const progress = Math.max(task.progress, progressOf({ ...task, stage }, Date.now() - startedAtMs))
  if (task.stage === 'queued') await deps.tasks.running(task, progress)
  else if (progress > task.progress) await deps.tasks.raised(task, progress)
  job.task = { ...task, stage, startedAtMs, progress }
}

/** The vendor's verdict, as an attempt in the record. */
function verdict(task: VideoTask, offerId: string, { why, code }: Extract<VideoState, { kind: 'failed' }>) {
  const offer = task.terms.offers.find(({ id }) => id === offerId)
  return {
    offerId,
    providerId: task.stage === 'upscaling' ? (task.terms.upscaler ?? '') : (offer?.providerId ?? ''),
    upstreamModel: offer?.upstreamModel ?? '',
    result: why,
    ...(code === undefined ? {} : { code }),
    ...(task.upstreamId === undefined ? {} : { requestId: task.upstreamId }),
    startedMs: 0,
    tookMs: Date.now() - task.createdAtMs,
  }
}

type DoneState = Extract<VideoState, { kind: 'done' }>
type Upscaler = NonNullable<ReturnType<typeof upscaleVendor>>
type UpscaleStart = {
  readonly upscaler: Upscaler
  readonly maker: VideoVendor<unknown>
  readonly state: DoneState
}

/** Passes the finished video on. Every try has the same token, so the vendor carries it out once. */
async function beginUpscaling(
  deps: VideoWorkerDeps,
  job: VideoJob,
  { upscaler, maker, state }: UpscaleStart,
): Promise<void> {
  const { task } = job
  if (task.stage !== 'upscaling') {
    const progress = Math.max(task.progress, progressOf({ ...task, stage: 'upscaling' }, 0))
    await deps.tasks.upscaling(task, state.made, progress)
    job.task = { ...task, stage: 'upscaling', made: state.made, progress }
  }
  const order = orderOf(task, state.source, maker)
  const sent = order ? await submitOrder<UpscaleOrder>(deps, upscaler, order) : unreachable
  if (sent.kind === 'accepted') {
    await deps.tasks.acceptedUpscale(job.task, sent.upstreamId)
    job.task = { ...job.task, upscaleId: sent.upstreamId }
    return
  }
  const { failure } = sent
  job.failures++
  deps.log('info', 'video.status_unavailable', { ...taskFields(job), result: failure.kind, status: failure.status })
  if (isFinal(failure)) await failTask(deps, job, { reason: reasons.upscaling })
}

const unreachable: ReadSubmission = {
  kind: 'failed',
  failure: { kind: 'bad_request', message: 'the video has no address that can be passed on' },
}

const isFinal = (failure: UpstreamFailure): boolean =>
  isSubmissionRefusal(failure) && (failure.kind === 'bad_request' || failure.kind === 'policy')

function orderOf(task: VideoTask, source: VideoSource, { provider }: UpscaleStart['maker']): UpscaleOrder | undefined {
  const { upscale } = task.wish
  // An address that needs the provider's credential cannot be opened by another vendor.
  if (!upscale || source.kind === 'inline' || source.credential !== 'none') return undefined
  const reach = URL.parse(source.url)?.origin === new URL(provider.baseUrl).origin ? provider.reach : 'public'
  if (checkUrl(source.url, reach).kind !== 'good') return undefined
  return { url: source.url, wish: upscale, token: task.requestId }
}

/** Stores the finished file, and charges for it once it is on disk. */
async function bring(
  deps: VideoWorkerDeps,
  job: VideoJob,
  { state, vendor }: { readonly state: DoneState; readonly vendor: VideoVendor<unknown> },
): Promise<void> {
  const { task } = job
  if (task.stage !== 'storing') {
    // The first stage says what was made. The second only makes it larger.
    const made = task.made ?? state.made
    const progress = Math.max(task.progress, progressOf({ ...task, stage: 'storing' }, 0))
    await deps.tasks.storing(task, made, progress)
    job.task = { ...task, stage: 'storing', made, progress, startedAtMs: task.startedAtMs ?? Date.now() }
  }
  const { accountId, id } = task
  const draft = { accountId, purpose: 'video', contentType: 'video/mp4', keptMs: deps.keptMs } as const
  const blob = deps.blobs.begin(id, draft)
  const bringing = () => bringFile(deps, blob, { source: state.source, vendor })
  // A file that is already in memory must not wait there.
  const brought = await (state.source.kind === 'inline' ? bringing() : deps.downloads.run(bringing))
  if (deps.halt.upstreamStopped) return
  if (brought.kind === 'no_room') {
    job.failures++
    deps.log('warn', 'video.download_failed', { ...taskFields(job), message: 'the disk is full' })
    return blob.discard()
  }
  if (brought.kind === 'failed') {
    job.failures++
    job.downloads++
    deps.log('warn', 'video.download_failed', { ...taskFields(job), message: brought.message })
    await blob.discard()
    if (job.downloads < videoBounds.downloadTriesMax && brought.message !== TOO_LARGE) return
    return failTask(deps, job, { reason: reasons.unusable })
  }
  job.brought = { blob, seconds: brought.seconds, atMs: Date.now() }
  await store(deps, job, job.brought)
}

/** Stores the downloaded file, and charges for it. If the storage fails, the next poll tries again. */
async function store(deps: VideoWorkerDeps, job: VideoJob, { blob, seconds }: DownloadedFile): Promise<void> {
  const { brought } = job
  // If this throws, the file is downloaded again.
  job.brought = undefined
  const finished = await blob.finish(deps.halt)
  if (finished.kind === 'finished') {
    return completeTask(deps, job, { fileSeconds: seconds, fileSteps: finished.steps })
  }
  job.brought = brought
  if (deps.halt.upstreamStopped) return
  job.failures++
  deps.log('warn', 'video.store_failed', { ...taskFields(job), message: finished.message })
}
