/** What the form of an image edit may have. */
import type { Failure } from '../../domain/failure.ts'
import { imageFormBounds } from '../../domain/image.ts'
import type { FormRules, JsonForm } from '../core/form.ts'
import { invalidMask } from './invalid-mask.ts'

const { filesMax, imageBytesMax, maskBytesMax, decodingTimeoutMs } = imageFormBounds

const tooManyImages = (what: 'form' | 'request', param: string): Failure => ({
  kind: 'invalid_value',
  message: `A ${what} may have ${filesMax} images at most.`,
  param,
})

export const editForm: FormRules = {
  files: [
    {
      name: 'image',
      pattern: /^image(?:\[(\d{0,3})\])?$/,
      filesMax,
      bytesMax: imageBytesMax,
      tooMany: tooManyImages('form', 'image'),
      tooLarge: (param) => ({
        kind: 'request_too_large',
        message: `The image is larger than ${imageBytesMax} bytes.`,
        param,
      }),
    },
    {
      name: 'mask',
      pattern: /^mask(?:\[\])?$/,
      filesMax: 1,
      bytesMax: maskBytesMax,
      tooMany: invalidMask('More than one mask was sent.'),
      tooLarge: () => invalidMask(`The mask is larger than ${maskBytesMax} bytes.`),
    },
  ],
  readingTimeoutMs: decodingTimeoutMs,
  fromJson,
}

/** Reads `images: [{ image_url: "data:…" }]`, and `mask` in the same shape. */
function fromJson(body: Readonly<Record<string, unknown>>): JsonForm | Failure {
  const { images: listed, mask, ...fields } = body
  const list = Array.isArray(listed) ? (listed as unknown[]) : []
  if (list.length > filesMax) return tooManyImages('request', 'images')
  const files: JsonForm['files'][number][] = []
  for (const [i, entry] of list.entries()) {
    const param = `images[${i}].image_url`
    const base64 = dataOf(entry)
    if (base64 === undefined) return { kind: 'invalid_value', message: NO_PICTURE, param }
    files.push({ field: 'image', param, base64 })
  }
  if (mask !== undefined && mask !== null) {
    const base64 = dataOf(mask)
    if (base64 === undefined) return invalidMask(NO_PICTURE)
    files.push({ field: 'mask', param: 'mask', base64 })
  }
  return { fields, files }
}

const DATA_URL = /^data:image\/(?:png|jpeg|webp);base64,/i
const NO_PICTURE = 'Pictures are sent as files of a form, or as image_url with data:image/png;base64,… (JPEG, WebP).'

/** The gateway does not fetch addresses for clients here: it may reach addresses that the client cannot. */
function dataOf(entry: unknown): string | undefined {
  const url = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)['image_url'] : undefined
  return typeof url === 'string' && DATA_URL.test(url) ? url.slice(url.indexOf(',') + 1) : undefined
}
