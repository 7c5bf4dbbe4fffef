/** Counts the tokens of text: as the upstream reports them, or by our own count. */
import type { Model } from '../domain/catalog.ts'
import { inputTokens, outputTokens, sameUsage, type Usage } from '../domain/usage.ts'
import type { ClientRequest, MeteredUsage } from '../formats/core/contract.ts'
import { asGeneratedText, scaledTokens, type GeneratedText } from '../formats/core/generated-text.ts'
import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import type { Arrival, MeterTerms } from './modality.ts'

/** The tokens that a chat template adds to each message, according to the vendors' cookbooks. */
const MESSAGE_TOKENS = 4

/** The input tokens other than text. Without a known model, images count as zero. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, model: Model | undefined): number =>
  messages * MESSAGE_TOKENS + imageParts * (model?.limits.imageTokensMax ?? 0)

/**
 * Meters an answer of text. Nearly every report is complete, and then there is nothing to count or to wait for.
 * `wordsMax` is the most that text and reasoning may be counted as.
 */
export function meterTokens(
  arrived: Arrival,
  terms: MeterTerms,
  wordsMax = terms.heldTokens,
): MeteredUsage | Promise<MeteredUsage> {
  const { usage } = arrived
  return usage && isWhole(usage, arrived) ? { usage, source: 'reported' } : countTokens(arrived, terms, wordsMax)
}

async function countTokens(arrived: Arrival, terms: MeterTerms, wordsMax: number): Promise<MeteredUsage> {
  const { usage, produced, thoughts = '', promptText, complete } = arrived
  const { request, model, inputTokensMax, count } = terms
  const [said, thought] = [asGeneratedText(produced), asGeneratedText(thoughts)]
  const [prompt = 0, saidBegun = 0, thoughtBegun = 0] = await count([
    promptText ?? request.promptText(),
    said.text,
    thought.text,
  ])
  const [words, thinking] = [scaledTokens(saidBegun, said), scaledTokens(thoughtBegun, thought)]
  // Our own count never charges more input than was quoted. An upstream that sends more gives it away.
  const input = Math.min(prompt + tokensBesideText(request, model), inputTokensMax)
  if (!usage) return { usage: estimatedUsage(input, Math.min(words + thinking, wordsMax)), source: 'estimated' }
  const withInput = inputTokens(usage) > 0 ? usage : { ...usage, inputFresh: input }
  const isKnown = complete && outputTokens(usage) > 0
  const counted = isKnown ? withInput : atLeast(withInput, { words, thinking, bound: wordsMax })
  return { usage: counted, source: sameUsage(counted, usage) ? 'reported' : 'estimated' }
}

/**
 * Whether a report is complete. It must be of a complete answer, and must not report zero input, or zero output for an
 * answer that has some. A vendor may leave out cached input (ollama#5370), or send zeros if it has not counted.
 */
function isWhole(usage: Usage, { produced, thoughts = '', painted, complete }: Arrival): boolean {
  if (!complete) return false
  if (outputTokens(usage) > 0) return inputTokens(usage) > 0
  return !hasWords(produced) && !hasWords(thoughts) && (painted?.images ?? 0) === 0
}

export const hasWords = (produced: string | GeneratedText): boolean => /\S/.test(asGeneratedText(produced).text)

type TokenCount = { readonly words: number; readonly thinking: number; readonly bound: number }

/**
 * The larger of a running usage and our own count, because a running usage lags behind what arrived. Both together stay
 * within `bound`. Reasoning that was reported separately is not counted again as text.
 */
function atLeast(usage: Usage, { words, thinking, bound }: TokenCount): Usage {
  const isApart = usage.outputReasoning > 0
  const room = Math.max(bound - outputTokens(usage), 0)
  const moreText = more(isApart ? words : words + thinking, usage.outputText, room)
  const moreReasoning = isApart ? more(thinking, usage.outputReasoning, room - moreText) : 0
  return {
    ...usage,
    outputText: usage.outputText + moreText,
    outputReasoning: usage.outputReasoning + moreReasoning,
  }
}

/** By how much a count exceeds a report, at most `room`. */
const more = (counted: number, reported: number, room: number): number =>
  Math.min(Math.max(counted - reported, 0), room)
