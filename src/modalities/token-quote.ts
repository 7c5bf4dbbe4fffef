/**
 * The quote of work that is sold by tokens: text, embeddings, and images inside a turn. It needs no tokenizer, because
 * a byte of text is never more than one token.
 */
import type { Model } from '../domain/catalog.ts'
import type { ModelLimits } from '../domain/model-limits.ts'
import { divideUp, millionthUp, type NanoUsd } from '../domain/money.ts'
import { dearestInput, dearestOutput } from '../domain/price.ts'
import type { CapReason, Means, OutputCap, Quote, QuotedRequest } from './modality.ts'

const MILLION = 1_000_000n

/** The most tokens that the input can have. */
export function inputTokensMax({ textBytes, imageParts, mediaBytes }: QuotedRequest, model: Model): number {
  return textBytes + imageParts * model.limits.imageTokensMax + mediaBytes
}

/** English text has about four bytes per token. Code and most other languages have three or more. */
const BYTES_PER_TOKEN = 4
const BYTES_PER_TOKEN_LEAST = 3

/** The tokens that a request counts as until its usage is known: its input and its output limit. */
export function likelyTokens(request: QuotedRequest, model: Model): number {
  const { textBytes, imageParts, mediaBytes } = request
  const input = Math.ceil((textBytes + mediaBytes) / BYTES_PER_TOKEN) + imageParts * model.limits.imageTokensMax
  return input + (request.outputTokensMax ?? 0) * request.choices
}

/** The bound of a model whose maximum and context are both unknown. Hardly any gives more per answer (2026-11). */
const ASSUMED_OUTPUT_TOKENS_MAX = 131_072

/** The tokens of a step of a growing hold. A low balance has smaller steps, so that many requests fit side by side. */
export const STEP_TOKENS = 1_024
const STEP_TOKENS_MIN = 64
/** Parts of the available amount: for a step, and for an answer whose hold cannot grow. */
const STEP_SHARE = 64
const CAPPED_SHARE = 16

/** The next step, of at most `most` tokens. It may be more than is affordable. */
export const stepOf = (affordable: number, most: number): number =>
  Math.max(STEP_TOKENS_MIN, Math.min(most, Math.floor(affordable / STEP_SHARE)))

/** The output tokens of an answer whose hold cannot grow. */
export const cappedShareOf = (affordable: number): number => Math.floor(affordable / CAPPED_SHARE)

/** The most output that this model can give per choice. */
export const outputBoundOf = ({ outputTokensMax, contextTokens }: ModelLimits): number =>
  Math.min(outputTokensMax ?? contextTokens ?? ASSUMED_OUTPUT_TOKENS_MAX, contextTokens ?? Infinity)

/** The facts about the kind of work that a quote in tokens needs. */
type TokenWork = {
  readonly means: Means
  /** Whether the hold can grow, because the answer is counted while it is made. */
  readonly canGrow: boolean
  /** Tokens of the image that the answer may be, or 0 if it cannot be an image. */
  readonly imageTokens: number
}

/**
 * Quotes a request against the available amount. A limit of the client's is quoted as it is, lowered only to the
 * model's maximum. So is a default of the operator's. Without either, a limit is sent upstream only if it is needed:
 * - The model's maximum is held if that leaves room for other requests.
 * - Otherwise the hold begins small and grows with the answer.
 * - If the hold cannot grow, the output is limited to a share of the available amount.
 * If the answer may be an image, the hold always covers one image, because an image ignores the limit.
 */
export function quoteTokens(request: QuotedRequest, model: Model, work: TokenWork): Quote {
  const { means, imageTokens } = work
  const { available } = means
  const { limits } = model
  const inputTokens = inputTokensMax(request, model)
  const rates = ratesOf(request, model, inputTokens)
  const base = { inputTokens, imageTokens, rates, choices: request.choices }
  const asked = request.outputTokensMax
  if (asked !== undefined) {
    const most = limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER
    const cap = asked > most ? ({ tokens: most, reason: 'model_maximum' } as const) : undefined
    return (
      fixed(base, { tokens: Math.min(asked, most), cap }, available) ?? unaffordable(base, asked, { most, available })
    )
  }
  return quoteOpen(base, limits, work)
}

type Base = {
  readonly inputTokens: number
  /** Tokens of the image that the answer may be, or 0 if it cannot be an image. */
  readonly imageTokens: number
  readonly rates: Rates
  readonly choices: number
}
type Wish = { readonly tokens: number; readonly cap: OutputCap | undefined }

