import { z } from 'zod'
import { STOP_CHARS_MAX } from '../chat/request.ts'
import { jsonSchema } from '../example/schema.ts'

/**
 * The fields of `POST /v1/messages` that the sandbox reads. Other fields are accepted and ignored, and null means
 * absent. The allowed values follow Anthropic's published SDK.
 */
const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }).nullish()

const text = z.object({ type: z.literal('text'), text: z.string(), cache_control: cacheControl })
const base64 = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() })
const url = z.object({ type: z.literal('url'), url: z.string().min(1) })
const plain = z.object({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() })
const image = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64, url]),
  cache_control: cacheControl,
})
const document = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [base64, url, plain]),
  title: z.string().nullish(),
  cache_control: cacheControl,
})
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[\w-]+$/),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
})
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().regex(/^[\w-]+$/),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, document]))]).nullish(),
  is_error: z.boolean().nullish(),
  cache_control: cacheControl,
})
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() })
const redacted = z.object({ type: z.literal('redacted_thinking'), data: z.string() })

const userBlock = z.discriminatedUnion('type', [text, image, document, toolResult])
const assistantBlock = z.discriminatedUnion('type', [text, toolUse, thinking, redacted])

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(userBlock)]) }),
  z.object({ role: z.literal('assistant'), content: z.union([z.string(), z.array(assistantBlock)]) }),
  z.object({ role: z.literal('system'), content: z.union([z.string(), z.array(text)]) }),
])

const tool = z.object({
  type: z.literal('custom').nullish(),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  description: z.string().nullish(),
  input_schema: z.intersection(z.object({ type: z.literal('object') }), jsonSchema),
})

const parallel = { disable_parallel_tool_use: z.boolean().nullish() }
const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...parallel }),
  z.object({ type: z.literal('any'), ...parallel }),
  z.object({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.object({ type: z.literal('none') }),
])

const thinkingConfig = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024) }),
  z.object({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullish() }),
  z.object({ type: z.literal('disabled') }),
])

/** The most stop sequences. Each is searched for in the whole answer. */
const STOPS_MAX = 16

export const messagesRequest = z.object({
  model: z.string(),
  messages: z.array(message).min(1),
  max_tokens: z.int().min(0),
  system: z.union([z.string(), z.array(text)]).nullish(),
  stop_sequences: z.array(z.string().max(STOP_CHARS_MAX).regex(/\S/)).max(STOPS_MAX).nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: thinkingConfig.nullish(),
  output_config: z
    .object({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.object({ type: z.literal('json_schema'), schema: jsonSchema }).nullish(),
    })
    .nullish(),
  metadata: z.object({ user_id: z.string().max(256).nullish() }).nullish(),
  cache_control: cacheControl,
})

/** A request that is only counted needs no output limit. */
export const countRequest = messagesRequest.extend({ max_tokens: z.int().min(0).nullish() })

export type SandboxMessagesRequest = z.output<typeof messagesRequest>
export type MessagesCountRequest = z.output<typeof countRequest>
export type MessagesMessage = MessagesCountRequest['messages'][number]
export type UserBlock = z.output<typeof userBlock>
export type AssistantBlock = z.output<typeof assistantBlock>
