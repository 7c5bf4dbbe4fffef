import { z } from 'zod'

const image = z.union([
  z.strictObject({ bytesBase64Encoded: z.base64(), mimeType: z.string() }),
  z.strictObject({ gcsUri: z.string().startsWith('gs://'), mimeType: z.string() }),
])

const instance = z.strictObject({
  prompt: z.string().min(1).optional(),
  image: image.optional(),
  lastFrame: image.optional(),
  referenceImages: z
    .array(z.strictObject({ image, referenceType: z.enum(['asset', 'style']) }))
    .max(3)
    .optional(),
})

const parameters = z.strictObject({
  aspectRatio: z.enum(['16:9', '9:16']).optional(),
  durationSeconds: z.union([z.literal(4), z.literal(6), z.literal(8)]).optional(),
  resolution: z.enum(['720p', '1080p', '4k']).optional(),
  negativePrompt: z.string().optional(),
  personGeneration: z.enum(['allow_all', 'allow_adult', 'dont_allow']).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  sampleCount: z.literal(1).optional(),
  generateAudio: z.boolean().optional(),
})

/** The request of Veo 3. */
export const veoRequest = z.strictObject({
  instances: z.tuple([instance]),
  parameters: parameters.optional(),
})

export type VeoRequest = z.infer<typeof veoRequest>
