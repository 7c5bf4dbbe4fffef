/**
 * What the relay asks of a kind of work: text, embeddings, images, images inside a turn, videos. One file answers all
 * for one kind, so that the relay branches on none. Everything here is pure: time, money and counting are passed in.
 */
import type { Model, ModelKind } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { Usage } from '../domain/usage.ts'
import type {
  ClientRequest,
  DeliveredImage,
  InlineImages,
  MeteredUsage,
  RequestedWork,
} from '../formats/core/contract.ts'
import type { GeneratedText } from '../formats/core/generated-text.ts'

/** A kind of work that an upstream answers, or one that a task carries out. */
export type Modality = AnswerModality | TaskModality

/** What is asked of any kind of work before money is held. */
type WorkTerms = {
  /** What its models make. */
  readonly kind: ModelKind
  /**
   * Whether the tokens of an answer arrive one after the other. Its hold can then grow with it, and where nobody limits
   * it, its length is forecast.
   */
  readonly isIncremental: boolean
  /** Whether a vendor bills the work from the moment it is sent. Nothing is sent before its hold is on disk. */
  readonly needsDurableHold: boolean
  /** The endpoints that serve the model, by the names that requests have in their records. */
  endpoints(model: Model): readonly string[]
  /** Why the model cannot serve a request of this endpoint. Undefined: it can. */
  accepts(model: Model, request: ClientRequest): Failure | undefined
  /** Why the model cannot take what the request brings: media, pictures. Undefined: it can. */
  acceptsInput(model: Model, request: ClientRequest): Failure | undefined
  /** About how long the request is. Undefined: no offer of the model is too small for it. */
  lengthOf(request: ClientRequest, model: Model): TokenLength | undefined
  /** The most that the request can cost, and the output limit that keeps it there. */
  quote(request: QuotedRequest, model: Model, means: Means): Quote
  /** The tokens that the request counts as against a limit of tokens, until its usage is known. */
  likelyTokens(request: QuotedRequest, model: Model): number
}

/** Work that one exchange with an upstream answers. */
export type AnswerModality = WorkTerms & {
  readonly delivery: 'answer'
  /**
   * Whether fields of the client's body reach the upstream under their own names. A field that a vendor refuses can
   * then be left out, and one that it names can be looked up in what the client sent.
   */
  readonly passesFields: boolean
  /** Whether the work is dear, and billed every time: it goes over a connection that nobody can have closed. */
  readonly sendOnce: boolean
  /** Whether a failure with this status says that nothing was made: the same offer may be asked once more. */
  readonly isUnbilled: (status: number | undefined) => boolean
  /** How long an attempt may take, and how much it may bring. */
  attemptBounds(model: Model, limits: ReplyLimits, isWhole: boolean): AttemptBounds
  /** How much a stream may bring besides words. */
  streamMax(arriving: StreamArrival): StreamMax
  /** Whether less arrived than was asked for. A repetition does not get such an answer where that is our doing. */
  isPart(arrived: Pick<Arrival, 'delivered'>, request: ClientRequest, model: Model): boolean
  /** What the answer came to: the report where it says all, or what went in and came out, by our own count. */
  meter(arrived: Arrival, terms: MeterTerms): MeteredUsage | Promise<MeteredUsage>
}

/**
 * Work that goes on without its request, and beyond this process. The task has its own timeouts and is metered where it
 * ends.
 */
export type TaskModality = WorkTerms & { readonly delivery: 'task' }

/** About how many tokens go in, and how many may come out. */
export type TokenLength = { readonly inputTokens: number; readonly outputTokens: number }

/** What of a request its price depends on. */
export type QuotedRequest = RequestedWork &
  Pick<ClientRequest, 'outputTokensMax' | 'choices' | 'textBytes' | 'imageParts' | 'mediaBytes'>

/** What an account has for a request. */
export type Means = {
  readonly available: NanoUsd
  /** Whether nothing else of the account is under way that holds money. */
  readonly isAlone: boolean
}

/** Why an output limit is sent upstream that the client did not ask for. */
export type CapReason = 'model_maximum' | 'operator' | 'balance' | 'vendor'

export type OutputCap = {
  /** Tokens of one choice. */
  readonly tokens: number
  readonly reason: CapReason
}

export type Quote =
  | {
      readonly kind: 'quoted'
      readonly amount: NanoUsd
      /** The bounds the amount stands for, all choices together. */
      readonly inputTokens: number
      readonly outputTokens: number
      /** The most output there can be, all choices together. More than `outputTokens` where the hold is to grow. */
      readonly outputTokensMax: number
      /** The output limit to send upstream. Undefined where the client's own stands, or none is needed. */
      readonly cap: OutputCap | undefined
      /** Whether the hold covers the beginning of the answer only, and has to grow while the answer arrives. */
      readonly grows: boolean
    }
  | {
      readonly kind: 'unaffordable'
      readonly needed: NanoUsd
      /** The `max_tokens` that the balance would cover. 0 when it does not even cover the input. */
      readonly fitting: number
    }

/** What the operator allows any reply. */
export type ReplyLimits = {
  readonly eventGapTimeoutMs: number
  readonly wholeReplyTimeoutMs: number
  readonly replyBytesMax: number
  readonly textReplyBytesMax: number
  readonly eventCharsMax: number
}

/** What one attempt may take. */
export type AttemptBounds = {
  readonly firstEventTimeoutMs: number
  readonly eventGapTimeoutMs: number
  readonly replyBytesMax: number
  readonly eventCharsMax: number
}

/** What a stream has brought, and what it was quoted. */
export type StreamArrival = {
  /** Output tokens that were quoted, all choices together. */
  readonly tokens: number
  /** Characters of words that arrived. */
  readonly chars: number
  readonly eventCharsMax: number
}
export type StreamMax = { readonly events: number; readonly bytes: number }

/** What an upstream sent, as far as its price depends on it. */
export type Arrival = {
  readonly usage: Usage | undefined
  /** What arrived, and apart from it the reasoning, where the two can be told apart. */
  readonly produced: string | GeneratedText
  readonly thoughts?: string | GeneratedText | undefined
  readonly delivered?: readonly DeliveredImage[] | undefined
  readonly begun?: number | undefined
  readonly painted?: InlineImages | undefined
  /** What is counted as input where no usage is known. Left out: the text of the whole request. */
  readonly promptText?: string | undefined
  /** Whether the answer reached its end: a running usage of a broken one is behind what arrived. */
  readonly complete: boolean
}

/** What an answer is metered by. */
export type MeterTerms = {
  readonly request: ClientRequest
  readonly model: Model
  /** The input that was quoted, and the output that is held for. */
  readonly inputTokensMax: number
  readonly heldTokens: number
  /** Counts the tokens of texts. */
  readonly count: (texts: readonly string[]) => Promise<readonly number[]>
}
