/** What is done with images on their way through: fetched, decoded, and put where clients find them. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Provider, Reach } from '../domain/catalog.ts'
import { imageFetchBounds } from '../domain/image.ts'
import type { ImageDesk } from '../formats/format.ts'
import { inspectPicture } from '../lib/picture.ts'
import { readBytes } from '../outbound/bytes.ts'
import { outbound } from '../outbound/send.ts'
import { Flight } from '../upstream/flight.ts'
import type { Call } from './call.ts'

export class Pictures {
  private readonly blobs: Blobs
  private readonly keptMs: number

  /** `keptMs`: how long an address that is handed out leads anywhere. */
  constructor(blobs: Blobs, keptMs: number) {
    this.blobs = blobs
    this.keptMs = keptMs
  }

  /** Whether the disk has no room for files that clients are given the address of. */
  get isShortOfRoom(): boolean {
    return this.blobs.isShortOfRoom
  }

  /** The desk of one call at one provider. What is allowed to the provider is allowed at its own origin alone. */
  deskOf(call: Call, { baseUrl, reach }: Pick<Provider, 'baseUrl' | 'reach'>): ImageDesk {
    return {
      fetch: (url) => fetchPicture(call, url, isSameOrigin(url, baseUrl) ? reach : 'public'),
      inspect: async (bytes) => {
        const looked = await inspectPicture(bytes)
        return looked.kind === 'picture' ? looked : undefined
      },
      canHost: call.linkBase !== undefined && !this.isShortOfRoom,
      host: async (bytes, format) => {
        const accountId = call.caller.account.id
        const contentType = `image/${format}` as const
        const id = await this.blobs.put(bytes, { accountId, purpose: 'image', contentType, keptMs: this.keptMs })
        return `${call.linkBase}/v1/images/files/${id}.${format}`
      },
    }
  }
}

const isSameOrigin = (url: string, base: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(base).origin

async function fetchPicture(call: Call, url: string, reach: Reach): Promise<Buffer | undefined> {
  const flight = new Flight(call, imageFetchBounds.fetchTimeoutMs)
  const { stop } = flight
  const sent = await outbound.send({ url, method: 'GET', headers: {}, stop, reach })
  const bytes =
    sent.kind === 'response' && sent.response.status === 200
      ? await readBytes(sent.response, imageFetchBounds.fetchedBytesMax)
      : undefined
  if (sent.kind === 'response' && sent.response.status !== 200) sent.response.cancel()
  flight.land()
  return bytes
}
