import { z } from 'zod'

const count = z.int().min(1).max(10)
const format = z.enum(['png', 'jpeg', 'webp'])

/** The fields of GPT-image models. They return only bytes, so `response_format` is refused. */
const modern = {
  n: count.nullish(),
  size: z.string().nullish(),
  quality: z.enum(['auto', 'low', 'medium', 'high']).nullish(),
  background: z.enum(['auto', 'transparent', 'opaque']).nullish(),
  output_format: format.nullish(),
  output_compression: z.int().min(0).max(100).nullish(),
  moderation: z.enum(['auto', 'low']).nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().min(0).max(3).nullish(),
  input_fidelity: z.enum(['low', 'high']).nullish(),
  user: z.string().nullish(),
}
const named = { model: z.string(), prompt: z.string().min(1).max(32_000) }

export const modernRequest = z.strictObject({ ...named, ...modern })

/** The fields of earlier models: an address or bytes, two qualities, no stream. */
export const classicRequest = z.strictObject({
  ...named,
  n: count.nullish(),
  size: z.enum(['256x256', '512x512', '1024x1024', '1792x1024', '1024x1792']).nullish(),
  quality: z.enum(['standard', 'hd']).nullish(),
  style: z.enum(['vivid', 'natural']).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  user: z.string().nullish(),
})

export type ModernRequest = z.infer<typeof modernRequest>
export type ClassicRequest = z.infer<typeof classicRequest>
