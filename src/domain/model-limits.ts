/**
 * The limits and capabilities of a model. Each has one row, from which `tollgate.yaml`, the operations, the console's
 * routes and `tollgate model limits` are made.
 */
import type { ModelRates } from './limits.ts'
import { policyNames, stickinessNames, type PolicyName, type Stickiness } from './routing.ts'
import { openImageFacts, type ImageFacts } from './image.ts'
import { openVideoFacts, type VideoFacts } from './video.ts'

export type ModelLimits = ModelRates & {
  /** The most tokens of one answer. Undefined if unknown. */
  readonly outputTokensMax: number | undefined
  /** The operator's limit for answers of clients that set none. Undefined: no limit is set. */
  readonly outputTokensDefault: number | undefined
  /** A request without a limit is refused if fewer output tokens than this are affordable. */
  readonly outputTokensMin: number
  /** Whether the model bills reasoning that it does not send. The cost of an answer is then unknown before its end. */
  readonly hidesReasoning: boolean
  /** The most tokens that one image part counts as. */
  readonly imageTokensMax: number
  /**
   * The silence allowed before the first event. Undefined: the usual time for such a model, see first-token-timeout.ts.
   */
  readonly firstEventTimeoutMs: number | undefined
  /** For an embedding model: the length of its vectors, and whether a request may ask for shorter ones. */
  readonly dimensions: number | undefined
  readonly dimensionsAdjustable: boolean
  /** For an image model: what it can do. */
  readonly image: ImageFacts
  /** For a video model: what it can do. */
  readonly video: VideoFacts
  /** The longest input and output together, as the vendor states it. It bounds holds, and the vendor enforces it. */
  readonly contextTokens: number | undefined
  /** `refused`: audio costs more than the model's input price, so neither audio nor files are accepted. */
  readonly mediaInput: 'taken' | 'refused'
  /** For a text model: whether it accepts images. No price list says so, but the operator may. */
  readonly pictureInput: 'taken' | 'refused'
  /** How long the answer cache may serve an answer of the model again. Undefined: never. */
  readonly answerCacheSeconds: number | undefined
  /** Whether a second offer is asked when the first is slower than most answers of the model. */
  readonly hedging: 'off' | 'on'
  /** How its offers are ranked. */
  readonly routing: PolicyName
  /** What keeps a conversation at one offer. Undefined: what is usual for its policy. */
  readonly sticky: Stickiness | undefined
}

/**
 * How an operator writes a value: a whole number above zero, yes or no, the facts of an image or video model, or one of
 * several words. `acceptance`: yes means `taken`, no means `refused`.
 */
export type LimitValue = 'count' | 'yes_no' | 'acceptance' | 'image' | 'video' | readonly [string, ...string[]]

type LimitRow<Value> = {
  readonly default: Value
  readonly value: LimitValue
  /** Its name where an operator sets it. Left out: it comes from a price list only. */
  readonly input?: string
  /** Its name in what operations show as `limits`. */
  readonly output?: string
  /** Its option of `tollgate model limits`. `title`: its name in the answer, unless that is the option's. */
  readonly option?: { readonly name: string; readonly summary: string; readonly title?: string; readonly unit?: string }
  /** Its description in the console, for a limit that only operators see. */
  readonly forOperators?: string
}

