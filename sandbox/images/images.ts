import { complain } from '../complaint.ts'
import type { Faults } from '../faults.ts'
import { declareModels, findModel, refuseModel } from '../models.ts'
import { hashOf, randomIdOf } from '../random.ts'
import { refuse, type Frame, type SandboxReply } from '../reply.ts'
import type { SandboxCall } from '../route.ts'
import { countTokens } from '../tokens.ts'
import type { Canvas } from './paint.ts'
import { atEasel, encode, picture, type PictureEncoding } from './picture.ts'
import { classicRequest, modernRequest, type ClassicRequest, type ModernRequest } from './request.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

declareModels([
  { id: 'sandbox-image', contextTokensMax: 32_000, images: 'modern' },
  { id: 'sandbox-image-classic', contextTokensMax: 4_000, images: 'classic' },
])

/** `POST /v1/images/generations` */
export async function answerImages({ body, faults, origin, signal }: SandboxCall): Promise<SandboxReply> {
  const { model: id } = Object(body) as { model?: unknown }
  const model = typeof id === 'string' ? findModel(id) : undefined
  if (typeof id === 'string' && (!model?.images || model.images === 'turn')) return refuseModel(id)
  if (model?.images === 'classic') {
    const parsed = safeParse(classicRequest, body, { reportInput: true })
    return parsed.success ? atEasel(signal, () => classic(parsed.data, origin)) : refuse(400, complain(parsed.error))
  }
  const parsed = safeParse(modernRequest, body, { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  const request = parsed.data
  const sides = canvasSidesOf(request.size)
  if (!sides) {
    const message = `Invalid value: '${request.size}'. Supported values are: '1024x1024', '1024x1536', '1536x1024' and 'auto'.`
    return refuse(400, { message, code: 'invalid_value', param: 'size' })
  }
  return atEasel(signal, async () => {
    const canvas = await draft(request, sides)
    return modern(request, { canvas, faults, event: 'image_generation', inputImageTokens: 0 })
  })
}

/** The modern model makes one picture per request, whatever the requested number. */
const draft = ({ prompt, background }: ModernRequest, sides: { width: number; height: number }): Promise<Canvas> =>
  picture(prompt, { ...sides, isTransparent: background === 'transparent', seed: 0 })

const SIDE_MAX = 3840

export function canvasSidesOf(size: string | null | undefined): { width: number; height: number } | undefined {
  if (size === undefined || size === null || size === 'auto') return { width: 1024, height: 1024 }
  const match = /^(\d{2,4})x(\d{2,4})$/.exec(size)
  const [width, height] = [Number(match?.[1]), Number(match?.[2])]
  return width % 16 === 0 && height % 16 === 0 && Math.max(width, height) <= SIDE_MAX ? { width, height } : undefined
}

/** OpenAI's figures for gpt-image-1, square and oblong (2026-08). */
const TOKENS = { low: [272, 408], medium: [1_056, 1_584], high: [4_160, 6_240] } as const
const PARTIAL_TOKENS = 100

export type CurrentImageFields = {
  canvas: Canvas
  faults: Faults
  event: 'image_generation' | 'image_edit'
  inputImageTokens: number
}

/** The answer of a GPT-image model, whole or streamed. */
export async function modern(
  request: ModernRequest,
  { canvas, faults, event, inputImageTokens }: CurrentImageFields,
): Promise<SandboxReply> {
  const format = request.output_format ?? 'png'
  const quality = request.quality === 'low' || request.quality === 'high' ? request.quality : 'medium'
  const partials = request.stream ? (request.partial_images ?? 0) : 0
  const encoding: PictureEncoding = { format, compression: request.output_compression ?? undefined }
  const { width, height } = canvas
  const oblong = width === height ? 0 : 1
  const text = countTokens(request.prompt)
  const output = TOKENS[quality][oblong] + partials * PARTIAL_TOKENS
  const usage = faults.noUsage
    ? undefined
    : {
        input_tokens: text + inputImageTokens,
        output_tokens: output,
        total_tokens: text + inputImageTokens + output,
        input_tokens_details: { text_tokens: text, image_tokens: inputImageTokens },
        output_tokens_details: { image_tokens: output, text_tokens: 0 },
      }
  const shared = {
    background: request.background === 'transparent' ? 'transparent' : 'opaque',
    output_format: format,
    quality,
    size: `${width}x${height}`,
  }
  const created = Math.floor(Date.now() / 1000)
  const whole = (await encode(canvas, encoding)).toString('base64')
  if (!request.stream) {
    return { kind: 'json', status: 200, body: { created, ...shared, data: [{ b64_json: whole }], usage } }
  }
  const frames: Frame[] = []
  for (let index = 0; index < partials; index++) {
    const coarse = await encode(canvas, { ...encoding, pixelate: 64 >> (2 * index) })
    const type = `${event}.partial_image`
    const b64 = coarse.toString('base64')
    frames.push(
      frame(type, { ...shared, created_at: created, b64_json: b64, partial_image_index: index }, PARTIAL_TOKENS),
    )
  }
  const type = `${event}.completed`
  frames.push(frame(type, { ...shared, created_at: created, b64_json: whole, usage }, TOKENS[quality][oblong]))
  return { kind: 'stream', frames }
}

function frame(type: string, fields: object, tokens: number): Frame {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, tokens }
}

/** Pictures that wait to be fetched. The oldest is forgotten first. */
const shelf = new Map<string, Buffer>()
const SHELF_MAX = 64

async function classic(request: ClassicRequest, origin: string): Promise<SandboxReply> {
  const { prompt, quality, size, n } = request
  const [width = 1024, height = 1024] = (size ?? '1024x1024').split('x').map(Number)
  const revised = `${prompt}, in bold shapes${quality === 'hd' ? ' with fine detail' : ''}`
  const data: object[] = []
  for (let seed = 0; seed < (n ?? 1); seed++) {
    const canvas = await picture(revised, { width, height, isTransparent: false, seed: hashOf(String(seed)) })
    const file = await encode(canvas, { format: 'png' })
    const entry = request.response_format === 'b64_json' ? { b64_json: file.toString('base64') } : shelve(file, origin)
    data.push({ ...entry, revised_prompt: revised })
  }
  return { kind: 'json', status: 200, body: { created: Math.floor(Date.now() / 1000), data } }
}

function shelve(file: Buffer, origin: string): { url: string } {
  const name = `${randomIdOf('img-')}.png`
  shelf.set(name, file)
  for (const oldest of shelf.keys()) if (shelf.size > SHELF_MAX) shelf.delete(oldest)
  return { url: `${origin}/v1/sandbox-images/${name}` }
}

/** `GET /v1/sandbox-images/{name}`: a picture of the classic model, by its address. */
export function showImage({ tail }: SandboxCall): SandboxReply {
  const file = shelf.get(tail)
  if (!file) return refuse(404, { message: 'There is no such image.', code: 'not_found' })
  return { kind: 'bytes', contentType: 'image/png', bytes: new Uint8Array(file) }
}
