/** Creates and edits images through the public API. */
import type { Model } from '../../lib/api-types.gen.ts'
import type { ErrorAnswer } from '../../lib/api.ts'
import { eventsOf } from '../../lib/events.ts'
import { callGateway, failureIn, postGateway, type TokenSource } from '../../lib/gateway.ts'
import type { MadePicture, Picture } from '../../lib/made.ts'
import { isStreamed, partialsOf } from './image-cost.ts'
import type { Look } from './image-look.ts'

export type Wish = Look & {
  readonly prompt: string
  /** The images to edit. The mask belongs to the first one. Empty: a new image from the prompt. */
  readonly sources: readonly File[]
  /** Transparent where the image is to change. */
  readonly mask: Blob | undefined
}

type Datum = { readonly b64_json?: string; readonly url?: string }
type ImageEvent = Datum & {
  readonly type?: string
  readonly data?: readonly Datum[]
  readonly error?: ErrorAnswer
}

const typeOf = (format: string): Picture['type'] => (format === 'jpeg' || format === 'webp' ? format : 'png')

/** Rewrites a URL of the gateway so that this page can reach it. */
function addressOf({ b64_json: bytes, url }: Datum, type: Picture['type']): string {
  if (bytes) return `data:image/${type};base64,${bytes}`
  const path = new URL(url ?? '', document.baseURI).pathname
  return new URL(path.slice(path.indexOf('/v1/') + 1), new URL('..', document.baseURI)).href
}

const fieldsOf = (model: Model, wish: Wish): Record<string, string | number> => ({
  model: model.id,
  prompt: wish.prompt,
  ...(wish.size === '' ? {} : { size: wish.size }),
  ...(wish.quality === '' ? {} : { quality: wish.quality }),
  ...(wish.background === '' ? {} : { background: wish.background }),
  ...(wish.format === '' ? {} : { output_format: wish.format }),
  ...(wish.style === '' ? {} : { style: wish.style }),
  ...(wish.count > 1 ? { n: wish.count } : {}),
})

export async function make(
  token: TokenSource,
  model: Model,
  wish: Wish,
  onPartial: (picture: Picture) => void,
): Promise<Pick<MadePicture, 'pictures' | 'requestId'>> {
  const streams = isStreamed(model.image, wish)
  const partials = model.image ? partialsOf(model.image) : 0
  const fields = {
    ...fieldsOf(model, wish),
    ...(streams ? { stream: true } : {}),
    ...(streams && partials > 0 ? { partial_images: partials } : {}),
  }
  const response =
    wish.sources.length > 0
      ? await callGateway(token, 'images/edits', { method: 'POST', body: formOf(fields, wish) })
      : await postGateway(token, 'images/generations', fields)
  const requestId = response.headers.get('x-request-id')
  const type = typeOf(wish.format)
  if (!streams) return { pictures: await picturesIn((await response.json()) as ImageEvent, type), requestId }
  let pictures: readonly Picture[] = []
  for await (const event of eventsOf(response)) {
    const { type: name, error, ...rest } = event as ImageEvent
    if (error) throw failureIn(error, response)
    if (name?.endsWith('partial_image')) onPartial({ address: addressOf(rest, type), type })
    else pictures = await picturesIn(rest, type)
  }
  return { pictures, requestId }
}

function formOf(fields: Readonly<Record<string, string | number | boolean>>, { sources, mask }: Wish): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  for (const source of sources) form.append(sources.length === 1 ? 'image' : 'image[]', source)
  if (mask) form.set('mask', mask, 'mask.png')
  return form
}

const picturesIn = ({ data, ...alone }: ImageEvent, type: Picture['type']): Promise<readonly Picture[]> =>
  Promise.all(
    (data ?? (alone.b64_json === undefined ? [] : [alone])).map(async (datum) => {
      const address = addressOf(datum, type)
      return { address, type, expiresAtMs: datum.b64_json ? undefined : await expiryOf(address) }
    }),
  )

/** The time until which the gateway keeps a file, from its cache header. */
async function expiryOf(address: string): Promise<number | undefined> {
  const head = await fetch(address, { method: 'HEAD', credentials: 'omit' }).catch(() => undefined)
  const [, seconds] = /max-age=(\d+)/.exec(head?.headers.get('cache-control') ?? '') ?? []
  return seconds === undefined ? undefined : Date.now() + Number(seconds) * 1_000
}
