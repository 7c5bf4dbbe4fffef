import { composeChoices } from '../chat/choice.ts'
import { lastUserMessage, textOf } from '../chat/conversation.ts'
import type { Faults } from '../faults.ts'
import { hashOf, randomFrom, randomIdOf } from '../random.ts'
import { countTokens, type CountedText } from '../tokens.ts'
import { SHORT_WORDS } from '../words.ts'
import { asChat } from './conversion.ts'
import type { InputCount } from './prompt-cache.ts'
import type { SandboxMessagesRequest } from './request.ts'
import { redactedData, sandboxSignature } from './signature.ts'

/** One block of an answer. A stream sends the tokens of its text one by one. */
export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; nameTokens: number; input: string }

export type MessagesAnswer = {
  id: string
  /** As the client spelled it, with its knobs. */
  model: string
  blocks: readonly Block[]
  stopReason: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal'
  stopSequence: string | null
  stopDetails: object | null
  input: InputCount
  thinkingTokens: number
  outputTokens: number
  faults: Faults
}

type AnswerInput = { input: InputCount; tokensLeft: number; faults: Faults }

export function answerOf(request: SandboxMessagesRequest, { input, tokensLeft, faults }: AnswerInput): MessagesAnswer {
  const chat = asChat(request)
  const seed = hashOf(JSON.stringify([chat.messages, chat.tools, chat.response_format]))
  const asked = lastUserMessage(chat.messages)
  const said = asked ? textOf(asked) : ''
  const base = { id: randomIdOf('msg_'), model: request.model, input, faults, stopSequence: null, stopDetails: null }
  if (/\brefuse this\b/i.test(said)) {
    const stopDetails = { type: 'refusal', category: null, explanation: 'The sandbox was asked to refuse this.' }
    return { ...base, stopDetails, blocks: [], stopReason: 'refusal', thinkingTokens: 0, outputTokens: 1 }
  }
  const tokensMax = Math.min(tokensLeft, request.max_tokens)
  const [choice] = composeChoices(chat, { seed, tokensMax })
  if (!choice) throw new Error('an answer without a choice')
  const { reasoningTokens, calls, finishReason } = choice
  const thought = thoughtOf(reasoningTokens, seed, said)
  const stopped = cutAtStop(choice.text, request.stop_sequences ?? [])
  const words: CountedText = stopped
    ? { text: stopped.text, tokens: countTokens(stopped.text) }
    : { text: choice.text, tokens: choice.textTokens }
  const text: Block[] = words.tokens === 0 ? [] : [{ type: 'text', text: words.text }]
  const uses = calls.map(({ name, nameTokens, input: json }): Block => {
    return { type: 'tool_use', id: randomIdOf('toolu_'), name, nameTokens, input: json }
  })
  const outputTokens = calls.reduce((sum, call) => sum + call.nameTokens + call.inputTokens, words.tokens)
  const finishes = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const
  return {
    ...base,
    blocks: [...thought, ...text, ...uses],
    stopReason: stopped ? 'stop_sequence' : finishes[finishReason],
    stopSequence: stopped?.sequence ?? null,
    thinkingTokens: reasoningTokens,
    outputTokens: outputTokens + reasoningTokens,
  }
}

/** A thought with one word for each reasoning token. */
function thoughtOf(tokens: number, seed: number, said: string): Block[] {
  if (tokens === 0) return []
  if (/\bthink in secret\b/i.test(said)) return [{ type: 'redacted_thinking', data: redactedData(seed) }]
  const random = randomFrom(seed)
  const text = Array.from({ length: tokens }, () => random.pick(SHORT_WORDS)).join(' ')
  return [{ type: 'thinking', text, signature: sandboxSignature(text) }]
}

/** The text before the first stop sequence, and that sequence. */
function cutAtStop(text: string, sequences: readonly string[]): { text: string; sequence: string } | undefined {
  let found: { at: number; sequence: string } | undefined
  for (const sequence of sequences) {
    const at = text.indexOf(sequence)
    if (at !== -1 && (!found || at < found.at)) found = { at, sequence }
  }
  return found && { text: text.slice(0, found.at), sequence: found.sequence }
}
