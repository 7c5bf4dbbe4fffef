/**
 * What the relay asks of a kind of work: text, embeddings, images, images inside a turn, videos. One file answers
 * everything for one kind, so the relay branches on none. All of it is pure: time, money and counting are passed in.
 */
import type { Model, ModelKind } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { RequestLength, Usage } from '../domain/usage.ts'
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

/** The questions about any kind of work that arise before money is held. */
type WorkTerms = {
  /** What the models of this kind make. */
  readonly kind: ModelKind
  /**
   * Whether the tokens of an answer arrive one after the other. If so, its hold can grow with it, and the length of an
   * answer without a limit is forecast.
   */
  readonly isIncremental: boolean
  /** Whether a vendor bills the work from the moment it is sent. Nothing is sent before its hold is on disk. */
  readonly needsDurableHold: boolean
  /** The endpoints that serve the model, by the names that requests have in their records. */
  endpoints(model: Model): readonly string[]
  /** Why the model cannot serve a request of this endpoint, or undefined if it can. */
  accepts(model: Model, request: ClientRequest): Failure | undefined
  /** Why the model cannot take the media or pictures of the request, or undefined if it can. */
  acceptsInput(model: Model, request: ClientRequest): Failure | undefined
  /** The approximate length of the request, or undefined if it fits every offer of the model. */
  lengthOf(request: ClientRequest, model: Model): RequestLength | undefined
  /** The most that the request can cost, and the output limit that ensures it. */
  quote(request: QuotedRequest, model: Model, means: Means): Quote
  /** The tokens that the request counts as against a token limit until its usage is known. */
  likelyTokens(request: QuotedRequest, model: Model): number
}

/** Work that one exchange with an upstream answers. */
export type AnswerModality = WorkTerms & {
  readonly delivery: 'answer'
  /**
   * Whether fields of the client's body reach the upstream under their own names. If so, a field that a vendor refuses
   * can be left out, and a field that a vendor names can be found in the client's body.
   */
  readonly passesFields: boolean
  /** Whether the work is expensive and billed every time. It is then sent on a connection that cannot be stale. */
  readonly sendOnce: boolean
  /** Whether a failure with this status means that nothing was made. The same offer may then be tried once more. */
  readonly isUnbilled: (status: number | undefined) => boolean
  /** The time and the bytes that an attempt may take. */
  attemptBounds(model: Model, limits: ReplyLimits, isWhole: boolean): AttemptBounds
  /** The bounds of a stream apart from its text. */
  streamMax(arriving: StreamArrival): StreamMax
  /** Whether less arrived than was requested. A repetition does not get such an answer if the gateway cut it. */
  isPart(arrived: Pick<Arrival, 'delivered'>, request: ClientRequest, model: Model): boolean
  /** The usage of the answer: the report if it is complete, otherwise our own count of input and output. */
  meter(arrived: Arrival, terms: MeterTerms): MeteredUsage | Promise<MeteredUsage>
}

/**
 * Work that outlives its request and this process. The task has its own timeouts, and is metered when it ends.
 */
export type TaskModality = WorkTerms & { readonly delivery: 'task' }

/** The parts of a request that its price depends on. */
export type QuotedRequest = RequestedWork &
  Pick<ClientRequest, 'outputTokensMax' | 'choices' | 'textBytes' | 'imageParts' | 'mediaBytes'>

/** The balance of an account as far as a request can use it. */
export type Means = {
  readonly available: NanoUsd
  /** Whether the account has no other open hold. */
  readonly isAlone: boolean
}

/** Why an output limit is sent upstream that the client did not set. */
export type CapReason = 'model_maximum' | 'operator' | 'balance' | 'vendor'

export type OutputCap = {
  /** Tokens per choice. */
  readonly tokens: number
  readonly reason: CapReason
}

export type Quote =
  | {
      readonly kind: 'quoted'
      readonly amount: NanoUsd
      /** The tokens that the amount covers, all choices together. */
      readonly inputTokens: number
      readonly outputTokens: number
      /** The most output there can be, all choices together. More than `outputTokens` if the hold grows. */
      readonly outputTokensMax: number
      /** The output limit to send upstream. Undefined if the client's own limit stands, or none is needed. */
      readonly cap: OutputCap | undefined
      /** Whether the hold covers only the beginning of the answer and grows while the answer arrives. */
      readonly grows: boolean
    }
  | {
      readonly kind: 'unaffordable'
      readonly needed: NanoUsd
      /** The `max_tokens` that the balance would cover, or 0 if it does not even cover the input. */
      readonly fitting: number
    }

/** The operator's bounds of any reply. */
export type ReplyLimits = {
  readonly eventGapTimeoutMs: number
  readonly wholeReplyTimeoutMs: number
  readonly replyBytesMax: number
  readonly textReplyBytesMax: number
  readonly eventCharsMax: number
}

/** The bounds of one attempt. */
export type AttemptBounds = {
  readonly firstEventTimeoutMs: number
  readonly eventGapTimeoutMs: number
  readonly replyBytesMax: number
  readonly eventCharsMax: number
}

/** What a stream has brought so far, and its quote. */
export type StreamArrival = {
  /** Output tokens in the quote, all choices together. */
  readonly tokens: number
  /** Characters of text that arrived. */
  readonly chars: number
  readonly eventCharsMax: number
}
export type StreamMax = { readonly events: number; readonly bytes: number }

/** The parts of an upstream's answer that its price depends on. */
export type Arrival = {
  readonly usage: Usage | undefined
  /** The text that arrived. Reasoning is kept apart if the two can be told apart. */
  readonly produced: string | GeneratedText
  readonly thoughts?: string | GeneratedText | undefined
  readonly delivered?: readonly DeliveredImage[] | undefined
  readonly begun?: number | undefined
  readonly painted?: InlineImages | undefined
  /** The text to count as input if no usage is known. Without it, the text of the whole request is counted. */
  readonly promptText?: string | undefined
  /** Whether the answer reached its end. The running usage of a broken answer lags behind what arrived. */
  readonly complete: boolean
}

/** The terms by which an answer is metered. */
export type MeterTerms = {
  readonly request: ClientRequest
  readonly model: Model
  /** The input in the quote, and the output that is held for. */
  readonly inputTokensMax: number
  readonly heldTokens: number
  /** Counts the tokens of texts. */
  readonly count: (texts: readonly string[]) => Promise<readonly number[]>
}
