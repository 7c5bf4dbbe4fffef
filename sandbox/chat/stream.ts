import { DONE, frameOf, type Frame } from '../reply.ts'
import { tokensOf } from '../tokens.ts'
import { takeTurns } from '../turns.ts'
import type { Choice, ToolCall } from './choice.ts'
import { logprobsOf, type Completion } from './completion.ts'
import { countAnswer, chatUsageOf } from './usage.ts'

/** `atEnd`: one chunk with the usage alone. `running`: the usage so far in every chunk, an extension of vLLM. */
export type UsageWish = { atEnd: boolean; running: boolean }

/** One chunk's part of one choice. `tokens` is the number of its tokens. */
type Step = { delta: object; tokens: number; finishReason: Choice['finishReason'] | null; logprobs: object | null }

/** The events of a streamed answer. Each has one token, and the choices take turns. */
export function* chatFrames(completion: Completion, wish: UsageWish): Generator<Frame> {
  const { id, createdUnixSeconds: created, model, promptTokens, cachedTokens, choices, faults } = completion
  const head = {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
  // All chunks begin alike, and the sandbox writes nothing more often.
  const opening = JSON.stringify(head).slice(0, -1)
  const reasoningTokens = choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0)
  const count = { promptTokens, cachedTokens, completionTokens: 0, reasoningTokens }
  for (const { choice: index, step, isBeside } of takeTurns(choices.map((choice) => stepsOf(choice, completion)))) {
    const { delta, tokens, finishReason, logprobs } = step
    count.completionTokens += tokens
    const choice = JSON.stringify({ index, delta, logprobs, finish_reason: finishReason })
    yield { ...frameOf(`${opening},"choices":[${choice}]${usagePart()}}`, tokens), ...(isBeside && { isBeside }) }
  }
  const total = chatUsageOf(countAnswer(completion, choices), faults)
  if (wish.atEnd && total) yield frameOf(`${opening},"choices":[],"usage":${JSON.stringify(total)}}`, 0)
  yield DONE

  function usagePart(): string {
    const usage = wish.running ? chatUsageOf(count, faults) : null
    return (wish.atEnd || wish.running) && !faults.noUsage ? `,"usage":${JSON.stringify(usage)}` : ''
  }
}

function* stepsOf(choice: Choice, completion: Completion): Generator<Step> {
  const { text, calls, finishReason, reasoningTokens } = choice
  const plain = { finishReason: null, logprobs: null }
  const content = calls.length === 0 ? '' : null
  yield { ...plain, delta: { role: 'assistant', content }, tokens: reasoningTokens }
  for (const piece of tokensOf(text)) {
    yield { ...plain, delta: { content: piece }, tokens: 1, logprobs: logprobsOf(piece, choice, completion) }
  }
  for (const [index, call] of calls.entries()) {
    yield { ...plain, delta: { tool_calls: [openingOf(call, index)] }, tokens: call.nameTokens }
    for (const piece of tokensOf(call.input)) {
      yield { ...plain, delta: { tool_calls: [continuationOf(call, { index, piece })] }, tokens: 1 }
    }
  }
  yield { ...plain, delta: {}, tokens: 0, finishReason }
}

function openingOf({ id, type, name }: ToolCall, index: number): object {
  return type === 'custom'
    ? { index, id, type, custom: { name, input: '' } }
    : { index, id, type, function: { name, arguments: '' } }
}

function continuationOf({ type }: ToolCall, { index, piece }: { index: number; piece: string }): object {
  return type === 'custom' ? { index, custom: { input: piece } } : { index, function: { arguments: piece } }
}
