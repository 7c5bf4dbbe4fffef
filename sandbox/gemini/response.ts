import type { Choice } from '../chat/choice.ts'
import type { Faults } from '../faults.ts'
import { randomIdOf } from '../random.ts'
import { frameOf, type Frame } from '../reply.ts'
import { tokensOf } from '../tokens.ts'
import { takeTurns } from '../turns.ts'
import type { ImageParts } from './painting.ts'
import { signatureOfCall, signatureOfText } from './signature.ts'

/** Everything an answer consists of, before it is written as one body or as a stream. */
export type GeminiAnswer = {
  responseId: string
  /** As the client spelled it, with its knobs. */
  model: string
  choices: readonly Choice[]
  promptTokens: number
  /** The prompt tokens that earlier prompts began with, too. */
  cachedTokens: number
  includeThoughts: boolean
  /** Of an image model: the draft picture from its thoughts, and its picture. */
  sketch?: object
  painting?: ImageParts | undefined
  /** The number of prompt tokens that are pictures. */
  promptImageTokens: number
  faults: Faults
}

/** One step of a candidate. `tokens` and `thoughts` are the numbers of its tokens. */
type Step = { parts: object[]; tokens: number; thoughts: number; images?: number; finishReason?: string }
type Count = { candidates: number; thoughts: number; images: number }

/** The error of the total under the fault `wrongUsage`. */
const WRONG_BY_TOKENS = 13

function* stepsOf(choice: Choice, { includeThoughts, sketch, painting }: GeminiAnswer): Generator<Step> {
  const { text, reasoningTokens, finishReason } = choice
  const thought =
    includeThoughts && reasoningTokens > 0
      ? [{ text: 'Weighing the words.', thought: true }, ...(sketch ? [sketch] : [])]
      : []
  if (reasoningTokens > 0) yield { parts: thought, tokens: 0, thoughts: reasoningTokens }
  for (const piece of tokensOf(text)) yield { parts: [{ text: piece }], tokens: 1, thoughts: 0 }
  if (painting) yield { ...painting, thoughts: 0, images: painting.tokens }
  let isFirst = true
  for (const call of choice.calls) {
    const args = parsedArgs(call.input)
    if (!args) continue // The limit cut the call. Calls come whole or not at all.
    const signature = isFirst ? { thoughtSignature: signatureOfCall(call.name, args) } : {}
    isFirst = false
    const functionCall = { id: randomIdOf('fc_'), name: call.name, args }
    const tokens = call.nameTokens + call.inputTokens
    yield { parts: [{ functionCall, ...signature }], tokens, thoughts: 0 }
  }
  const seal = reasoningTokens > 0 && isFirst && !painting ? [{ text: '', thoughtSignature: signatureOfText() }] : []
  const last = { parts: seal, tokens: 0, thoughts: 0 }
  yield { ...last, finishReason: finishReason === 'length' ? 'MAX_TOKENS' : 'STOP' }
}

function parsedArgs(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined // The arguments were cut.
  }
}

function usageOf(answer: GeminiAnswer, { candidates, thoughts, images }: Count): object {
  const { promptTokens, cachedTokens, promptImageTokens, faults } = answer
  if (faults.noUsage) return {}
  const total = promptTokens + candidates + thoughts + (faults.wrongUsage ? WRONG_BY_TOKENS : 0)
  return {
    usageMetadata: {
      promptTokenCount: promptTokens,
      // Zeros are omitted, as in protocol buffers.
      ...(cachedTokens === 0 ? {} : { cachedContentTokenCount: cachedTokens }),
      ...(candidates === 0 ? {} : { candidatesTokenCount: candidates }),
      ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
      totalTokenCount: total,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: promptTokens - promptImageTokens },
        ...(promptImageTokens === 0 ? [] : [{ modality: 'IMAGE', tokenCount: promptImageTokens }]),
      ],
      // The rest is text.
      ...(images === 0 ? {} : { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: images }] }),
    },
  }
}

const wrap = (answer: GeminiAnswer, candidates: object[], count: Count): object => ({
  candidates,
  ...usageOf(answer, count),
  modelVersion: answer.model,
  responseId: answer.responseId,
})

const candidateOf = (index: number, { parts, finishReason }: Pick<Step, 'parts' | 'finishReason'>): object => ({
  ...(parts.length === 0 ? {} : { content: { parts, role: 'model' } }),
  ...(finishReason === undefined ? {} : { finishReason }),
  index,
})

function add(count: Count, { tokens, thoughts, images = 0 }: Step): void {
  count.candidates += tokens
  count.thoughts += thoughts
  count.images += images
}

/** A whole answer. Adjacent texts are one part. */
export function responseBody(answer: GeminiAnswer): object {
  const count: Count = { candidates: 0, thoughts: 0, images: 0 }
  const candidates = answer.choices.map((choice) => {
    const { text } = choice
    const others: object[] = []
    let finishReason: string | undefined
    for (const step of stepsOf(choice, answer)) {
      add(count, step)
      finishReason = step.finishReason
      others.push(...step.parts.filter((part) => !('text' in part) || isSpecial(part)))
    }
    const thoughts = others.filter((part) => 'thought' in part)
    const rest = others.filter((part) => !('thought' in part))
    const parts = [...thoughts, ...(text === '' ? [] : [{ text }]), ...rest]
    return candidateOf(choice.index, finishReason === undefined ? { parts } : { parts, finishReason })
  })
  return wrap(answer, candidates, count)
}

const isSpecial = (part: object): boolean => 'thought' in part || 'thoughtSignature' in part

/** The events of a streamed answer. Each is a whole response with one token, and the candidates take turns. */
export function* responseFrames(answer: GeminiAnswer): Generator<Frame> {
  const count: Count = { candidates: 0, thoughts: 0, images: 0 }
  for (const { choice, step, isBeside } of takeTurns(answer.choices.map((one) => stepsOf(one, answer)))) {
    add(count, step)
    const frame = frameOf(JSON.stringify(wrap(answer, [candidateOf(choice, step)], count)), step.tokens)
    yield { ...frame, ...(isBeside && { isBeside }) }
  }
}

export const countBody = (promptTokens: number): object => ({
  totalTokens: promptTokens,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokens }],
})
