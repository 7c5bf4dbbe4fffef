/** Media for vendors that fetch none: what a client names by its address is brought into the request, within bounds. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { isTypeOf, type VideoBody, type VideoMedium } from '../formats/videos/body.ts'
import { readBytes } from '../outbound/bytes.ts'
import { follow } from '../outbound/follow.ts'
import { outbound } from '../outbound/send.ts'
import { Flight } from '../upstream/flight.ts'
import type { Workshop } from './job.ts'

/** Of one medium; vendors take less. */
const MEDIUM_BYTES_MAX = 32 * 1024 * 1024
const FETCH_TIMEOUT_MS = 15_000
const HOPS_MAX = 3

type Unusable = { readonly failure: UpstreamFailure }

export async function inlineMedia(shop: Workshop, body: VideoBody): Promise<VideoBody | Unusable> {
  const media: VideoMedium[] = []
  for (const medium of body.media) {
    const inlined = /^data:/i.test(medium.url) ? medium : await fetched(shop, medium)
    if ('failure' in inlined) return inlined
    media.push(inlined)
  }
  return { ...body, media }
}

/** It is the client's address: nothing but the public Internet is called for it. */
async function fetched({ halt }: Workshop, medium: VideoMedium): Promise<VideoMedium | Unusable> {
  const { url, kind, param } = medium
  const unusable = (what: string): Unusable => ({
    failure: { kind: 'bad_request', message: `Invalid '${param}': ${what}.`, param, code: 'invalid_value' },
  })
  const flight = new Flight(halt, FETCH_TIMEOUT_MS)
  const limits = { hopsMax: HOPS_MAX, timeoutMs: FETCH_TIMEOUT_MS }
  const sent = await follow(outbound, { url, headers: {}, reach: 'public', stop: flight.stop }, limits)
  if (sent.kind === 'network' || sent.response.status !== 200) {
    if (sent.kind === 'response') sent.response.cancel()
    flight.land()
    return unusable('cannot be fetched')
  }
  const type = (sent.response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const bytes = await readBytes(sent.response, MEDIUM_BYTES_MAX)
  flight.land()
  if (!bytes) return unusable(`is larger than ${MEDIUM_BYTES_MAX} bytes, or broke off`)
  if (!isTypeOf(kind, type)) return unusable(`is no ${kind}`)
  return { ...medium, url: `data:${type};base64,${bytes.toString('base64')}` }
}
