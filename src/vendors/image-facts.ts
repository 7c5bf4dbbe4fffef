/** How an operator says what an image model can do. */
import { z } from 'zod'
import { imageDeliveries, imageFormats, type ImageFacts } from '../domain/image.ts'
import { imageFamilies, imageFamilyNames } from './image-families.ts'

const count = z.int().min(1)
const words = z.array(z.string().regex(/^[\w.-]{1,64}$/))
const sizes = z.array(z.string().regex(/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4}|[1-9]\d?:[1-9]\d?)$/)).min(1)

export const imageDeclaration = z.strictObject({
  family: z.enum(imageFamilyNames as [string, ...string[]]).default('open'),
  sizes: sizes.optional(),
  qualities: words.optional(),
  formats: z.array(z.enum(imageFormats)).optional(),
  backgrounds: words.optional(),
  n_max: count.max(128).optional(),
  response_formats: z.array(z.enum(imageDeliveries)).min(1).optional(),
  streams: z.boolean().optional(),
  edit_images_max: z.int().min(0).max(16).optional(),
  /** Output tokens of an image of at most 1.5 megapixels, by quality. Holds and estimates use them. */
  tokens: z.record(z.string(), count).optional(),
})

/** The facts of the family, with the declared ones in their place. The first value of a list is the default. */
export function imageFactsOf(declared: z.infer<typeof imageDeclaration>): ImageFacts {
  const family: ImageFacts = imageFamilies[declared.family as keyof typeof imageFamilies]
  const { sizes: sizesStated, qualities } = declared
  const stated = {
    sizes: sizesStated,
    freeSizes: undefined,
    sizeDefault: sizesStated?.[0],
    qualities,
    qualityDefault: qualities && (qualities[0] ?? ''),
    formats: declared.formats,
    backgrounds: declared.backgrounds,
    countMax: declared.n_max,
    isSingle: declared.n_max === undefined ? undefined : false,
    deliveries: declared.response_formats,
    streams: declared.streams,
    partialsMax: declared.streams === true ? 3 : undefined,
    inputsMax: declared.edit_images_max,
    tokens: declared.tokens,
  }
  const said = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
  // A declared list of sizes is complete.
  return { ...family, ...said, ...(sizesStated ? { freeSizes: undefined } : {}) }
}
