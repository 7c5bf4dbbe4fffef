/** What words came to: what their upstream reports, or what we count. */
import type { Model } from '../domain/catalog.ts'
import { inputTokens, outputTokens, sameUsage, type Usage } from '../domain/usage.ts'
import type { ClientRequest, MeteredUsage } from '../formats/core/contract.ts'
import { asGeneratedText, scaledTokens, type GeneratedText } from '../formats/core/generated-text.ts'
import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import type { Arrival, MeterTerms } from './modality.ts'

/** What a chat template adds to each message, by the vendors' own cookbooks. */
const MESSAGE_TOKENS = 4

/** What the input counts beside its words. Of a model that is not named, images count as nothing. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, model: Model | undefined): number =>
  messages * MESSAGE_TOKENS + imageParts * (model?.limits.imageTokensMax ?? 0)

/**
 * Meters an answer of words. Nearly every report says all: then there is nothing to count, and nothing to wait for.
 * `wordsMax`: the most that words and thoughts may be counted as.
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
  // A count of our own is no reason to charge more than was agreed to: whoever sends more than was asked for gives it.
  const input = Math.min(prompt + tokensBesideText(request, model), inputTokensMax)
  if (!usage) return { usage: estimatedUsage(input, Math.min(words + thinking, wordsMax)), source: 'estimated' }
  const withInput = inputTokens(usage) > 0 ? usage : { ...usage, inputFresh: input }
  const isKnown = complete && outputTokens(usage) > 0
  const counted = isKnown ? withInput : atLeast(withInput, { words, thinking, bound: wordsMax })
  return { usage: counted, source: sameUsage(counted, usage) ? 'reported' : 'estimated' }
}

/**
 * Whether a report says it all: that of a complete answer, unless it says that nothing went in, or came out, where
 * something did. A vendor may leave out what it has in a cache (ollama#5370), or send zeros where it has not counted.
 */
function isWhole(usage: Usage, { produced, thoughts = '', painted, complete }: Arrival): boolean {
  if (!complete) return false
  if (outputTokens(usage) > 0) return inputTokens(usage) > 0
  return !hasWords(produced) && !hasWords(thoughts) && (painted?.images ?? 0) === 0
}

export const hasWords = (produced: string | GeneratedText): boolean => /\S/.test(asGeneratedText(produced).text)

type TokenCount = { readonly words: number; readonly thinking: number; readonly bound: number }

/**
 * A running usage is behind what arrived, so the larger counts, as far as both together stay within `bound`. Like with
 * like: reasoning that was reported apart is not counted again as text.
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

/** How much a count is above a report, within `room`. */
const more = (counted: number, reported: number, room: number): number =>
  Math.min(Math.max(counted - reported, 0), room)
