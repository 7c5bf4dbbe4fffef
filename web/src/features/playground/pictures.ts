/** Making images and editing them, as any client does. */
import { eventsOf } from '../../lib/events.ts'
import { callGateway, postGateway } from '../../lib/gateway.ts'
import type { ImageFacts, Model } from '../../lib/models.ts'

export type Wish = {
  readonly prompt: string
  readonly size: string
  readonly quality: string
  readonly count: number
  readonly source?: File | undefined
  /** Transparent where it is to be painted anew. */
  readonly mask?: Blob | undefined
}
export type Picture = { readonly address: string }
export type Made = { readonly pictures: readonly Picture[]; readonly requestId: string | null }

type Datum = { readonly b64_json?: string; readonly url?: string }
type ImageEvent = {
  readonly type?: string
  readonly b64_json?: string
  readonly data?: readonly Datum[]
  readonly error?: { readonly message?: string }
}

/** What an image of these wishes costs, where the model is sold by the piece; in nano-dollars. */
export function priceOf(
  { price, image }: Model,
  { size, quality, count }: Pick<Wish, 'size' | 'quality' | 'count'>,
): bigint | undefined {
  const names = [`image/${size}/${quality}`, `image/${size}`, `image/${quality}`, 'image']
  const found = names.map((name) => price.each[name]).find((amount) => amount !== undefined)
  return found === undefined ? undefined : BigInt(found) * BigInt(image?.isSingle ? 1 : count)
}

/** An address of this gateway, wherever it says it is, as this page reaches it. */
function addressOf({ b64_json: bytes, url }: Datum): string {
  if (bytes) return `data:image/png;base64,${bytes}`
  const path = new URL(url ?? '', document.baseURI).pathname
  return new URL(path.slice(path.indexOf('/v1/') + 1), new URL('..', document.baseURI)).href
}

const fieldsOf = (model: Model, { prompt, size, quality, count }: Wish): Record<string, string | number> => ({
  model: model.id,
  prompt,
  ...(size === '' ? {} : { size }),
  ...(quality === '' ? {} : { quality }),
  ...(count > 1 ? { n: count } : {}),
})

const isStreamed = (facts: ImageFacts | null, count: number): boolean => facts?.streams === true && count === 1

export async function make(
  token: string,
  model: Model,
  wish: Wish,
  onPartial: (picture: Picture) => void,
): Promise<Made> {
  if (wish.source) return edit(token, model, wish)
  const streams = isStreamed(model.image, wish.count)
  const body = { ...fieldsOf(model, wish), ...(streams ? { stream: true, partial_images: 2 } : {}) }
  const response = await postGateway(token, 'images/generations', body)
  const requestId = response.headers.get('x-request-id')
  if (!streams) return { pictures: picturesIn((await response.json()) as ImageEvent), requestId }
  let pictures: readonly Picture[] = []
  for await (const event of eventsOf(response)) {
    const { type, error, ...rest } = event as ImageEvent
    if (error) throw new Error(error.message)
    if (type?.endsWith('partial_image')) onPartial({ address: addressOf(rest) })
    else pictures = picturesIn(rest)
  }
  return { pictures, requestId }
}

const picturesIn = ({ data, b64_json: bytes }: ImageEvent): readonly Picture[] =>
  (data ?? (bytes === undefined ? [] : [{ b64_json: bytes }])).map((datum) => ({ address: addressOf(datum) }))

async function edit(token: string, model: Model, wish: Wish): Promise<Made> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fieldsOf(model, wish))) form.set(name, String(value))
  if (wish.source) form.set('image', wish.source)
  if (wish.mask) form.set('mask', wish.mask, 'mask.png')
  const response = await callGateway(token, 'images/edits', { method: 'POST', body: form })
  return {
    pictures: picturesIn((await response.json()) as ImageEvent),
    requestId: response.headers.get('x-request-id'),
  }
}
