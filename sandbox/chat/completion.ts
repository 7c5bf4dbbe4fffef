import type { Faults } from '../faults.ts'
import type { Choice, ToolCall } from './choice.ts'
import { tokensOf } from '../tokens.ts'
import { logprobOf } from './logprobs.ts'
import { countAnswer, chatUsageOf } from './usage.ts'

/** Everything an answer consists of, before it is written as one body or as a stream. */
export type Completion = {
  id: string
  createdUnixSeconds: number
  /** As the client spelled it, with its knobs. */
  model: string
  choices: readonly Choice[]
  promptTokens: number
  /** The prompt tokens that earlier prompts began with, too. */
  cachedTokens: number
  /** The number of alternatives beside each token. Undefined: no log probabilities. */
  topLogprobs: number | undefined
  faults: Faults
}

export function completionBody(completion: Completion): object {
  const { id, createdUnixSeconds, model, choices, faults } = completion
  return {
    id,
    object: 'chat.completion',
    created: createdUnixSeconds,
    model,
    choices: choices.map((choice) => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: logprobsOf(choice.text, choice, completion),
      finish_reason: choice.finishReason,
    })),
    usage: chatUsageOf(countAnswer(completion, choices), faults),
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
}

/** The log probabilities of the tokens of a text, which is a whole choice or one chunk. */
export function logprobsOf(text: string, { seed }: Choice, { topLogprobs }: Completion): object | null {
  if (topLogprobs === undefined || text === '') return null
  const content = Array.from(tokensOf(text), (token) => logprobOf(token, { seed, top: topLogprobs }))
  return { content, refusal: null }
}

function messageOf({ text, calls }: Choice): object {
  const message = { role: 'assistant', content: text, refusal: null, annotations: [] }
  return calls.length === 0 ? message : { ...message, content: null, tool_calls: calls.map(toolCallOf) }
}

function toolCallOf({ type, id, name, input }: ToolCall): object {
  return type === 'custom' ? { id, type, custom: { name, input } } : { id, type, function: { name, arguments: input } }
}
