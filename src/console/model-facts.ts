/** The capabilities of image and video models as the console shows them: the facts of the domain, field by field. */
import { z } from 'zod'
import { imageDeliveries, imageFormats, type ImageFacts } from '../domain/image.ts'
import { videoRatios, videoResolutions, type VideoFacts } from '../domain/video.ts'

const count = z.int().min(0)
const words = z.array(z.string())

export const imageFactsShape = z
  .strictObject({
    surface: z
      .enum(['images', 'turn'])
      .optional()
      .meta({ description: 'turn: images in a conversation; images, or left out: the image endpoints' }),
    sizes: words,
    freeSizes: z
      .strictObject({ multipleOf: z.int(), ratioMax: z.number(), pixelsMax: z.int() })
      .optional()
      .meta({ description: 'the bounds of sizes that are not listed' }),
    sizeDefault: z.string(),
    qualities: words,
    qualityDefault: z.string(),
    formats: z.array(z.enum(imageFormats)),
    backgrounds: words,
    moderations: words,
    styles: words,
    countMax: count,
    isSingle: z.boolean().meta({ description: 'it returns one image, whatever the requested number' }),
    deliveries: z.array(z.enum(imageDeliveries)),
    promptCharsMax: count,
    streams: z.boolean(),
    partialsMax: count,
    inputsMax: count.meta({ description: 'the most input images of an edit; 0: no edits' }),
    tokens: z.record(z.string(), z.number()).meta({ description: 'tokens of one image, by quality' }),
  })
  .meta({ id: 'ImageFacts' }) satisfies z.ZodType<ImageFacts>

export const videoFactsShape = z
  .strictObject({
    resolutions: z.array(z.enum(videoResolutions)),
    resolutionDefault: z.enum(videoResolutions),
    ratios: z.array(z.enum(videoRatios)),
    durations: z.array(z.int()).meta({ description: 'whole seconds, in rising order' }),
    durationDefault: z.int(),
    choosesDuration: z.boolean(),
    audio: z.enum(['never', 'optional', 'always']),
    audioDefault: z.boolean(),
    frames: z.enum(['none', 'first', 'first_last']),
    referenceImagesMax: count,
    referenceVideosMax: count,
    referenceAudiosMax: count,
    mixesFramesWithReferences: z.boolean(),
    takesAudioAlone: z.boolean(),
    webSearch: z.boolean(),
    watermark: z.boolean(),
    seed: z.boolean(),
    promptCharsMax: count,
    fps: z.number(),
    inputVideoSecondsMax: z.number(),
    deadlineMs: count.meta({ description: 'a task fails after this time without an end' }),
    upscales: z.boolean().meta({ description: 'whether its videos can be upscaled' }),
    upscaler: z.string().optional().meta({ description: 'the provider that upscales, for operators' }),
  })
  .meta({ id: 'VideoFacts' }) satisfies z.ZodType<Omit<VideoFacts, 'upscaler'>>

type ShownVideoFacts = z.infer<typeof videoFactsShape>

/** The facts of a model, unchanged. The cast is needed because zod types the arrays of the shape as writable. */
export const imageFactsView = (facts: ImageFacts): z.infer<typeof imageFactsShape> =>
  facts as z.infer<typeof imageFactsShape>

export const videoFactsView = ({ upscaler, ...facts }: VideoFacts): ShownVideoFacts => ({
  ...(facts as Omit<ShownVideoFacts, 'upscales' | 'upscaler'>),
  upscales: upscaler !== undefined,
  ...(upscaler === undefined ? {} : { upscaler }),
})

/** The facts for customers, without the provider that upscales. `upscales` says whether there is one. */
export function withoutUpscaler(facts: ShownVideoFacts): ShownVideoFacts {
  const { upscaler: _, ...shown } = facts
  return shown
}