/** Quotes a request without an output limit of the client's. */
function quoteOpen(base: Base, limits: ModelLimits, { means: { available, isAlone }, canGrow }: TokenWork): Quote {
  const { inputTokens, imageTokens, rates, choices } = base
  const most = outputBoundOf(limits)
  const { contextTokens = Infinity, outputTokensDefault } = limits
  const likelyInput = Math.ceil(inputTokens / BYTES_PER_TOKEN_LEAST)
  // A vendor refuses a limit that does not fit into the context after the input.
  const behindInput = Math.max(contextTokens - likelyInput, limits.outputTokensMin)
  const wanted = Math.min(outputTokensDefault ?? most, most, behindInput)
  const affordable = affordableTokens(available, inputTokens, rates)
  const least = Math.max(Math.min(limits.outputTokensMin + imageTokens, wanted), imageTokens)
  const capped = (tokens: number, reason: CapReason): Quote | undefined =>
    fixed(base, { tokens, cap: { tokens, reason } }, available)
  const short = affordable >= least ? undefined : unaffordable(base, least, { most, available })
  if (outputTokensDefault !== undefined) {
    return capped(wanted, 'operator') ?? short ?? capped(affordable, 'balance') ?? unreachable()
  }
  // A request that took everything would block the account's other requests.
  const room = isAlone ? available - available / BigInt(CAPPED_SHARE) : available / 2n
  const whole = fixed(base, { tokens: most, cap: undefined }, room)
  if (whole) return whole
  if (short) return short
  if (!canGrow || limits.hidesReasoning || imageTokens > 0) {
    const share = cappedShareOf(affordableTokens(available, 0, rates))
    const tokens = Math.min(Math.max(share, least), affordable, wanted)
    return capped(tokens, 'balance') ?? unreachable()
  }
  const step = Math.min(stepOf(affordableTokens(available, 0, rates), STEP_TOKENS), affordable, most)
  return {
    kind: 'quoted',
    amount: amountOf(inputTokens, step, rates),
    inputTokens,
    outputTokens: step * choices,
    outputTokensMax: most * choices,
    cap: undefined,
    grows: true,
  }
}

/** A quote of this many tokens, or undefined if it costs more than `available`. */
function fixed(
  { inputTokens, imageTokens, rates, choices }: Base,
  { tokens, cap }: Wish,
  available: NanoUsd,
): Quote | undefined {
  const amount = amountOf(inputTokens, Math.max(tokens, imageTokens), rates)
  if (amount > available) return undefined
  const outputTokens = tokens * choices
  return { kind: 'quoted', amount, inputTokens, outputTokens, outputTokensMax: outputTokens, cap, grows: false }
}

type AffordableOutput = { readonly most: number; readonly available: NanoUsd }

function unaffordable(
  { inputTokens, imageTokens, rates }: Base,
  tokens: number,
  { most, available }: AffordableOutput,
): Quote {
  const affordable = affordableTokens(available, inputTokens, rates)
  const fitting = affordable < imageTokens ? 0 : Math.min(Math.max(affordable, 0), most)
  const needed = amountOf(inputTokens, Math.max(Math.min(tokens, most), imageTokens), rates)
  return { kind: 'unaffordable', needed, fitting }
}

/** The amount to hold for this input and this much output, all choices together. */
export function heldFor(request: QuotedRequest, model: Model, outputTokens: number): NanoUsd {
  const inputTokens = inputTokensMax(request, model)
  return amountOf(inputTokens, outputTokens, { ...ratesOf(request, model, inputTokens), choices: 1 })
}

/** How many output tokens an amount pays for. */
export function tokensFor(request: QuotedRequest, model: Model, amount: NanoUsd): number {
  return affordableTokens(amount, 0, { ...ratesOf(request, model, inputTokensMax(request, model)), choices: 1 })
}

const ratesOf = ({ choices }: QuotedRequest, { sale }: Model, inputTokens: number): Rates => ({
  input: dearestInput(sale, inputTokens),
  output: dearestOutput(sale, inputTokens),
  choices,
})

function unreachable(): never {
  throw new Error('what is affordable was not')
}

/** Nano-USD per million tokens, and the number of choices that multiply the output. */
type Rates = { readonly input: bigint; readonly output: bigint; readonly choices: number }

function amountOf(inputTokens: number, outputTokens: number, { input, output, choices }: Rates): NanoUsd {
  // Numbers are faster and nearly always exact. A sum that rounded anywhere is beyond the safe integers.
  const sum = inputTokens * Number(input) + outputTokens * Number(output) * choices
  if (Number.isSafeInteger(sum)) return millionthUp(sum)
  return divideUp(BigInt(inputTokens) * input + BigInt(outputTokens) * output * BigInt(choices), MILLION)
}

/** How many output tokens per choice the rest of the balance covers, or -1 if it does not cover the input. */
function affordableTokens(available: NanoUsd, inputTokens: number, { input, output, choices }: Rates): number {
  const left = available * MILLION - BigInt(inputTokens) * input
  if (left < 0n) return -1
  const perToken = output * BigInt(choices)
  return perToken === 0n ? Number.MAX_SAFE_INTEGER : Number(left / perToken)
}
