import type { Faults } from '../faults.ts'
import type { Choice, ToolCall } from './choice.ts'
import { logprobOf } from './logprobs.ts'
import { countAnswer, usageOf } from './usage.ts'

/** Everything an answer consists of, before it is written as one body or as a stream. */
export type Completion = {
  id: string
  createdUnixSeconds: number
  /** As the client spelt it, knobs included. */
  model: string
  choices: readonly Choice[]
  promptTokens: number
  /** How many alternatives to show beside each token; undefined for no log probabilities at all. */
  topLogprobs: number | undefined
  faults: Faults
}

export function completionBody(completion: Completion): object {
  const { id, createdUnixSeconds, model, choices, promptTokens, faults } = completion
  return {
    id,
    object: 'chat.completion',
    created: createdUnixSeconds,
    model,
    choices: choices.map((choice) => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: logprobsOf(choice.pieces, choice, completion),
      finish_reason: choice.finishReason,
    })),
    usage: usageOf(countAnswer(promptTokens, choices), faults),
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
}

/** The log probabilities of some tokens of a choice, all of them or those of one chunk. */
export function logprobsOf(pieces: readonly string[], { seed }: Choice, { topLogprobs }: Completion): object | null {
  if (topLogprobs === undefined || pieces.length === 0) return null
  return { content: pieces.map((token) => logprobOf(token, { seed, top: topLogprobs })), refusal: null }
}

function messageOf({ pieces, calls }: Choice): object {
  const message = { role: 'assistant', content: pieces.join(''), refusal: null, annotations: [] }
  return calls.length === 0 ? message : { ...message, content: null, tool_calls: calls.map(toolCallOf) }
}

function toolCallOf({ type, id, name, pieces }: ToolCall): object {
  const text = pieces.join('')
  return type === 'custom'
    ? { id, type, custom: { name, input: text } }
    : { id, type, function: { name, arguments: text } }
}
