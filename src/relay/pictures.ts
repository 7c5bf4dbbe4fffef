/** The work on images that pass through: they are fetched, decoded, and hosted for clients. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Model, Provider } from '../domain/catalog.ts'
import { egressToStranger } from '../domain/egress.ts'
import { imageFetchBounds, type ImageFormat } from '../domain/image.ts'
import type { ImageService, ImageInfo, AdapterContext } from '../formats/core/contract.ts'
import { inspectPicture } from '../lib/runtime/picture.ts'
import type { Log } from '../lib/runtime/log.ts'
import { readBytes } from '../outbound/bytes.ts'
import type { IncomingResponse } from '../outbound/exchange.ts'
import { outbound, type OutboundRequest } from '../outbound/send.ts'
import { InFlightAttempt } from '../upstream/in-flight-attempt.ts'
import type { GatewayRequest } from './call.ts'

export class Pictures {
  private readonly blobs: Blobs
  private readonly keptMs: number
  private readonly log: Log

  /** `keptMs` is how long the address of a hosted image works. */
  constructor(blobs: Blobs, keptMs: number, log: Log) {
    this.blobs = blobs
    this.keptMs = keptMs
    this.log = log
  }

  /** Whether the disk has no room for hosted files. */
  get isShortOfRoom(): boolean {
    return this.blobs.isShortOfRoom
  }

  /**
   * The image service of one call at one provider. Permissions of the provider are valid only for its own origin.
   */
  adapterContextOf(call: GatewayRequest, provider: Origin, model: Model): AdapterContext {
    return new CallImages(this, call, provider, model)
  }

  /** Fetches an image that a vendor named. A failure is logged for the operator, such as a refusal of the guard. */
  async fetch(call: GatewayRequest, picture: PicturePlace): Promise<Buffer | undefined> {
    const fetched = await fetchPicture(call, picture)
    if (typeof fetched !== 'string') return fetched
    this.log('warn', 'image.download_failed', { request: call.id, why: fetched })
    return undefined
  }

  /** Hosts an image of an account. Returns its id, or undefined if it cannot be stored. */
  keep(bytes: Buffer, format: ImageFormat, accountId: string): Promise<string | undefined> {
    return this.blobs.put(bytes, { accountId, purpose: 'image', contentType: `image/${format}`, keptMs: this.keptMs })
  }
}

type Origin = Pick<Provider, 'baseUrl' | 'reach' | 'egress'>
/** Where a picture is, and how it may be fetched. */
type PicturePlace = Pick<OutboundRequest, 'url' | 'reach' | 'egress'>

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
    const { baseUrl, reach, egress } = this.origin
    const isOwn = isSameOrigin(url, baseUrl)
    const place = isOwn ? { reach, egress } : { reach: 'public' as const, egress: egressToStranger(egress) }
    return this.pictures.fetch(this.call, { url, ...place })
  }

  async inspect(bytes: Buffer): Promise<ImageInfo | undefined> {
    // The image is paid for, so it goes before uploads of clients.
    const looked = await inspectPicture(bytes, { share: this.call.caller.account.id })
    return looked.kind === 'picture' ? looked : undefined
  }

  async host(bytes: Buffer, format: ImageFormat): Promise<string | undefined> {
    const { linkBase, caller } = this.call
    const id = await this.pictures.keep(bytes, format, caller.account.id)
    return id === undefined ? undefined : `${linkBase}/v1/images/files/${id}.${format}`
  }
}

const isSameOrigin = (url: string, base: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(base).origin

/** The bytes of a picture, or the reason why they are missing. */
async function fetchPicture(call: GatewayRequest, picture: PicturePlace): Promise<Buffer | string> {
  // The vendor has made and billed it. A client that leaves now pays for it.
  call.life.made()
  const flight = new InFlightAttempt(call, imageFetchBounds.fetchTimeoutMs)
  const { stop } = flight
  const sent = await outbound.send({ ...picture, method: 'GET', headers: {}, stop })
  const came = sent.kind === 'network' ? sent.message : await bytesOf(sent.response)
  flight.land()
  return came
}

async function bytesOf(response: IncomingResponse): Promise<Buffer | string> {
  if (response.status === 200) {
    return (await readBytes(response, imageFetchBounds.fetchedBytesMax)) ?? 'it is too large or broke off'
  }
  response.cancel()
  return `the host answered ${response.status}`
}
