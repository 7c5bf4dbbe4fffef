/** Sends one request to a vendor of videos, and names what went wrong. */
import type { Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { videoBounds } from '../domain/video.ts'
import type { UpstreamRequest } from '../formats/core/contract.ts'
import type {
  ReadState,
  ReadSubmission,
  TaskAdapter,
  UpscaleOrder,
  VideoAdapter,
  VideoRef,
} from '../formats/videos/adapter.ts'
import { upscaleAdapters, videoAdapters } from '../formats/videos/adapters.ts'
import type { Preset } from '../vendors/preset.ts'
import { findPreset } from '../vendors/presets.ts'
import { asReply, attemptWhole, type WholeAttempt } from '../upstream/attempt.ts'
import type { VideoWorkerDeps } from './job.ts'

/** A provider and the adapter that speaks to it. */
export type VideoVendor<Adapter> = { readonly provider: Provider; readonly preset: Preset; readonly adapter: Adapter }

/** The vendor of videos behind a provider's id, or undefined if there is none, or none any more. */
export function videoVendor({ catalog }: VideoWorkerDeps, providerId: string): VideoVendor<VideoAdapter> | undefined {
  const provider = catalog.provider(providerId)
  const preset = provider && findPreset(provider.preset)
  return provider && preset?.videoApi && { provider, preset, adapter: videoAdapters[preset.videoApi] }
}

/** The vendor with the key of this id. A key that is gone is replaced by the provider's first one. */
export function atKey<Adapter>(vendor: VideoVendor<Adapter>, keyId: string | undefined): VideoVendor<Adapter> {
  const keyed = keyId === undefined ? undefined : vendor.provider.keys?.find(({ key }) => key.id === keyId)
  return keyed ? { ...vendor, provider: keyed } : vendor
}

export function upscaleVendor(
  { catalog }: VideoWorkerDeps,
  providerId: string | undefined,
): VideoVendor<TaskAdapter<UpscaleOrder>> | undefined {
  const provider = providerId === undefined ? undefined : catalog.provider(providerId)
  const preset = provider && findPreset(provider.preset)
  return provider && preset?.upscaleApi && { provider, preset, adapter: upscaleAdapters[preset.upscaleApi] }
}

type SendOptions = { readonly timeoutMs: number; readonly bytesMax: number; readonly sendOnce?: boolean }

function send<Order>(
  { halt }: VideoWorkerDeps,
  { provider, preset, adapter }: VideoVendor<Pick<TaskAdapter<Order>, 'failures'>>,
  request: UpstreamRequest,
  { timeoutMs, bytesMax, sendOnce }: SendOptions,
): Promise<WholeAttempt> {
  const limits = {
    firstEventTimeoutMs: timeoutMs,
    eventGapTimeoutMs: timeoutMs,
    replyBytesMax: bytesMax,
    eventCharsMax: bytesMax,
    owner: halt,
    sendOnce,
  }
  return attemptWhole({ provider, preset, failures: adapter.failures }, request, limits, asReply)
}

export async function submitOrder<Order>(
  deps: VideoWorkerDeps,
  vendor: VideoVendor<TaskAdapter<Order>>,
  order: Order,
): Promise<ReadSubmission> {
  const { submitTimeoutMs: timeoutMs, pollBytesMax: bytesMax } = videoBounds
  const sent = await send(deps, vendor, vendor.adapter.submit(order), { timeoutMs, bytesMax, sendOnce: true })
  return sent.kind === 'failed' ? sent : vendor.adapter.readSubmission(sent.text)
}

/** The state of a task. Polls share a number of slots. Those whose answers may hold a video share fewer. */
export function askState<Order>(
  deps: VideoWorkerDeps,
  vendor: VideoVendor<TaskAdapter<Order>>,
  ref: VideoRef,
): Promise<ReadState> {
  const { adapter } = vendor
  const isHeavy = adapter.answers === 'heavy'
  const { pollTimeoutMs, submitTimeoutMs, pollBytesMax, heavyPollBytesMax } = videoBounds
  const sending = isHeavy
    ? { timeoutMs: submitTimeoutMs, bytesMax: heavyPollBytesMax }
    : { timeoutMs: pollTimeoutMs, bytesMax: pollBytesMax }
  return (isHeavy ? deps.downloads : deps.polls).run(async () => {
    const sent = await send(deps, vendor, adapter.poll(ref), sending)
    return sent.kind === 'failed' ? sent : adapter.readState(sent.text)
  })
}

/** The text of another answer. */
export async function askText(
  deps: VideoWorkerDeps,
  vendor: VideoVendor<VideoAdapter>,
  request: UpstreamRequest,
): Promise<string | undefined> {
  const { pollTimeoutMs: timeoutMs, pollBytesMax: bytesMax } = videoBounds
  const sent = await deps.polls.run(() => send(deps, vendor, request, { timeoutMs, bytesMax }))
  return sent.kind === 'failed' ? undefined : sent.text
}

/**
 * Whether a failed submission certainly made no task. A bare 5xx may come from a proxy while the vendor is at work.
 * With a code it comes from the vendor itself.
 */
export function isSubmissionRefusal({ kind, code, status }: UpstreamFailure): boolean {
  switch (kind) {
    case 'bad_request':
    case 'context_length':
    case 'policy':
    case 'auth':
    case 'funds':
    case 'model_gone':
    case 'rate':
    case 'unreachable':
      return true
    case 'overload':
      return status !== undefined
    // The vendor says that the request did not arrive in time.
    case 'timeout':
      return status === 408
    case 'server':
      return status !== undefined && code !== undefined
    case 'network':
    case 'unread':
    case 'garbage':
      return false
  }
}
