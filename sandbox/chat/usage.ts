import type { Faults } from '../faults.ts'
import { countTokens } from '../tokens.ts'
import type { Choice } from './choice.ts'
import { attachmentsOf, textOf } from './conversation.ts'
import type { SandboxChatRequest, ChatMessage } from './request.ts'

/** The tokens of a message beyond its text, and of the start of the answer. They are usual for chat templates. */
const MESSAGE_OVERHEAD_TOKENS = 4
const ANSWER_OVERHEAD_TOKENS = 3
/** Fixed for any size, because the sandbox does not read the pixels. */
const ATTACHMENT_TOKENS = { image: 255, audio: 100, file: 500 }
/** The error of the total under the fault `wrongUsage`. */
const WRONG_BY_TOKENS = 13

export type Count = { promptTokens: number; cachedTokens: number; completionTokens: number; reasoningTokens: number }

export function countPrompt(request: SandboxChatRequest): number {
  let tokens = ANSWER_OVERHEAD_TOKENS
  for (const message of request.messages) tokens += countMessage(message)
  if (request.tools) tokens += countTokens(JSON.stringify(request.tools))
  if (request.response_format?.type === 'json_schema') tokens += countTokens(JSON.stringify(request.response_format))
  return tokens
}

/** The number of a prompt's tokens that are pictures. */
export const countImages = ({ messages }: SandboxChatRequest): number =>
  messages.flatMap(attachmentsOf).filter(({ kind }) => kind === 'image').length * ATTACHMENT_TOKENS.image

function countMessage(message: ChatMessage): number {
  let tokens = MESSAGE_OVERHEAD_TOKENS + countTokens(textOf(message))
  for (const { kind } of attachmentsOf(message)) tokens += ATTACHMENT_TOKENS[kind]
  if (message.role !== 'assistant') return tokens
  for (const call of message.tool_calls ?? []) {
    const { name, input } =
      call.type === 'function' ? { ...call.function, input: call.function.arguments } : call.custom
    tokens += countTokens(name) + countTokens(input)
  }
  return tokens
}

export function countAnswer(
  { promptTokens, cachedTokens }: Pick<Count, 'promptTokens' | 'cachedTokens'>,
  choices: readonly Choice[],
): Count {
  const count = { promptTokens, cachedTokens, completionTokens: 0, reasoningTokens: 0 }
  for (const { reasoningTokens, textTokens, calls } of choices) {
    count.reasoningTokens += reasoningTokens
    count.completionTokens += reasoningTokens + textTokens
    for (const call of calls) count.completionTokens += call.nameTokens + call.inputTokens
  }
  return count
}

/** OpenAI's `usage` object. Undefined if a fault withholds it, so that the JSON omits it. */
export function chatUsageOf(
  { promptTokens, cachedTokens, completionTokens, reasoningTokens }: Count,
  faults: Faults,
): object | undefined {
  if (faults.noUsage) return undefined
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens + (faults.wrongUsage ? WRONG_BY_TOKENS : 0),
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