/** The rows, in the order in which operations show them. */
export const modelLimitRows = {
  outputTokensMax: {
    default: undefined,
    value: 'count',
    input: 'output_tokens_max',
    output: 'output_tokens_max',
    option: { name: 'max-output', summary: 'maximum output tokens of one answer' },
  },
  outputTokensDefault: {
    default: undefined,
    value: 'count',
    input: 'output_tokens_default',
    output: 'output_tokens_default',
    option: { name: 'default-output', summary: 'output limit of requests that set none (default: no limit)' },
    forOperators: 'the output limit of requests that set none; null: no limit',
  },
  outputTokensMin: {
    default: 256,
    value: 'count',
    input: 'output_tokens_min',
    output: 'output_tokens_min',
    option: {
      name: 'min-output',
      summary: 'a request that sets no limit is refused if the balance covers less output than this',
    },
    forOperators: 'a request that sets no limit is refused if the balance covers less output than this',
  },
  hidesReasoning: {
    default: false,
    value: 'yes_no',
    input: 'hidden_reasoning',
    output: 'hidden_reasoning',
    option: { name: 'hidden-reasoning', summary: 'whether it bills reasoning that it does not send' },
  },
  imageTokensMax: {
    default: 3_000,
    value: 'count',
    input: 'image_tokens_max',
    output: 'image_tokens_max',
    option: { name: 'image-tokens', summary: 'maximum tokens that an image in a request counts as' },
    forOperators: 'the most tokens that an image in a request counts as',
  },
  firstEventTimeoutMs: {
    default: undefined,
    value: 'count',
    input: 'first_event_timeout_ms',
    output: 'first_event_timeout_ms',
    option: {
      name: 'first-event-timeout',
      summary: 'milliseconds to wait for the first token (default: 60000, or 300000 if it reasons)',
      unit: 'ms',
    },
    forOperators: '300 s for models that reason silently, unless it is set',
  },
  dimensions: {
    default: undefined,
    value: 'count',
    input: 'dimensions',
    output: 'dimensions',
    option: { name: 'dimensions', summary: 'length of the vectors of an embedding model' },
  },
  dimensionsAdjustable: {
    default: false,
    value: 'yes_no',
    input: 'dimensions_adjustable',
    output: 'dimensions_adjustable',
    option: {
      name: 'adjustable-dimensions',
      summary: 'whether requests may ask for shorter vectors',
      title: 'adjustable',
    },
  },
  image: { default: openImageFacts, value: 'image', input: 'image' },
  video: { default: openVideoFacts, value: 'video', input: 'video' },
  contextTokens: {
    default: undefined,
    value: 'count',
    input: 'context_tokens',
    output: 'context_tokens',
    option: { name: 'context', summary: 'maximum tokens of input and output together' },
  },
  mediaInput: { default: 'taken', value: ['taken', 'refused'], output: 'media_input' },
  requestsPerMinute: {
    default: undefined,
    value: 'count',
    input: 'requests_per_minute',
    output: 'requests_per_minute',
    option: { name: 'requests-per-minute', summary: 'requests a minute of all accounts together' },
    forOperators: 'requests a minute of all accounts together; null: no limit',
  },
  tokensPerMinute: {
    default: undefined,
    value: 'count',
    input: 'tokens_per_minute',
    output: 'tokens_per_minute',
    option: { name: 'tokens-per-minute', summary: 'tokens a minute of all accounts, input and output together' },
    forOperators: 'tokens a minute of all accounts, input and output together; null: no limit',
  },
  concurrentRequests: {
    default: undefined,
    value: 'count',
    input: 'concurrent_requests',
    output: 'concurrent_requests',
    option: { name: 'concurrent', summary: 'requests of all accounts in flight at once' },
    forOperators: 'requests of all accounts in flight at once; null: no limit',
  },
  pictureInput: {
    default: 'taken',
    value: 'acceptance',
    input: 'pictures',
    output: 'picture_input',
    option: { name: 'pictures', summary: 'whether a text model takes pictures as input' },
  },
  answerCacheSeconds: {
    default: undefined,
    value: 'count',
    input: 'answer_cache_seconds',
    output: 'answer_cache_seconds',
    option: {
      name: 'answer-cache',
      summary: 'seconds for which the same request may get the same answer again (default: never)',
      unit: 's',
    },
    forOperators: 'for how long the same request of an account may get the same answer again; null: never',
  },
  hedging: {
    default: 'off',
    value: ['off', 'on'],
    input: 'hedging',
    output: 'hedging',
    option: { name: 'hedging', summary: 'whether a second offer is asked when the first is unusually slow' },
    forOperators: 'whether a second offer is asked when the first is slower than 95 % of the answers of the model',
  },
  routing: {
    default: 'weighted',
    value: policyNames,
    input: 'routing',
    output: 'routing',
    option: { name: 'routing', summary: 'which of its offers is tried first, see docs/routing.md' },
    forOperators: 'the policy that ranks the offers of one priority',
  },
  sticky: {
    default: undefined,
    value: stickinessNames,
    input: 'sticky',
    output: 'sticky',
    option: {
      name: 'sticky',
      summary: 'what keeps a conversation at one offer (default: depends on the routing)',
    },
    forOperators: 'what keeps a conversation at one offer: its name, or also the words it begins with',
  },
} as const satisfies { readonly [Name in keyof ModelLimits]-?: LimitRow<ModelLimits[Name]> }

export const modelLimitEntries = Object.entries(modelLimitRows) as readonly (readonly [
  name: keyof ModelLimits,
  row: LimitRow<unknown>,
])[]

export const defaultModelLimits = Object.fromEntries(
  modelLimitEntries.map(([name, row]) => [name, row.default]),
) as ModelLimits

/** The rates of a model, or undefined if it has none. */
export function ratesOf({
  requestsPerMinute,
  tokensPerMinute,
  concurrentRequests,
}: ModelRates): ModelRates | undefined {
  const rates = { requestsPerMinute, tokensPerMinute, concurrentRequests }
  return Object.values(rates).some((rate) => rate !== undefined) ? rates : undefined
}

/** Sorts by a list of names. Names that are not in the list come last. */
export const sortedBy = <Item>(
  items: readonly Item[],
  order: readonly string[],
  nameOf: (item: Item) => string,
): readonly Item[] => {
  const placeOf = (item: Item): number => {
    const name = nameOf(item)
    return order.includes(name) ? order.indexOf(name) : order.length
  }
  return items.toSorted((a, b) => placeOf(a) - placeOf(b))
}
