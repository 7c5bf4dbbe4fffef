import { z } from 'zod'
import { STOP_CHARS_MAX } from '../chat/request.ts'
import { jsonSchema } from '../example/schema.ts'

/**
 * The fields of `POST /v1beta/models/{model}:generateContent` that the sandbox reads. Like Google's server, it refuses
 * unknown fields, so that a client learns of a misspelled one.
 */
const any = z.unknown()

/** The image sizes and their tokens, from Google's table for gemini-3.1-flash-image (2026-11). */
export const IMAGE_SIZES = {
  '512': { side: 512, tokens: 747 },
  '1K': { side: 1024, tokens: 1_120 },
  '2K': { side: 2048, tokens: 1_680 },
  '4K': { side: 4096, tokens: 2_520 },
} as const
export const ASPECT_RATIOS = {
  '1:1': 1,
  '2:3': 2 / 3,
  '3:2': 3 / 2,
  '3:4': 3 / 4,
  '4:3': 4 / 3,
  '4:5': 4 / 5,
  '5:4': 5 / 4,
  '9:16': 9 / 16,
  '16:9': 16 / 9,
  '21:9': 21 / 9,
  '1:4': 1 / 4,
  '4:1': 4,
  '1:8': 1 / 8,
  '8:1': 8,
} as const

/** Google's server takes both base64 alphabets, with or without padding. Its SDK for Python sends the one for URLs. */
const base64 = z.string().regex(/^[\w+/-]*={0,2}$/, 'Base64 decoding failed')

const functionCall = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  args: z.record(z.string(), any).optional(),
})
const functionResponse = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  response: z.record(z.string(), any),
  parts: z.array(z.looseObject({})).optional(),
  willContinue: z.boolean().optional(),
  scheduling: z.string().optional(),
})
const part = z.strictObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: base64.optional(),
  inlineData: z.strictObject({ mimeType: z.string().min(1), data: base64, displayName: any.optional() }).optional(),
  fileData: z
    .strictObject({ mimeType: z.string().optional(), fileUri: z.string().min(1), displayName: any.optional() })
    .optional(),
  videoMetadata: any.optional(),
  mediaResolution: any.optional(),
  partMetadata: any.optional(),
  functionCall: functionCall.optional(),
  functionResponse: functionResponse.optional(),
})
const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) })

/** Google's older schemas write types in capitals. */
const openApiSchema = z.record(z.string(), any).transform(plainSchema).pipe(jsonSchema)

const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const NO_TYPE = 'type_unspecified'

/** Google's SDKs may send whole numbers as strings. */
function plainSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainSchema)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (typeof inner !== 'string') return [[key, plainSchema(inner)]]
    if (key === 'type') return inner.toLowerCase() === NO_TYPE ? [] : [[key, inner.toLowerCase()]]
    return [[key, COUNTS.has(key) && /^\d{1,15}$/.test(inner) ? Number(inner) : inner]]
  })
  return Object.fromEntries(entries)
}

const declaration = z.strictObject({
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/),
  description: z.string().optional(),
  parameters: openApiSchema.optional(),
  parametersJsonSchema: jsonSchema.optional(),
  // The sandbox ignores the schema of a function's result.
  response: any.optional(),
  responseJsonSchema: any.optional(),
  behavior: any.optional(),
})
const generationConfig = z.strictObject({
  maxOutputTokens: z.int().min(1).optional(),
  candidateCount: z.int().min(1).max(8).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().min(0).optional(),
  stopSequences: z.array(z.string().min(1).max(STOP_CHARS_MAX)).max(5).optional(),
  seed: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  responseMimeType: z.enum(['text/plain', 'application/json']).optional(),
  responseSchema: openApiSchema.optional(),
  responseJsonSchema: jsonSchema.optional(),
  responseLogprobs: z.boolean().optional(),
  logprobs: z.int().min(0).max(20).optional(),
  mediaResolution: z.string().optional(),
  speechConfig: any.optional(),
  audioTimestamp: z.boolean().optional(),
  enableEnhancedCivicAnswers: z.boolean().optional(),
  responseModalities: z.array(z.enum(['TEXT', 'IMAGE', 'AUDIO'])).optional(),
  imageConfig: z
    .strictObject({
      aspectRatio: z.enum(Object.keys(ASPECT_RATIOS) as (keyof typeof ASPECT_RATIOS)[]).optional(),
      imageSize: z.enum(Object.keys(IMAGE_SIZES) as (keyof typeof IMAGE_SIZES)[]).optional(),
    })
    .optional(),
  thinkingConfig: z
    .strictObject({
      includeThoughts: z.boolean().optional(),
      thinkingBudget: z.int().min(-1).max(32_768).optional(),
      thinkingLevel: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']))
        .optional(),
    })
    .optional(),
})

/** Fields whose contents belong to the user, so their names are not converted. */
const OWN = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'labels',
  'partMetadata',
])

/** Lists that may come as their single element. */
const LISTS = new Set(['contents', 'parts', 'tools', 'functionDeclarations'])

/** Google's server takes each field in two spellings: `inline_data` is `inlineData`. */
export function fieldsInCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsInCamelCase)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    const name = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    if (OWN.has(name)) return [name, inner]
    const isAlone = LISTS.has(name) && typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    return [name, fieldsInCamelCase(isAlone ? [inner] : inner)]
  })
  return Object.fromEntries(entries)
}

export const geminiRequest = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }).optional(),
  generationConfig: generationConfig.optional(),
  tools: z.array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) })).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
        allowedFunctionNames: z.array(z.string()).optional(),
      }),
    })
    .optional(),
  safetySettings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  store: z.boolean().optional(),
  serviceTier: z.string().optional(),
})

export type SandboxGeminiRequest = z.output<typeof geminiRequest>
export type RequestContent = SandboxGeminiRequest['contents'][number]
export type Part = z.output<typeof part>
