/** The schema of chat completion requests. */
import { z } from 'zod'

/** SDKs and people write null for "not set". */
const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()

const roles = ['system', 'user', 'assistant', 'developer', 'tool', 'function'] as const
const contentPart = z.looseObject({ type: z.string() })
const toolCall = z.looseObject({ id: z.string(), type: z.string() })

const message = z
  .looseObject({
    role: z.enum(roles),
    content: optional(z.union([z.string(), z.array(contentPart).min(1)])),
    tool_calls: optional(z.array(toolCall)),
    tool_call_id: optional(z.string()),
  })
  .superRefine((value, context) => {
    const silent = value.role === 'assistant' // An assistant turn may consist of tool calls, audio or a refusal.
    if (!silent && (value.content === undefined || value.content === null)) {
      context.addIssue({ code: 'custom', path: ['content'], message: 'content is required', params: { missing: true } })
    }
    if (value.role === 'tool' && !value.tool_call_id) {
      const issue = {
        path: ['tool_call_id'],
        message: 'a tool message needs its tool_call_id',
        params: { missing: true },
      }
      context.addIssue({ code: 'custom', ...issue })
    }
  })

const functionTool = z.looseObject({
  name: z.string().min(1),
  description: optional(z.string()),
  parameters: optional(z.looseObject({})),
})

const tool = z.looseObject({ type: z.string(), function: optional(functionTool) }).superRefine((value, context) => {
  if (value.type !== 'function' || value.function) return
  context.addIssue({ code: 'custom', path: ['function'], message: 'function is required', params: { missing: true } })
})

const toolChoice = z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })])

/**
 * A chat completion request. Ranges that the specification does not name differ by vendor. They and unknown fields
 * pass.
 */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  max_tokens: optional(z.int().min(1)),
  max_completion_tokens: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  n: optional(z.int().min(1)),
  stream: optional(z.boolean()),
  stream_options: optional(z.looseObject({ include_usage: optional(z.boolean()) })),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  tools: optional(z.array(tool)),
  tool_choice: optional(toolChoice),
  frequency_penalty: optional(z.number()),
  presence_penalty: optional(z.number()),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int().min(0)),
  parallel_tool_calls: optional(z.boolean()),
  response_format: optional(z.looseObject({ type: z.string() })),
  reasoning_effort: optional(z.string()),
})

export type ChatBody = z.infer<typeof chatRequestSchema>
