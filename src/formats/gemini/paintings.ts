/** Models that answer a turn with images: which requests they can serve, and which images came. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { nextTurn } from '../../lib/runtime/end-of-tick.ts'
import { asFields, asList, asText, type Fields } from '../core/fields.ts'
import type { ImageService, InlineImages } from '../core/contract.ts'
import type { GeminiBody } from './request.ts'
import { MODALITIES } from './disallowed-fields.ts'

const refuse = (kind: Failure['kind'], param: string, message: string): Failure => ({ kind, message, param })
const listed = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ')

/** Why a model that answers with text only cannot serve a request. */
export function wantsImages({ generationConfig }: GeminiBody, { id }: Model): Failure | undefined {
  const wants = generationConfig?.responseModalities?.some((one) => one.toUpperCase() === 'IMAGE') ?? false
  return wants ? refuse('unsupported_parameter', MODALITIES, `The model '${id}' answers with text only.`) : undefined
}

/** Why a model that makes images cannot make the requested ones. */
export function checkPainting({ generationConfig }: GeminiBody, { limits }: Model): Failure | undefined {
  const { sizes, qualities } = limits.image
  const { aspectRatio, imageSize } = generationConfig?.imageConfig ?? {}
  for (const [name, value, allowed] of [
    ['aspectRatio', aspectRatio, sizes.filter((size) => size !== 'auto')],
    ['imageSize', imageSize, qualities],
  ] as const) {
    if (typeof value !== 'string' || allowed.includes(value)) continue
    const param = `generationConfig.imageConfig.${name}`
    return refuse('invalid_value', param, `Invalid '${param}': must be one of ${listed(allowed)}.`)
  }
  return undefined
}

/**
 * Decodes the images of a response one after the other, because each is large. An image that the model makes while it
 * thinks is part of its thoughts and does not count.
 */
export async function paintedIn(response: Fields, imageService: Pick<ImageService, 'inspect'>): Promise<InlineImages> {
  const painted = { images: 0, spoiled: 0 }
  const candidates = asList(response['candidates']).map(asFields)
  for (const { content } of candidates) {
    for (const part of asList(asFields(content)['parts']).map(asFields)) {
      const { mimeType, data } = asFields(part['inlineData'])
      if (part['thought'] === true || !asText(mimeType).startsWith('image/')) continue
      await nextTurn()
      const info = await imageService.inspect(Buffer.from(asText(data), 'base64'))
      painted[info ? 'images' : 'spoiled']++
    }
  }
  const atLimit = candidates.some(({ finishReason }) => finishReason === 'MAX_TOKENS')
  return { ...painted, endedBy: atLimit ? 'client' : 'vendor' }
}

/** The failure of an answer if none of its images can be decoded. */
export const SPOILED = 'the image cannot be decoded'
