/** Ends a task. Its hold is settled or released once, with its last stage and its record in one transaction. */
import { failureForClient } from '../domain/failure-policy.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { NanoUsd } from '../domain/money.ts'
import { priceOf, type PriceCard } from '../domain/price.ts'
import type { Offer } from '../domain/catalog.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import { upscaleLineId, type VideoTask } from '../domain/video-task.ts'
import { writeFailure } from '../formats/core/openai-failure.ts'
import { meterVideo, NO_USAGE, usageOfUpscaling, usageOfVideo, type VideoUsage } from '../formats/videos/usage.ts'
import { FAILED_CODE } from '../formats/videos/view.ts'
import type { Hold } from '../ledger/ledger.ts'
import { buildRecord, type RecordAmounts, type RecordStart } from '../records/record-builder.ts'
import type { Outcome, RequestRecord } from '../records/records.ts'
import type { WriteStep } from '../store/statement.ts'
import { taskFields, type VideoJob, type VideoWorkerDeps } from './job.ts'

const holdOf = ({ requestId, accountId, held, createdAtMs }: VideoTask): Hold => ({
  id: requestId,
  accountId,
  amount: held,
  createdAtMs,
})

export const chosenOffer = ({ terms, offerId }: VideoTask): Offer | undefined =>
  terms.offers.find(({ id }) => id === offerId)

type ChargeLine = {
  readonly hold: RecordStart['hold']
  readonly endpoint: string
  readonly usage: Usage
  readonly source: UsageSource | undefined
}
type TaskEnd = {
  readonly outcome: Outcome
  readonly status: number
  readonly errorCode: string | undefined
  readonly endedAtMs: number
}

function recordOf(
  { task, attempts }: VideoJob,
  { hold, endpoint, usage, source }: ChargeLine,
  amounts: RecordAmounts,
  { outcome, status, errorCode, endedAtMs }: TaskEnd,
): RequestRecord {
  const { keyId, model, terms, createdAtMs } = task
  const start: RecordStart = { hold, keyId, endpoint, model, stream: false, sale: terms.sale }
  const isUpscaling = endpoint === UPSCALING
  const end = {
    outcome,
    status,
    errorCode,
    usage,
    source,
    offer: chosenOffer(task),
    worker: isUpscaling ? { providerId: terms.upscaler } : undefined,
    attempts: isUpscaling ? [] : attempts,
    outputCap: undefined,
    firstEventMs: undefined,
    totalMs: Math.max(0, endedAtMs - createdAtMs),
  }
  return buildRecord(start, end, amounts)
}

const MAKING = 'videos'
const UPSCALING = 'videos.upscale'

const COMPLETED = { outcome: 'completed', status: 200, errorCode: undefined } as const

export type FinishedVideo = {
  /** The length according to the file itself. */
  readonly fileSeconds: number | undefined
  /** Steps that make the file one that is served. */
  readonly fileSteps: readonly WriteStep[]
}

/** Charges a finished video at the prices of its creation. Its upscaling is charged on a separate line. */
export async function completeTask(
  deps: VideoWorkerDeps,
  job: VideoJob,
  { fileSeconds, fileSteps }: FinishedVideo,
): Promise<void> {
  const { task } = job
  const { terms, wish, requestId, accountId, createdAtMs } = task
  const metered = meterVideo(task, task.made ?? { tokens: undefined, seconds: undefined }, fileSeconds)
  if (metered.isImplausible) deps.log('error', 'usage.implausible', { ...taskFields(job), ...task.made })
  const endedAtMs = Date.now()
  const ending = { ...COMPLETED, endedAtMs }
  const ended: VideoTask = {
    ...task,
    stage: 'completed',
    progress: 100,
    usage: { tokens: metered.tokens, seconds: metered.seconds },
    endedAtMs,
  }
  const records: RequestRecord[] = []
  const priceCardId = terms.sale.id
  const owed = chosenOffer(task)?.cost ?? terms.sale
  const cost = priceOf(metered.usage, terms.sale)
  const upscaling = wish.upscale && usageOfUpscaling(wish.resolution, wish.upscale, metered.seconds)
  const furtherCost = upscaling ? priceOf(upscaling, terms.sale) : 0n
  await deps.ledger.settle(holdOf(task), { cost, furtherCost, priceCardId }, ({ charged, writtenOff }) => {
    const { usage, source } = metered
    const line = { hold: holdOf(task), endpoint: MAKING, usage, source }
    records.push(recordOf(job, line, { charged, writtenOff, upstreamCost: costOf(task, owed, metered) }, ending))
    const steps = upscaling ? upscaleLine(upscaling) : []
    const all = records.reduce((sum, record) => sum + record.charged, 0n)
    return [
      ...steps,
      ...(job.reservation?.settle(all, 0) ?? []),
      ...records.flatMap((record) => deps.records.steps(record)),
      ...deps.tasks.completeSteps(ended),
      ...fileSteps,
    ]
  })
  conclude(deps, job, { ended, records })

  function upscaleLine(usage: Usage): readonly WriteStep[] {
    const id = upscaleLineId(requestId)
    const made = deps.ledger.line({ id, accountId, cost: furtherCost, priceCardId, createdAtMs })
    const hold = { id, accountId, amount: 0n, createdAtMs }
    const line = { hold, endpoint: UPSCALING, usage, source: 'reported' } as const
    const { charged, writtenOff, steps } = made
    records.push(recordOf(job, line, { charged, writtenOff, upstreamCost: priceOf(usage, owed) }, ending))
    return steps
  }
}

