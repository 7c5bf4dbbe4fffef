/** What an answer comes to: what its upstream reports, where that can be believed, or what we count. */
import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import { tokensOfImage } from '../domain/image.ts'
import { inputTokens, outputTokens, sameUsage, type Usage } from '../domain/usage.ts'
import type { DeliveredImage, MeteredUsage, InlineImages } from '../formats/core/contract.ts'
import { paintedUsage } from '../formats/gemini/usage.ts'
import { asGeneratedText, scaledTokens, type GeneratedText } from '../formats/core/generated-text.ts'
import type { Admission } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { tokensBesideText } from './count-input.ts'

type ToMeter = {
  readonly usage: Usage | undefined
  /** What arrived, and apart from it the reasoning, where the two can be told apart. */
  readonly produced: string | GeneratedText
  readonly thoughts?: string | GeneratedText | undefined
  readonly delivered?: readonly DeliveredImage[] | undefined
  readonly begun?: number | undefined
  readonly painted?: InlineImages | undefined
  /** What is counted as input where no usage is known; the whole request's without it. */
  readonly promptText?: string | undefined
  readonly admission: Admission
  /** The most that words and thoughts may be counted as; all that was quoted without it. */
  readonly wordsMax?: number | undefined
  /** Whether the answer reached its end: a running usage of a broken one is behind what arrived. */
  readonly complete: boolean
  /** Whether it was ended for want of money: a running usage of it may be ahead of what was paid for and left. */
  readonly isCut?: boolean | undefined
}

/** How far a report may pass the quote before it is taken for a mistake: 4 times, and a margin for hidden prompts. */
const PLAUSIBLE_FACTOR = 4
const PLAUSIBLE_MARGIN_TOKENS = 20_000

/** Takes the upstream's usage where it is plausible, or counts what went in and came out. */
export function meter(relay: Relay, call: GatewayRequest, to: ToMeter): MeteredUsage | Promise<MeteredUsage> {
  const { painted, admission } = to
  const usage = to.isCut ? upTo(to.usage, heldTokensOf(admission)) : to.usage
  const plausible = usage && isPlausible(usage, call, admission)
  if (usage && !plausible) relay.log('error', 'usage.implausible', { request: call.id, ...usage })
  // Nearly every answer: there is nothing to count, and nothing to wait for.
  if (plausible && isWhole(usage, to) && !painted && !call.request.meter) return { usage, source: 'reported' }
  return meterAnew(relay, call, { ...to, usage: plausible ? usage : undefined })
}

/** A report that is ahead of what was paid for says nothing of the output. */
const upTo = (usage: Usage | undefined, outputMax: number): Usage | undefined =>
  usage && outputTokens(usage) > outputMax ? { ...usage, outputText: 0, outputReasoning: 0 } : usage

async function meterAnew(relay: Relay, call: GatewayRequest, to: ToMeter): Promise<MeteredUsage> {
  const { usage, delivered = [], begun = 0, painted, admission, complete } = to
  if (call.request.meter) {
    const isInputKnown = usage !== undefined && inputTokens(usage) > 0
    const [promptTokens = 0] = isInputKnown
      ? []
      : await relay.tokens.count([call.request.promptText()], call.caller.account.id)
    return call.request.meter({ usage, delivered, begun, model: admission.model, promptTokens })
  }
  if (!painted) return meterWords(relay, call, to)
  const imageTokens = tokensOfImage(admission.model.limits.image, call.request.painting?.quality)
  // A running report that tells no kinds apart has pictures among its words, which are added by our own count.
  const inWords = complete || usage?.outputImage !== undefined ? 0 : (painted.images + painted.spoiled) * imageTokens
  const apart = usage && { ...usage, outputText: Math.max(usage.outputText - inWords, 0) }
  const setAside = usage && apart ? usage.outputText - apart.outputText : 0
  const outputTokensMax = Math.max(heldTokensOf(admission), imageTokens)
  const wordsMax = setAside > 0 ? Math.max(outputTokensMax - setAside, 0) : heldTokensOf(admission)
  const metered = await meterWords(relay, call, { ...to, usage: apart, wordsMax })
  const isCounted = metered.usage.outputText !== apart?.outputText
  return paintedUsage(metered, {
    ...painted,
    imageTokens,
    // Tokens of our own count are those of words.
    isReported: (usage?.outputText ?? 0) > 0 && (complete || (usage?.outputImage !== undefined && !isCounted)),
    setAside,
    outputTokensMax,
    hasWords: hasWords(to.produced),
  })
}

async function meterWords(relay: Relay, call: GatewayRequest, to: ToMeter): Promise<MeteredUsage> {
  const { usage, produced, thoughts = '', promptText, admission, complete } = to
  if (usage && isWhole(usage, to)) return { usage, source: 'reported' }
  const { request } = call
  const [said, thought] = [asGeneratedText(produced), asGeneratedText(thoughts)]
  const texts = [promptText ?? request.promptText(), said.text, thought.text]
  const [prompt = 0, saidBegun = 0, thoughtBegun = 0] = await relay.tokens.count(texts, call.caller.account.id)
  const [words, thinking] = [scaledTokens(saidBegun, said), scaledTokens(thoughtBegun, thought)]
  const { quoted } = admission
  const { wordsMax: bound = heldTokensOf(admission) } = to
  // A count of our own is no reason to charge more than was agreed to: whoever sends more than was asked for gives it.
  const input = Math.min(prompt + tokensBesideText(request, admission.model), quoted.inputTokens)
  if (!usage) return { usage: estimatedUsage(input, Math.min(words + thinking, bound)), source: 'estimated' }
  const withInput = inputTokens(usage) > 0 ? usage : { ...usage, inputFresh: input }
  const isKnown = complete && outputTokens(usage) > 0
  const counted = isKnown ? withInput : atLeast(withInput, { words, thinking, bound })
  return { usage: counted, source: sameUsage(counted, usage) ? 'reported' : 'estimated' }
}

/**
 * Whether a report says it all: that of a complete answer, unless it says that nothing went in, or came out, where
 * something did. A vendor may leave out what it has in a cache (ollama#5370), or send zeros where it has not counted.
 */
function isWhole(usage: Usage, { produced, thoughts = '', painted, complete }: ToMeter): boolean {
  if (!complete) return false
  if (outputTokens(usage) > 0) return inputTokens(usage) > 0
  return !hasWords(produced) && !hasWords(thoughts) && (painted?.images ?? 0) === 0
}

const hasWords = (produced: string | GeneratedText): boolean => /\S/.test(asGeneratedText(produced).text)

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

/** The output that is held for. */
const heldTokensOf = ({ growing, quoted }: Admission): number => growing?.heldTokens ?? quoted.outputTokens

function isPlausible(usage: Usage, { request }: GatewayRequest, { quoted }: Admission): boolean {
  const within = (tokens: number, bound: number): boolean => tokens <= bound + PLAUSIBLE_MARGIN_TOKENS
  // Without a limit the bound is what no answer of the model passes; a limit may be counted differently.
  const isOpen = quoted.cap === undefined && request.outputTokensMax === undefined
  const outputBound = quoted.outputTokensMax * (isOpen ? 1 : PLAUSIBLE_FACTOR)
  return within(inputTokens(usage), quoted.inputTokens * PLAUSIBLE_FACTOR) && within(outputTokens(usage), outputBound)
}
