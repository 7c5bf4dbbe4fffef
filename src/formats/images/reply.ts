/** Reads images in an upstream's reply and writes them for the client. */
import { nextTurn } from '../../lib/runtime/end-of-tick.ts'
import { imagesOf, sidesOf, type ImageDelivery } from '../../domain/image.ts'
import type { Usage } from '../../domain/usage.ts'
import { asFields, asList, numberIn, textIn, type Fields } from '../core/fields.ts'
import type { DeliveredImage, ImageService } from '../core/contract.ts'
import type { ImageAsk } from './ask.ts'
import { hasTokens, writeImageUsage } from './usage.ts'

/** One image of an answer, decoded to prove that it is one. */
export type DeliveredPicture = DeliveredImage & {
  /** The entry in the client's answer. */
  readonly entry: Readonly<Record<string, string>>
  readonly format: string
}

/** What an answer says of all its images. */
export type ReplyFacts = { readonly background: string | undefined; readonly created: number | undefined }

/** How the images are delivered: by an address of the gateway, if that is requested and possible. */
function deliveryOf({ body, facts }: ImageAsk, imageService: ImageService): ImageDelivery {
  const wished = body.delivery ?? facts.deliveries[0] ?? 'b64_json'
  return wished === 'url' && !imageService.canHost ? 'b64_json' : wished
}

/** The images of a reply that can be decoded, at most as many as requested. One at a time, because each is large. */
export async function picturesOf(
  reply: Fields,
  ask: ImageAsk,
  imageService: ImageService,
): Promise<DeliveredPicture[]> {
  const pictures: DeliveredPicture[] = []
  for (const raw of asList(reply['data']).slice(0, imagesOf(ask.facts, ask.wish))) {
    const picture = await pictureOf({ ...reply, ...asFields(raw) }, ask, imageService)
    if (picture) pictures.push(picture)
  }
  return pictures
}

/** One image from an entry of a reply or from a streamed event. Undefined if it is no image. */
export async function pictureOf(
  entry: Fields,
  ask: ImageAsk,
  imageService: ImageService,
): Promise<DeliveredPicture | undefined> {
  await nextTurn()
  const given = textIn(entry['b64_json'])
  const sent = given?.startsWith('data:') ? given.replace(/^data:[^,]{0,100},/, '') : given
  const bytes = sent ? Buffer.from(sent, 'base64') : await fetched(textIn(entry['url']), imageService)
  const info = bytes && (await imageService.inspect(bytes))
  if (!bytes || !info) return undefined
  const { facts, wish } = ask
  const size = wish.size ?? facts.sizeDefault
  const quality = wish.quality ?? facts.qualityDefault
  const revised = textIn(entry['revised_prompt'])
  const url = deliveryOf(ask, imageService) === 'url' ? await imageService.host(bytes, info.format) : undefined
  const isBytesOnly = !facts.deliveries.includes('url')
  const inline = { b64_json: sent ?? bytes.toString('base64'), ...(isBytesOnly ? { url: '' } : {}) }
  return {
    // The answer states what the model chose. Otherwise it states the size of what the model made.
    size: sidesOf(size) ? size : known(entry['size'], `${info.width}x${info.height}`),
    quality: quality === 'auto' ? known(entry['quality'], quality) : quality,
    format: info.format,
    entry: {
      // An image that could not be stored is paid for, so the client gets its bytes.
      ...(url === undefined ? inline : { url }),
      // A vendor that states no revised prompt has not revised it.
      revised_prompt: revised ?? ask.body.prompt,
    },
  }
}

const known = (value: unknown, otherwise: string): string => {
  const text = textIn(value)
  return text !== undefined && /^[\w-]{1,32}$/.test(text) && text !== 'auto' ? text : otherwise
}

const fetched = (url: string | undefined, imageService: ImageService): Promise<Buffer | undefined> =>
  url ? imageService.fetch(url) : Promise.resolve(undefined)

export const factsOfReply = (reply: Fields): ReplyFacts => ({
  background: textIn(reply['background']),
  created: numberIn(reply['created']) ?? numberIn(reply['created_at']),
})

/** Fields of an answer beside its images. Strict clients refuse a background of `auto`. */
export function describe(picture: DeliveredPicture, { background }: ReplyFacts, { body, facts }: ImageAsk): object {
  const known = background ?? body.background ?? 'auto'
  return {
    size: picture.size,
    quality: picture.quality,
    ...(facts.backgrounds.length > 0 && known !== 'auto' ? { background: known } : {}),
    output_format: picture.format,
  }
}

export const usageField = (usage: Usage): object => (hasTokens(usage) ? { usage: writeImageUsage(usage) } : {})
