/** Media in items: pictures by address, and the size of what is inline. */
import { asFields, asList, textIn, type Fields } from '../core/fields.ts'
import { isInline, type RemoteMedium } from '../core/remote-media.ts'

/** Images by address, at their places in the input as it came, because the client counts those items. */
export function remoteMediaOf(input: unknown): RemoteMedium[] {
  const found: RemoteMedium[] = []
  const look = (part: Fields, path: () => string): void => {
    if (part['type'] !== 'input_image') return
    const url = addressOf(part)
    if (typeof url === 'string' && !isInline(url)) found.push({ url, param: `${path()}.image_url` })
  }
  for (const [i, item] of asList(input).entries()) {
    const fields = asFields(item)
    look(fields, () => `input[${i}]`)
    for (const name of ['content', 'output'] as const) {
      for (const [j, part] of asList(fields[name]).entries()) look(asFields(part), () => `input[${i}].${name}[${j}]`)
    }
  }
  return found
}

/** The chat format nests the address. Clients that switch formats send it that way. */
export function addressOf({ image_url: image }: Fields): unknown {
  return typeof image === 'object' ? asFields(image)['url'] : image
}

export type ItemMedia = { images: number; bytes: number; payloadChars: number }

/** Finds the media in items. They count by a rule of their own, not by the length of their base64. */
export function mediaOf(items: readonly Fields[]): ItemMedia {
  const media: ItemMedia = { images: 0, bytes: 0, payloadChars: 0 }
  for (const { content, output } of items) {
    for (const part of [...asList(content), ...asList(output)]) addMedia(media, asFields(part))
  }
  return media
}

function addMedia(media: ItemMedia, part: Fields): void {
  if (part['type'] === 'input_image') {
    media.images++
    const url = textIn(part['image_url'])
    if (url?.startsWith('data:')) media.payloadChars += url.length
    return
  }
  const data = textIn(part['file_data']) ?? textIn(asFields(part['input_audio'])['data'])
  if (data === undefined) return
  media.payloadChars += data.length
  media.bytes += Math.ceil((data.length * 3) / 4)
}
