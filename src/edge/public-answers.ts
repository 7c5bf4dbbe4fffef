/** Answers of the public API, for the OpenAPI document. Fields that vendors add are passed on and not listed. */
import { z } from 'zod'
import { failureCodes } from '../formats/core/openai-failure.ts'

const count = z.int().min(0)
const seconds = z.int().meta({ description: 'Unix time in seconds.' })

const completion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: seconds,
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: count,
      message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
})

const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: seconds,
  model: z.string(),
  status: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
})

const compaction = z.looseObject({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: seconds,
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: count, output_tokens: count }),
})

const message = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: count, output_tokens: count }),
})

const countedTokens = z.looseObject({ input_tokens: count })
const countedByGemini = z.looseObject({ totalTokens: count })

const content = z.looseObject({
  candidates: z.array(
    z.looseObject({ content: z.looseObject({ role: z.string(), parts: z.array(z.looseObject({})) }) }),
  ),
  usageMetadata: z.looseObject({ promptTokenCount: count, totalTokenCount: count }),
})

const embeddings = z.looseObject({
  object: z.literal('list'),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: count,
      embedding: z.union([
        z.array(z.number()),
        z.string().meta({ description: 'Base64, if `encoding_format` is `base64`.' }),
      ]),
    }),
  ),
  model: z.string(),
  usage: z.looseObject({ prompt_tokens: count, total_tokens: count }),
})

const values = z.looseObject({ values: z.array(z.number()) })
const embeddedTokens = z.looseObject({ promptTokenCount: count, totalTokenCount: count })
const embeddingOfGemini = z.looseObject({ embedding: values, usageMetadata: embeddedTokens })
const embeddingsOfGemini = z.looseObject({ embeddings: z.array(values), usageMetadata: embeddedTokens })

const images = z.looseObject({
  created: seconds,
  data: z.array(
    z.looseObject({
      b64_json: z.string().optional(),
      url: z.string().optional().meta({ description: 'A URL of the gateway, valid for an hour by default.' }),
      revised_prompt: z.string(),
    }),
  ),
})

const aliasOf = z.string().optional().meta({ description: 'Of an alias: the id of the model that it stands for.' })
const model = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: seconds,
  owned_by: z.string(),
  alias_of: aliasOf,
})
const models = z.looseObject({ object: z.literal('list'), data: z.array(model) })
const modelOfAnthropic = z.looseObject({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  alias_of: aliasOf,
})
const modelsOfAnthropic = z.looseObject({
  data: z.array(modelOfAnthropic),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
})
const modelOfGemini = z.looseObject({
  name: z.string().meta({ description: '`models/` followed by the id.' }),
  supportedGenerationMethods: z.array(z.string()),
})
const modelsOfGemini = z.looseObject({ models: z.array(modelOfGemini), nextPageToken: z.string().optional() })

const items = z.looseObject({ object: z.literal('list'), data: z.array(z.looseObject({})) })
const deleted = z.looseObject({ id: z.string(), deleted: z.literal(true) })

const videoAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('video'),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  model: z.string().optional().meta({ description: 'Absent if the task failed, like `progress` and `created_at`.' }),
  progress: z.int().min(0).max(100).optional(),
  created_at: seconds.optional(),
  completed_at: seconds.optional(),
  usage: z.looseObject({ completion_tokens: count, total_tokens: count }).optional(),
  metadata: z
    .looseObject({ url: z.string() })
    .optional()
    .meta({ description: 'The URL of the video. It needs no key.' }),
  error: z.looseObject({ message: z.string(), code: z.string() }).optional(),
})
const videos = z.looseObject({ object: z.literal('list'), data: z.array(videoAnswer), has_more: z.boolean() })
/** The envelope of the alias route. */
const videoEnvelope = z.looseObject({
  code: z.literal('success'),
  message: z.string(),
  data: z.looseObject({ id: z.string(), status: z.string(), progress: z.string() }),
})

const dollars = z.string().meta({ description: 'Decimal dollars, exact.' })
const balance = z.looseObject({
  object: z.literal('balance'),
  currency: z.literal('usd'),
  account: z.string(),
  available: dollars,
  held: dollars,
  posted: dollars,
})

const code = z.string().meta({
  examples: failureCodes,
  description: 'The guide docs/errors explains these codes. Other codes come from a vendor.',
})

/** Answers by their name in the OpenAPI document. */
export const answerShapes = {
  ChatCompletion: completion,
  Response: response,
  Compaction: compaction,
  Message: message,
  InputTokens: countedTokens,
  TotalTokens: countedByGemini,
  Content: content,
  Embeddings: embeddings,
  ContentEmbedding: embeddingOfGemini,
  ContentEmbeddings: embeddingsOfGemini,
  Images: images,
  /** The shape depends on the dialect of the client. */
  Model: z.union([model, modelOfAnthropic, modelOfGemini]),
  ModelList: z.union([models, modelsOfAnthropic, modelsOfGemini]),
  GeminiModel: modelOfGemini,
  GeminiModelList: modelsOfGemini,
  InputItems: items,
  Deletion: deleted,
  Video: videoAnswer,
  VideoList: videos,
  VideoEnvelope: videoEnvelope,
  Balance: balance,
} as const satisfies Readonly<Record<string, z.ZodType>>

/** Failures by the dialect of the path. */
export const failureShapes = {
  chat: z.strictObject({
    error: z.strictObject({ message: z.string(), type: z.string(), param: z.string().nullable(), code }),
  }),
  messages: z.strictObject({
    type: z.literal('error'),
    error: z.strictObject({
      type: z.string(),
      message: z.string(),
      details: z.strictObject({
        error_code: code,
        unsupported: z.array(z.string()).optional().meta({ description: 'Unsupported fields of the request.' }),
      }),
    }),
    request_id: z.string().nullable(),
  }),
  gemini: z.strictObject({
    error: z.strictObject({
      code: z.int().meta({ description: 'The HTTP status of the answer.' }),
      message: z.string(),
      status: z.string(),
      details: z.array(z.looseObject({ '@type': z.string() })).meta({
        description: 'google.rpc.ErrorInfo, whose reason is the code in capitals, and BadRequest or RetryInfo.',
      }),
    }),
  }),
}
