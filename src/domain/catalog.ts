import { openImageFacts, type ImageFacts } from './image.ts'
import type { PriceCard, PriceTier, UnitPrices } from './price.ts'
import { openVideoFacts, type VideoFacts } from './video.ts'

/** Where something was made: in `tollgate.yaml` or the environment (read-only elsewhere), or in the store. */
export type PriceOrigin = 'declared' | 'stored'

/**
 * `environment`: a model that came with a vendor's key, at its list price and a mark-up. A stored model of that id
 * wins.
 */
export type ModelOrigin = PriceOrigin | 'environment'

/** What happens to a vendor's bill when the client hangs up: it stops, or the answer is made and billed to its end. */
export type HangUp = 'stops_billing' | 'bills_on'

/**
 * The addresses that a provider may have. `private`: with the operator's permission also this machine and its networks.
 */
export type ProviderReach = 'public' | 'private'

/** A connection to a vendor: base URL, credential, and the preset that says what it speaks. */
export type Provider = {
  readonly id: string
  /** The preset that it was made from (`sandbox`, `custom`, or a vendor's). */
  readonly preset: string
  /** Absolute, without a trailing slash, up to and including the version: `https://api.vendor.example/v1`. */
  readonly baseUrl: string
  readonly reach: ProviderReach
  readonly secret: string | undefined
  /** Undefined: the preset's own. */
  readonly hangUp: HangUp | undefined
  /** The most concurrent requests to this provider. Undefined: the general limit. */
  readonly concurrentRequests?: number | undefined
  readonly origin: PriceOrigin
  /** `drained`: gets no new requests until the operator changes it. */
  readonly state?: ProviderState
}

export type ProviderState = 'serving' | 'drained'

export type ProviderDraft = {
  readonly id: string
  readonly preset: string
  /** Undefined: the preset's own. */
  readonly baseUrl: string | undefined
  /** What the operator permits. A preset whose own address is on this machine needs no permission. */
  readonly reach: ProviderReach
  readonly secret: string | undefined
  readonly hangUp?: HangUp | undefined
  readonly concurrentRequests?: number | undefined
}

export type OfferDraft = {
  readonly providerId: string
  readonly upstreamModel: string
  readonly priority: number
  readonly weight: number
  readonly contextTokens?: number | undefined
  readonly cost: UnitPrices
  readonly costTiers?: readonly PriceTier[] | undefined
}

export type ModelDraft = {
  readonly id: string
  readonly ownedBy: string | undefined
  /** The default is text. */
  readonly kind?: ModelKind | undefined
  readonly limits: Partial<ModelLimits>
  readonly price: UnitPrices
  readonly priceTiers?: readonly PriceTier[] | undefined
  readonly offers: readonly OfferDraft[]
}

/** One way to serve a model: a provider, its name for the model, and the cost there. */
export type Offer = {
  readonly id: string
  readonly modelId: string
  readonly providerId: string
  readonly upstreamModel: string
  /** The lowest is tried first. */
  readonly priority: number
  /** The share among offers of the same priority. */
  readonly weight: number
  /** The most tokens that it takes, input and output together. Undefined: as many as the model. */
  readonly contextTokens?: number | undefined
  readonly cost: PriceCard
  /** The state of its provider. */
  readonly state?: ProviderState
}

export type ModelLimits = {
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
}

/** What a model makes. */
export const modelKinds = ['text', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/** A public model: the id that clients send, its sale price, and the offers that can serve it. */
export type Model = {
  readonly id: string
  readonly ownedBy: string
  readonly createdAtMs: number
  readonly kind: ModelKind
  readonly limits: ModelLimits
  readonly origin: ModelOrigin
  readonly sale: PriceCard
  readonly offers: readonly Offer[]
  /** `first_account`: other accounts have it only if their allow-list names it. Undefined: every account has it. */
  readonly audience?: 'first_account' | undefined
}

/** Whether a model makes images only as part of a turn, in its vendor's own dialect. */
export const paintsInTurn = ({ kind, limits }: Pick<Model, 'kind' | 'limits'>): boolean =>
  kind === 'image' && limits.image.surface === 'turn'

export const defaultModelLimits: ModelLimits = {
  outputTokensMax: undefined,
  outputTokensDefault: undefined,
  outputTokensMin: 256,
  hidesReasoning: false,
  imageTokensMax: 3_000,
  firstEventTimeoutMs: undefined,
  dimensions: undefined,
  dimensionsAdjustable: false,
  image: openImageFacts,
  video: openVideoFacts,
  contextTokens: undefined,
  mediaInput: 'taken',
  pictureInput: 'taken',
}
