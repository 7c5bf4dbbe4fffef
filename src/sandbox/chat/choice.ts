import { randomId } from '../random.ts'
import { countTokens, tokenize } from '../tokens.ts'
import { answerText } from './answer.ts'
import type { ChatRequest } from './request.ts'
import { sceneOf } from './scenario.ts'
import { planCalls, type PlannedCall } from './tools.ts'

export type ToolCall = {
  type: PlannedCall['type']
  id: string
  name: string
  nameTokens: number
  pieces: readonly string[]
}

/** One answer, in tokens: text or calls, never both. */
export type Choice = {
  index: number
  seed: number
  /** Thought before the answer; counted, never shown. */
  reasoningTokens: number
  pieces: readonly string[]
  calls: readonly ToolCall[]
  finishReason: 'stop' | 'length' | 'tool_calls'
}

type Slot = { index: number; seed: number; tokensMax: number }

const REASONING_TOKENS = { none: 0, minimal: 0, low: 8, medium: 16, high: 32, xhigh: 48, max: 64 }

export function composeChoice(request: ChatRequest, { index, seed, tokensMax }: Slot): Choice {
  const reasoningTokens = Math.min(REASONING_TOKENS[request.reasoning_effort ?? 'none'], tokensMax)
  const base = { index, seed, reasoningTokens }
  const tokensLeft = tokensMax - reasoningTokens
  const scene = sceneOf(request)
  const planned = scene ? (scene.kind === 'calls' ? scene.calls : []) : planCalls(request, seed)
  if (planned.length > 0) return { ...base, ...fitCalls(planned, tokensLeft), pieces: [] }
  const tokens = tokenize(cutAtStop(scene?.kind === 'words' ? scene.text : answerText(request, seed), request.stop))
  const finishReason = tokens.length > tokensLeft ? 'length' : 'stop'
  return { ...base, pieces: tokens.slice(0, tokensLeft), calls: [], finishReason }
}

/** The text before the first of the stop sequences. */
function cutAtStop(text: string, stop: ChatRequest['stop']): string {
  const sequences = typeof stop === 'string' ? [stop] : (stop ?? [])
  const found = sequences.filter((sequence) => sequence !== '' && text.includes(sequence))
  return text.slice(0, Math.min(text.length, ...found.map((sequence) => text.indexOf(sequence))))
}

/** A call that is cut short has arguments that are no JSON, as with every vendor; one without room is left out. */
function fitCalls(planned: readonly PlannedCall[], tokensMax: number): Pick<Choice, 'calls' | 'finishReason'> {
  const calls: ToolCall[] = []
  let tokensLeft = tokensMax
  for (const { type, name, input } of planned) {
    const nameTokens = countTokens(name)
    if (nameTokens > tokensLeft) return { calls, finishReason: 'length' }
    const tokens = tokenize(input)
    const pieces = tokens.slice(0, tokensLeft - nameTokens)
    calls.push({ type, id: randomId('call_'), name, nameTokens, pieces })
    if (pieces.length < tokens.length) return { calls, finishReason: 'length' }
    tokensLeft -= nameTokens + pieces.length
  }
  return { calls, finishReason: 'tool_calls' }
}
