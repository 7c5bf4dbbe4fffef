/** What may be asked of image and video models, as the console shows it: the facts of the domain, field by field. */
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
      .meta({ description: 'turn: in a conversation; images, or left out: at the endpoints for images' }),
    sizes: words,
    freeSizes: z
      .strictObject({ multipleOf: z.int(), ratioMax: z.number(), pixelsMax: z.int() })
      .optional()
      .meta({ description: 'the bounds of sizes that no list has' }),
    sizeDefault: z.string(),
    qualities: words,
    qualityDefault: z.string(),
    formats: z.array(z.enum(imageFormats)),
    backgrounds: words,
    moderations: words,
    styles: words,
    countMax: count,
    isSingle: z.boolean().meta({ description: 'one image comes, however many are asked for' }),
    deliveries: z.array(z.enum(imageDeliveries)),
    promptCharsMax: count,
    streams: z.boolean(),
    partialsMax: count,
    inputsMax: count.meta({ description: 'input images an edit may have; 0: no edits' }),
    tokens: z.record(z.string(), z.number()).meta({ description: 'of one image, by quality' }),
  })
  .meta({ id: 'ImageFacts' }) satisfies z.ZodType<ImageFacts>

export const videoFactsShape = z
  .strictObject({
    resolutions: z.array(z.enum(videoResolutions)),
    resolutionDefault: z.enum(videoResolutions),
    ratios: z.array(z.enum(videoRatios)),
    durations: z.array(z.int()).meta({ description: 'whole seconds, rising' }),
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
    deadlineMs: count.meta({ description: 'after so long without an end a task has failed' }),
    upscales: z.boolean().meta({ description: 'whether anybody enlarges what it makes' }),
    upscaler: z.string().optional().meta({ description: 'who does, for operators' }),
  })
  .meta({ id: 'VideoFacts' }) satisfies z.ZodType<Omit<VideoFacts, 'upscaler'>>

type ShownVideoFacts = z.infer<typeof videoFactsShape>

/** As the model has them; the shape's arrays are those of zod, which it takes for writable. */
export const imageFactsView = (facts: ImageFacts): z.infer<typeof imageFactsShape> =>
  facts as z.infer<typeof imageFactsShape>

export const videoFactsView = ({ upscaler, ...facts }: VideoFacts): ShownVideoFacts => ({
  ...(facts as Omit<ShownVideoFacts, 'upscales' | 'upscaler'>),
  upscales: upscaler !== undefined,
  ...(upscaler === undefined ? {} : { upscaler }),
})

/** For whoever pays: who enlarges its videos is the operator's to know; whether somebody does, everybody's. */
export function withoutUpscaler(facts: ShownVideoFacts): ShownVideoFacts {
  const { upscaler: _, ...shown } = facts
  return shown
}
