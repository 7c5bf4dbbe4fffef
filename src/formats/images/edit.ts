/** Requests for edits: images and a mask beside the fields. All are decoded before anything is sent or charged. */
import type { Failure } from '../../domain/failure.ts'
import { imageFormBounds } from '../../domain/image.ts'
import { uploadOf, type FormPart } from '../../lib/http/form.ts'
import { inspectPicture, isOpaque, type PictureLook, type Picture } from '../../lib/runtime/picture.ts'
import { NoDecoder } from '../../lib/runtime/picture-process.ts'
import { SIDE_MAX } from '../../lib/runtime/picture-job.ts'
import { TooLate, type SlotRequest } from '../../lib/primitives/slots.ts'
import type { FormFile, ReceivedForm } from '../core/form.ts'
import type { ImageAsk } from './ask.ts'
import { ImageClient, type ReadImageClient } from './client.ts'
import { invalidMask } from './invalid-mask.ts'
import { readImageFields } from './request.ts'
import { limit } from '../../lib/primitives/limit.ts'

/** The most pixels of a decoded image. */
const IMAGE_PIXELS_MAX = limit('editImagePixelsMax', 50_000_000, 'An edit of an image with more pixels is refused.')
const MASK_PIXELS_MAX = limit('editMaskPixelsMax', 25_000_000, 'An edit with a mask of more pixels is refused.')

const BUSY: Failure = {
  kind: 'unavailable',
  message: 'The gateway has too many images to decode at the moment.',
  retryAfterMs: 10_000,
}

/** Reads `POST /v1/images/edits`, from a form or from JSON. The images are decoded when it is the account's turn. */
export async function readEditClient(form: ReceivedForm, slot: SlotRequest): Promise<ReadImageClient> {
  try {
    return await readDecoded(form, slot)
  } catch (error) {
    if (error instanceof TooLate || error instanceof NoDecoder) return { kind: 'rejected', failure: BUSY }
    throw error
  }
}

async function readDecoded({ fields, files: sent }: ReceivedForm, slot: SlotRequest): Promise<ReadImageClient> {
  const images = sent.filter(({ field }) => field === 'image')
  const mask = sent.find(({ field }) => field === 'mask')
  const read = readImageFields(typed(fields))
  if (read.kind === 'rejected') return read
  const reject = (failure: Failure): ReadImageClient => ({ kind: 'rejected', failure })
  if (images.length === 0) {
    return reject({ kind: 'missing_parameter', message: "Missing required parameter: 'image'.", param: 'image' })
  }
  const pictures: Picture[] = []
  let pixels = 0
  for (const image of images) {
    const looked = await inspectPicture(image.path, slot, IMAGE_PIXELS_MAX)
    if (looked.kind !== 'picture') return reject(unusable(image, looked.kind))
    pictures.push(looked)
    pixels += looked.width * looked.height
    if (pixels > imageFormBounds.pixelsMax) {
      const message = `The images have more than ${imageFormBounds.pixelsMax / 1e6} megapixels together.`
      return reject({ kind: 'invalid_value', message, param: image.param })
    }
  }
  const [first] = pictures
  const wrong = mask && first ? await wrongMask(mask, first, slot) : undefined
  if (wrong) return reject(wrong)
  const files = images.map((image, i) => partOf(image, nameOf(images), pictures[i]))
  // An invalid mask was refused earlier, so this one is PNG or WebP.
  if (mask) files.push(partOf(mask, 'mask', await pictureOf(mask, slot)))
  const write: ImageAsk['write'] = (values) => {
    const written = [...values].map(([name, value]): FormPart => ({ kind: 'field', name, value: String(value) }))
    return { path: '/images/edits', headers: {}, body: '', upload: uploadOf([...written, ...files]) }
  }
  return { kind: 'read', request: new ImageClient(read.body, { kind: 'edit', inputs: images.length, write }) }
}

/** One image is `image`. Several are a list, even if the client repeated the plain name. */
const nameOf = (images: readonly FormFile[]): string => (images.length === 1 ? 'image' : 'image[]')

async function pictureOf(file: FormFile, slot: SlotRequest): Promise<Picture | undefined> {
  const looked = await inspectPicture(file.path, slot, MASK_PIXELS_MAX)
  return looked.kind === 'picture' ? looked : undefined
}

function partOf({ path, bytes }: FormFile, name: string, picture: Picture | undefined): FormPart {
  const format = picture?.format ?? 'png'
  return {
    kind: 'file',
    name,
    filename: `${name.replace('[]', '')}.${format}`,
    contentType: `image/${format}`,
    path,
    bytes,
  }
}

type Unusable = Exclude<PictureLook['kind'], 'picture'>

const unusable = ({ param }: FormFile, kind: Unusable): Failure => ({
  kind: 'invalid_value',
  message: messageOf(kind, { what: 'image', pixelsMax: IMAGE_PIXELS_MAX, formats: 'PNG, JPEG or WebP' }),
  param,
})

type UploadRule = { readonly what: 'image' | 'mask'; readonly pixelsMax: number; readonly formats: string }

function messageOf(kind: Unusable, { what, pixelsMax, formats }: UploadRule): string {
  switch (kind) {
    case 'too_large':
      return `The ${what} has more than ${pixelsMax / 1e6} megapixels.`
    case 'too_long':
      return `The ${what} has a side of more than ${SIDE_MAX} pixels.`
    case 'too_heavy':
      return `The ${what} takes too much memory to decode: send it smaller, or neither interlaced nor progressive.`
    case 'unreadable':
      return `The ${what} cannot be decoded: it must be a whole ${formats}.`
  }
}

async function wrongMask(mask: FormFile, image: Picture, slot: SlotRequest): Promise<Failure | undefined> {
  const looked = await inspectPicture(mask.path, slot, MASK_PIXELS_MAX)
  if (looked.kind !== 'picture') {
    return invalidMask(messageOf(looked.kind, { what: 'mask', pixelsMax: MASK_PIXELS_MAX, formats: 'PNG or WebP' }))
  }
  const { format, hasAlpha, width, height } = looked
  if (format === 'jpeg') return invalidMask('The mask is a JPEG, which has no transparency: send PNG or WebP.')
  if (!hasAlpha) return invalidMask('The mask has no alpha channel: its transparent areas are what is repainted.')
  if (width !== image.width || height !== image.height) {
    return invalidMask(
      `The mask is ${width}x${height}, the image ${image.width}x${image.height}: they must be the same.`,
    )
  }
  if (!(await isOpaque(mask.path, slot))) return undefined
  return invalidMask('The mask has no transparent pixel: its transparent areas are what is repainted.')
}

const NUMBERS = new Set(['n', 'output_compression', 'partial_images'])

/** A form has only texts. Those of numbers and booleans are converted. */
function typed(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (typeof value !== 'string') return [name, value]
    if (NUMBERS.has(name) && /^\d{1,9}$/.test(value)) return [name, Number(value)]
    if (name === 'stream' && (value === 'true' || value === 'false')) return [name, value === 'true']
    return [name, value === '' && name !== 'prompt' && name !== 'model' ? undefined : value]
  })
  return Object.fromEntries(entries)
}
