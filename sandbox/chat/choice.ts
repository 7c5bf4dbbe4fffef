import { Budget } from '../budget.ts'
import { randomFrom, randomIdOf } from '../random.ts'
import { charsBeyond, countTokens, firstTokens } from '../tokens.ts'
import { answerText } from './answer.ts'
import { readPrompt, type Prompt } from './prompt.ts'
import type { SandboxChatRequest } from './request.ts'
import { callOf, toolNameOf, type PlannedCall } from './tools.ts'

export type ToolCall = PlannedCall & { id: string; nameTokens: number; inputTokens: number }

/** One answer: text or calls, never both. */
export type Choice = {
  index: number
  seed: number
  /** Reasoning before the answer. It is counted but never shown. */
  reasoningTokens: number
  text: string
  textTokens: number
  calls: readonly ToolCall[]
  finishReason: 'stop' | 'length' | 'tool_calls'
}

/** `tokensMax` is for each choice. `tokenChars`: characters of the data beside each token, such as its probability. */
export type ChoiceLimits = { seed: number; tokensMax: number; tokenChars?: number }

const REASONING_TOKENS = { none: 0, minimal: 0, low: 8, medium: 16, high: 32, xhigh: 48, max: 64 }

/** The requested number of choices, from one budget. */
export function composeChoices(
  request: SandboxChatRequest,
  { seed, tokensMax, tokenChars = 0 }: ChoiceLimits,
): Choice[] {
  const [prompt, budget] = [readPrompt(request), new Budget()]
  const length = request.n ?? 1
  return Array.from({ length }, (_, index) =>
    compose(prompt, { index, seed: seed + index, tokensMax, tokenChars, budget }),
  )
}

/** The limits of one choice. */
type Room = { tokensMax: number; tokenChars: number; budget: Budget }
type Slot = Room & { index: number; seed: number }

function compose(prompt: Prompt, { index, seed, ...all }: Slot): Choice {
  const reasoningTokens = Math.min(REASONING_TOKENS[prompt.request.reasoning_effort ?? 'none'], all.tokensMax)
  const base = { index, seed, reasoningTokens }
  const room = { ...all, tokensMax: all.tokensMax - reasoningTokens }
  const planned = plannedCalls(prompt, { seed, ...room })
  if (planned) return { ...base, ...fitCalls(planned, room), text: '', textTokens: 0 }
  return { ...base, ...fitText(prompt, { seed, ...room }), calls: [] }
}

/** The characters that are enough for `tokensMax` tokens. */
const charsFor = ({ tokensMax, budget }: Room): number => Math.min(charsBeyond(tokensMax), budget.charsLeft)

type FittedChoice = Pick<Choice, 'text' | 'textTokens' | 'finishReason'>

function fitText(prompt: Prompt, { seed, ...room }: Room & { seed: number }): FittedChoice {
  const { budget, tokenChars } = room
  const charsMax = charsFor(room)
  if (charsMax === 0) return { text: '', textTokens: 0, finishReason: 'length' }
  const { scene, request } = prompt
  const whole = scene?.kind === 'words' ? scene.text : answerText(prompt, { seed, charsMax, budget })
  const stopped = cutAtStop(whole.slice(0, charsMax), request.stop)
  const tokensMax = Math.min(room.tokensMax, Math.floor(charsMax / (1 + tokenChars)))
  const { text, tokens } = firstTokens(stopped.text, tokensMax)
  budget.spendChars(text.length + tokens * tokenChars)
  const isWhole = text.length === stopped.text.length && (stopped.isStopped || whole.length < charsMax)
  return { text, textTokens: tokens, finishReason: isWhole && !budget.isSpent ? 'stop' : 'length' }
}

/** The text before the first of the stop sequences. */
function cutAtStop(text: string, stop: SandboxChatRequest['stop']): { text: string; isStopped: boolean } {
  let end = text.length
  for (const sequence of typeof stop === 'string' ? [stop] : (stop ?? [])) {
    const at = sequence === '' ? -1 : text.indexOf(sequence)
    if (at !== -1) end = Math.min(end, at)
  }
  return { text: text.slice(0, end), isStopped: end < text.length }
}

/** The calls of an answer, made one by one on demand. Undefined if it has none. */
function plannedCalls(
  { scene, tools, valuesOfTools, opening, hints }: Prompt,
  { seed, ...room }: Room & { seed: number },
): Iterable<PlannedCall> | undefined {
  if (scene) return scene.kind === 'calls' ? scene.calls : undefined
  if (tools.length === 0) return undefined
  return (function* () {
    const times = new Map<string, number>()
    for (const [index, tool] of tools.entries()) {
      const name = toolNameOf(tool)
      const turn = times.get(name) ?? 0
      times.set(name, turn + 1)
      const own = { ...hints, told: valuesOfTools.get(name) ?? hints.told, random: randomFrom(seed + index), turn }
      yield callOf(tool, { text: opening, hints: own, budget: room.budget, charsMax: charsFor(room) })
    }
  })()
}

/**
 * Fits calls into the limits. A cut call has invalid JSON arguments, as with every vendor. A call without room is
 * omitted.
 */
function fitCalls(planned: Iterable<PlannedCall>, { tokensMax, budget }: Room): Pick<Choice, 'calls' | 'finishReason'> {
  const calls: ToolCall[] = []
  let tokensLeft = tokensMax
  for (const call of planned) {
    const nameTokens = countTokens(call.name)
    if (nameTokens > tokensLeft) return { calls, finishReason: 'length' }
    const { text: input, tokens: inputTokens } = firstTokens(call.input, tokensLeft - nameTokens)
    calls.push({ ...call, id: randomIdOf('call_'), nameTokens, input, inputTokens })
    budget.spendChars(call.name.length + input.length)
    if (input.length < call.input.length || budget.isSpent) return { calls, finishReason: 'length' }
    tokensLeft -= nameTokens + inputTokens
  }
  return { calls, finishReason: 'tool_calls' }
}
