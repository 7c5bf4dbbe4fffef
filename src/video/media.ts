/** Fetches media for vendors that fetch none. Media at addresses are put into the request, within bounds. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { egressToStranger, type Egress } from '../domain/egress.ts'
import { videoBounds } from '../domain/video.ts'
import { isTypeOf, type VideoBody, type VideoMedium } from '../formats/core/video-body.ts'
import { isInline } from '../formats/core/remote-media.ts'
import { readBytes } from '../outbound/bytes.ts'
import { follow } from '../outbound/follow.ts'
import { faultOfClientUrl } from '../outbound/guard.ts'
import { outbound, type Outbound } from '../outbound/send.ts'
import { InFlightAttempt } from '../upstream/in-flight-attempt.ts'
import type { VideoWorkerDeps } from './job.ts'
import { MIB } from '../lib/primitives/units.ts'

const HOPS_MAX = 3

type Unusable = { readonly failure: UpstreamFailure }
type Client = Pick<Outbound, 'send'>
type DownloadedMedia = { readonly type: string; readonly bytes: Buffer }

/** Whether any media of a request must be fetched. */
export const namesMedia = ({ media }: VideoBody): boolean => media.some(({ url }) => !isInline(url))

/** Fetches media one after the other, so that their total size is known before the next fetch. */
export async function inlineMedia(
  deps: Pick<VideoWorkerDeps, 'halt'>,
  body: VideoBody,
  { client = outbound, egress }: { readonly client?: Client; readonly egress?: Egress | undefined } = {},
): Promise<VideoBody | Unusable> {
  const media: VideoMedium[] = []
  let room = videoBounds.mediaBytesMax
  for (const medium of body.media) {
    if (isInline(medium.url)) {
      media.push(medium)
      continue
    }
    const fetched = await fetchMedium(deps, medium, { client, room, egress })
    if ('failure' in fetched) return fetched
    const { type, bytes } = fetched
    room -= bytes.length
    media.push({ ...medium, url: `data:${type};base64,${bytes.toString('base64')}` })
  }
  return { ...body, media }
}

type Means = { readonly client: Client; readonly room: number; readonly egress: Egress | undefined }

/** Fetches one medium. The address is the client's, so only web servers of the public Internet are called. */
async function fetchMedium(
  { halt }: Pick<VideoWorkerDeps, 'halt'>,
  { url, kind, param }: VideoMedium,
  { client, room, egress }: Means,
): Promise<DownloadedMedia | Unusable> {
  const unusable = (what: string): Unusable => ({
    failure: { kind: 'bad_request', message: `Invalid '${param}': ${what}.`, param, code: 'invalid_value' },
  })
  const fault = faultOfClientUrl(url, 'web')
  if (fault !== undefined) return unusable(fault)
  const { mediumBytesMax, mediaBytesMax, mediumTimeoutMs: timeoutMs } = videoBounds
  const flight = new InFlightAttempt(halt, timeoutMs)
  const get = { url, headers: {}, reach: 'web', stop: flight.stop, egress: egressToStranger(egress) } as const
  const sent = await follow(client, get, { hopsMax: HOPS_MAX, timeoutMs })
  if (sent.kind === 'network' || sent.response.status !== 200) {
    if (sent.kind === 'response') sent.response.cancel()
    flight.land()
    return unusable('cannot be fetched')
  }
  const type = (sent.response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const bytes = await readBytes(sent.response, Math.min(mediumBytesMax, room))
  flight.land()
  if (bytes) return isTypeOf(kind, type) ? { type, bytes } : unusable(`is not of type ${kind}`)
  const together = `exceeds ${mediaBytesMax / MIB} MiB together with those before it`
  return unusable(`is larger than ${mediumBytesMax / MIB} MiB, ${together}, or broke off`)
}
