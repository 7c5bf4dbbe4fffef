/** What is done with images on their way through: fetched, decoded, and put where clients find them. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Model, Provider, ProviderReach } from '../domain/catalog.ts'
import { imageFetchBounds, type ImageFormat } from '../domain/image.ts'
import type { ImageService, ImageInfo, AdapterContext } from '../formats/core/contract.ts'
import { inspectPicture } from '../lib/runtime/picture.ts'
import type { Log } from '../lib/runtime/log.ts'
import { readBytes } from '../outbound/bytes.ts'
import type { IncomingResponse } from '../outbound/exchange.ts'
import { outbound } from '../outbound/send.ts'
import { InFlightAttempt } from '../upstream/in-flight-attempt.ts'
import type { GatewayRequest } from './call.ts'

export class Pictures {
  private readonly blobs: Blobs
  private readonly keptMs: number
  private readonly log: Log

  /** `keptMs`: how long an address that is handed out leads anywhere. */
  constructor(blobs: Blobs, keptMs: number, log: Log) {
    this.blobs = blobs
    this.keptMs = keptMs
    this.log = log
  }

  /** Whether the disk has no room for files that clients are given the address of. */
  get isShortOfRoom(): boolean {
    return this.blobs.isShortOfRoom
  }

  /**
   * The image service of one call at one provider. What is allowed to the provider is allowed at its own origin alone.
   */
  adapterContextOf(call: GatewayRequest, provider: Origin, model: Model): AdapterContext {
    return new CallImages(this, call, provider, model)
  }

  /** Fetches what a vendor names. Where that fails the operator is told why: the guard may not let us, say. */
  async fetch(call: GatewayRequest, url: string, reach: ProviderReach): Promise<Buffer | undefined> {
    const fetched = await fetchPicture(call, url, reach)
    if (typeof fetched !== 'string') return fetched
    this.log('warn', 'image.download_failed', { request: call.id, why: fetched })
    return undefined
  }

  /** Keeps an image of an account. Returns its id. */
  keep(bytes: Buffer, format: ImageFormat, accountId: string): Promise<string> {
    return this.blobs.put(bytes, { accountId, purpose: 'image', contentType: `image/${format}`, keptMs: this.keptMs })
  }
}

type Origin = Pick<Provider, 'baseUrl' | 'reach'>

class CallImages implements ImageService, AdapterContext {
  readonly model: Model
  readonly canHost: boolean
  private readonly pictures: Pictures
  private readonly call: GatewayRequest
  private readonly origin: Origin

  constructor(pictures: Pictures, call: GatewayRequest, origin: Origin, model: Model) {
    this.pictures = pictures
    this.call = call
    this.origin = origin
    this.model = model
    this.canHost = call.linkBase !== undefined && !pictures.isShortOfRoom
  }

  get imageService(): ImageService {
    return this
  }

  fetch(url: string): Promise<Buffer | undefined> {
    const { baseUrl, reach } = this.origin
    return this.pictures.fetch(this.call, url, isSameOrigin(url, baseUrl) ? reach : 'public')
  }

  async inspect(bytes: Buffer): Promise<ImageInfo | undefined> {
    // It is paid for: it goes before what clients upload.
    const looked = await inspectPicture(bytes, { share: this.call.caller.account.id })
    return looked.kind === 'picture' ? looked : undefined
  }

  async host(bytes: Buffer, format: ImageFormat): Promise<string> {
    const { linkBase, caller } = this.call
    return `${linkBase}/v1/images/files/${await this.pictures.keep(bytes, format, caller.account.id)}.${format}`
  }
}

const isSameOrigin = (url: string, base: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(base).origin

/** The bytes of a picture, or why they are not there. */
async function fetchPicture(call: GatewayRequest, url: string, reach: ProviderReach): Promise<Buffer | string> {
  // The vendor has made it, and bills it: whoever leaves now pays for it.
  call.life.made()
  const flight = new InFlightAttempt(call, imageFetchBounds.fetchTimeoutMs)
  const { stop } = flight
  const sent = await outbound.send({ url, method: 'GET', headers: {}, stop, reach })
  const came = sent.kind === 'network' ? sent.message : await bytesOf(sent.response)
  flight.land()
  return came
}

async function bytesOf(response: IncomingResponse): Promise<Buffer | string> {
  if (response.status === 200) {
    return (await readBytes(response, imageFetchBounds.fetchedBytesMax)) ?? 'it is too large, or broke off'
  }
  response.cancel()
  return `the host answered ${response.status}`
}
