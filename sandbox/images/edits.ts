import { complain } from '../complaint.ts'
import { findModel, refuseModel } from '../models.ts'
import { refuse, type SandboxReply } from '../reply.ts'
import type { SandboxCall } from '../route.ts'
import { modern, canvasSidesOf } from './images.ts'
import type { Canvas } from './paint.ts'
import { atEasel, decode, layOver, resize, sketch, type DecodedCanvas } from './picture.ts'
import { modernRequest } from './request.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

const IMAGES_MAX = 16
/** The tokens of one input image of any size. */
const INPUT_TOKENS = 323

const refuseFile = (param: string, message: string): SandboxReply =>
  refuse(400, { message, code: param === 'mask' ? 'invalid_mask' : 'invalid_image', param })

/** `POST /v1/images/edits`, as a form or as JSON with data URLs. */
export const answerEdits = (call: SandboxCall): Promise<SandboxReply> => atEasel(call.signal, () => edit(call))

async function edit({ body, faults }: SandboxCall): Promise<SandboxReply> {
  const { image, 'image[]': list, images: linked, mask, ...fields } = Object(body) as Record<string, unknown>
  const parsed = safeParse(modernRequest, typed(fields), { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  const request = parsed.data
  if (findModel(request.model)?.images !== 'modern') return refuseModel(request.model)
  if (Array.isArray(image)) {
    return refuse(400, { message: "Duplicate parameter: 'image'.", code: 'duplicate_parameter', param: 'image' })
  }
  const files = [image, list, linked].flat().filter((file) => file !== undefined)
  if (files.length === 0 || files.length > IMAGES_MAX) {
    return refuse(400, {
      message: `Between 1 and ${IMAGES_MAX} images are needed.`,
      code: 'invalid_value',
      param: 'image',
    })
  }
  let base: DecodedCanvas | undefined
  for (const [i, file] of files.entries()) {
    const canvas = await canvasOf(file)
    if (!canvas) return refuseFile(`image[${i}]`, 'Invalid image file or mode.')
    base ??= canvas
  }
  if (!base) throw new Error('an edit without a picture')
  const hole = mask === undefined ? undefined : await canvasOf(mask)
  if (mask !== undefined && !hole) return refuseFile('mask', 'Invalid mask file.')
  if (hole && (hole.fileWidth !== base.fileWidth || hole.fileHeight !== base.fileHeight)) {
    return refuseFile('mask', 'The mask must have the size of the image.')
  }
  const edited = await repaint(base, request.prompt, hole)
  const sides = request.size === undefined || request.size === 'auto' ? base : canvasSidesOf(request.size)
  if (!sides) return refuse(400, { message: 'Invalid size.', code: 'invalid_value', param: 'size' })
  const { width, height } = sides
  const canvas = await resize(edited, { width, height })
  return modern(request, { canvas, faults, event: 'image_edit', inputImageTokens: INPUT_TOKENS * files.length })
}

/** The pixels of a file of a form, or of a data URL. */
async function canvasOf(file: unknown): Promise<DecodedCanvas | undefined> {
  if (file instanceof Blob) return decode(await file.bytes())
  const { image_url: url } = Object(file) as { image_url?: unknown }
  if (typeof url !== 'string' || !url.startsWith('data:')) return undefined
  return decode(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'))
}

/** Shows the picture of the prompt where the mask is transparent. Without a mask, both pictures are blended. */
export const repaint = (base: Canvas, prompt: string, mask: Canvas | undefined): Promise<Canvas> =>
  layOver(base, sketch(prompt, { width: base.width, height: base.height, isTransparent: false, seed: 1 }), mask)

const NUMBERS = ['n', 'output_compression', 'partial_images']

/** Converts the fields of a form, which has only texts. */
function typed(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (NUMBERS.includes(name) && typeof value === 'string') return [name, Number(value)]
    return name === 'stream' && typeof value === 'string' ? [name, value === 'true'] : [name, value]
  })
  return Object.fromEntries(entries)
}