type TaskFailure = {
  /** The reason for the client. It says nothing about vendors. */
  readonly reason: string
  /** The reason why a vendor may still work on it without an owner. */
  readonly orphan?: string | undefined
}

/** Ends a task without a result. The hold is released in full. */
export async function failTask(deps: VideoWorkerDeps, job: VideoJob, { reason, orphan }: TaskFailure): Promise<void> {
  const endedAtMs = Date.now()
  const ended: VideoTask = { ...job.task, stage: 'failed', reason, endedAtMs }
  const ending = { outcome: 'failed', status: 200, errorCode: FAILED_CODE, endedAtMs } as const
  const record = recordOf(job, nothingOf(job), { charged: 0n, writtenOff: 0n, upstreamCost: spentOn(job) }, ending)
  if (orphan !== undefined) deps.log('warn', 'video.orphan', { ...taskFields(job), why: orphan })
  await deps.ledger.release(holdOf(job.task), [
    ...deps.records.steps(record),
    ...(job.reservation?.settle(0n, 0) ?? []),
    ...deps.tasks.failSteps(ended, orphan),
  ])
  conclude(deps, job, { ended, records: [record] })
}

/** Ends a task that no vendor took and that its client never learned of. What remains is a failed request. */
export async function forgetTask(deps: VideoWorkerDeps, job: VideoJob, failure: UpstreamFailure): Promise<void> {
  const { status, code } = writeFailure(failureForClient(failure))
  const ending = { outcome: 'failed', status, errorCode: code, endedAtMs: Date.now() } as const
  const record = recordOf(job, nothingOf(job), { charged: 0n, writtenOff: 0n, upstreamCost: 0n }, ending)
  await deps.ledger.release(holdOf(job.task), [
    ...deps.records.steps(record),
    ...(job.reservation?.settle(0n, 0) ?? []),
    ...deps.tasks.forgetSteps(job.task),
    ...job.undo,
  ])
  conclude(deps, job, { ended: job.task, records: [record] })
}

const nothingOf = ({ task }: VideoJob): ChargeLine => ({
  hold: holdOf(task),
  endpoint: MAKING,
  usage: NO_USAGE,
  source: undefined,
})

/** The cost of a video that was made. It is owed to the vendor, whatever happened to the video afterwards. */
function spentOn({ task }: VideoJob): NanoUsd {
  const offer = chosenOffer(task)
  if (!offer || !task.made) return 0n
  return costOf(task, offer.cost, meterVideo(task, task.made, undefined))
}

const costOf = ({ wish }: VideoTask, card: PriceCard, metered: VideoUsage): NanoUsd =>
  priceOf(usageOfVideo(card, wish, metered), card)

function conclude(
  { onRecord }: VideoWorkerDeps,
  job: VideoJob,
  { ended, records }: { readonly ended: VideoTask; readonly records: readonly RequestRecord[] },
): void {
  job.task = ended
  job.isEnded = true
  job.body = undefined
  for (const record of records) onRecord(record)
}
