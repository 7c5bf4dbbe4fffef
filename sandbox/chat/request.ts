import { z } from 'zod'
import { jsonSchema } from '../example/schema.ts'

/**
 * The fields of `POST /v1/chat/completions` that the sandbox reads. Other fields are accepted and ignored, and null
 * means absent. The allowed values follow OpenAI's published schema.
 */
const textPart = z.object({ type: z.literal('text'), text: z.string() })
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const imagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string().min(1) }) })
const audioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({ data: z.string(), format: z.string() }),
})
const filePart = z.object({ type: z.literal('file'), file: z.object({ filename: z.string().nullish() }) })

const texts = z.union([z.string(), z.array(textPart).min(1)])
const userPart = z.discriminatedUnion('type', [textPart, imagePart, audioPart, filePart])
const assistantPart = z.discriminatedUnion('type', [textPart, refusalPart])

const functionCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
const customCall = z.object({
  id: z.string(),
  type: z.literal('custom'),
  custom: z.object({ name: z.string(), input: z.string() }),
})

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: texts }),
  z.object({ role: z.literal('developer'), content: texts }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(userPart).min(1)]) }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(assistantPart).min(1)]).nullish(),
    tool_calls: z
      .array(z.discriminatedUnion('type', [functionCall, customCall]))
      .min(1)
      .nullish(),
  }),
  z.object({ role: z.literal('tool'), content: texts, tool_call_id: z.string().min(1) }),
  z.object({ role: z.literal('function'), content: z.string().nullish(), name: z.string() }),
])

const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
const functionTool = z.object({
  type: z.literal('function'),
  function: z.object({ name: toolName, description: z.string().nullish(), parameters: jsonSchema.nullish() }),
})
const customTool = z.object({
  type: z.literal('custom'),
  custom: z.object({
    name: toolName,
    description: z.string().nullish(),
    format: z.object({ type: z.string() }).nullish(),
  }),
})
const tool = z.discriminatedUnion('type', [functionTool, customTool])

const functionChoice = z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) })
const customChoice = z.object({ type: z.literal('custom'), custom: z.object({ name: z.string() }) })
const namedTool = z.discriminatedUnion('type', [functionChoice, customChoice])
const allowedTools = z.object({
  type: z.literal('allowed_tools'),
  allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(namedTool).min(1) }),
})
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.discriminatedUnion('type', [functionChoice, customChoice, allowedTools]),
])

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), json_schema: z.object({ name: toolName, schema: jsonSchema.nullish() }) }),
])

const streamOptions = z.object({
  include_usage: z.boolean().nullish(),
  continuous_usage_stats: z.boolean().nullish(),
})

/** The bound of a stop sequence, because a search compares it at each position. */
export const STOP_CHARS_MAX = 200
const stopSequence = z.string().max(STOP_CHARS_MAX)

export const chatRequest = z.object({
  model: z.string(),
  messages: z.array(message).min(1),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([stopSequence, z.array(stopSequence).min(1).max(4)]).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  seed: z.int().nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  response_format: responseFormat.nullish(),
  tools: z.array(tool).min(1).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: streamOptions.nullish(),
})

export type SandboxChatRequest = z.output<typeof chatRequest>
export type ChatMessage = SandboxChatRequest['messages'][number]
export type ChatTool = z.output<typeof tool>
export type ChatToolChoice = z.output<typeof toolChoice>
