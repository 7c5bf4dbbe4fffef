/** The usage of an answer: as its upstream reports it if that is plausible, or by our own count. */
import { inputTokens, outputTokens, type Usage } from '../domain/usage.ts'
import type { MeteredUsage } from '../formats/core/contract.ts'
import type { Arrival } from '../modalities/modality.ts'
import type { Admission } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { limit } from '../lib/primitives/limit.ts'

type ToMeter = Arrival & {
  readonly admission: Admission
  /** Whether it ended because no money was left. A running usage may then exceed what was paid for and left. */
  readonly isCut?: boolean | undefined
}

/** A report beyond 4 times the quote, plus a margin for hidden prompts, counts as a mistake. */
const PLAUSIBLE_FACTOR = limit(
  'plausibleUsageFactor',
  4,
  'A reported usage above this many times the quote, plus the margin, is counted again.',
)
const PLAUSIBLE_MARGIN_TOKENS = limit(
  'plausibleUsageMarginTokens',
  20_000,
  'A reported usage may exceed the multiple of the quote by this many tokens.',
)

/** Uses the upstream's usage if it is plausible, and otherwise counts input and output. */
export function meter(relay: Relay, call: GatewayRequest, to: ToMeter): MeteredUsage | Promise<MeteredUsage> {
  const { admission } = to
  const { model, modality, quoted } = admission
  const heldTokens = heldTokensOf(admission)
  const usage = to.isCut ? upTo(to.usage, heldTokens) : to.usage
  const plausible = usage && isPlausible(usage, call, admission)
  if (usage && !plausible) relay.log('error', 'usage.implausible', { request: call.id, ...usage })
  const believed = plausible ? usage : undefined
  return modality.meter(believed === to.usage ? to : { ...to, usage: believed }, {
    request: call.request,
    model,
    inputTokensMax: quoted.inputTokens,
    heldTokens,
    count: (texts) => relay.tokens.count(texts, call.caller.account.id),
  })
}

/** A report that exceeds what was paid for says nothing about the output. */
const upTo = (usage: Usage | undefined, outputMax: number): Usage | undefined =>
  usage && outputTokens(usage) > outputMax ? { ...usage, outputText: 0, outputReasoning: 0 } : usage

/** The output that is held for. */
const heldTokensOf = ({ growing, quoted }: Admission): number => growing?.heldTokens ?? quoted.outputTokens

function isPlausible(usage: Usage, { request }: GatewayRequest, { quoted }: Admission): boolean {
  const within = (tokens: number, bound: number): boolean => tokens <= bound + PLAUSIBLE_MARGIN_TOKENS
  // Without a limit the bound is the maximum of the model. A limit may be counted differently by the vendor.
  const isOpen = quoted.cap === undefined && request.outputTokensMax === undefined
  const outputBound = quoted.outputTokensMax * (isOpen ? 1 : PLAUSIBLE_FACTOR)
  return within(inputTokens(usage), quoted.inputTokens * PLAUSIBLE_FACTOR) && within(outputTokens(usage), outputBound)
}
