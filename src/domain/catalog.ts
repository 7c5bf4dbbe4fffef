import { openImageFacts, type ImageFacts } from './image.ts'
import type { PriceCard, PriceTier, UnitPrices } from './price.ts'
import { openVideoFacts, type VideoFacts } from './video.ts'

/** Where a thing was made: by `tollgate.yaml` or the environment (read-only elsewhere), or in the store. */
export type PriceOrigin = 'declared' | 'stored'

/** `environment`: brought by a vendor's key, at its list price and a mark-up. A stored model of that id comes first. */
export type ModelOrigin = PriceOrigin | 'environment'

/** What a hang-up does to a vendor's bill: it stops, or the answer is made and billed to its end. */
export type HangUp = 'stops_billing' | 'bills_on'

/** Which addresses a provider may be at. `private`: also this machine's and its networks', by the operator's word. */
export type ProviderReach = 'public' | 'private'

/** A vendor connection: base URL, credential, and the preset that says what it speaks. */
export type Provider = {
  readonly id: string
  /** The preset it was made from (`sandbox`, `custom`, or a vendor's). */
  readonly preset: string
  /** Absolute, without a trailing slash, up to and including the version part: `https://api.vendor.example/v1`. */
  readonly baseUrl: string
  readonly reach: ProviderReach
  readonly secret: string | undefined
  /** Undefined: as the preset says. */
  readonly hangUp: HangUp | undefined
  /** How many requests may be under way there at once. Undefined: as many as anywhere. */
  readonly concurrentRequests?: number | undefined
  readonly origin: PriceOrigin
  /** `drained`: gets no new requests, until the operator says otherwise. */
  readonly state?: ProviderState
}

export type ProviderState = 'serving' | 'drained'

export type ProviderDraft = {
  readonly id: string
  readonly preset: string
  /** Undefined: the preset's own. */
  readonly baseUrl: string | undefined
  /** What the operator allows. A preset whose own address is on this machine needs no word to be called there. */
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
  /** Left out: text. */
  readonly kind?: ModelKind | undefined
  readonly limits: Partial<ModelLimits>
  readonly price: UnitPrices
  readonly priceTiers?: readonly PriceTier[] | undefined
  readonly offers: readonly OfferDraft[]
}

/** One way to serve a model: a provider, the name it knows the model by, and what that costs us. */
export type Offer = {
  readonly id: string
  readonly modelId: string
  readonly providerId: string
  readonly upstreamModel: string
  /** Lower is tried first. */
  readonly priority: number
  /** Share among offers of the same priority. */
  readonly weight: number
  /** How many tokens it takes, input and output together. Undefined: as many as the model. */
  readonly contextTokens?: number | undefined
  readonly cost: PriceCard
  /** Its provider's. */
  readonly state?: ProviderState
}

export type ModelLimits = {
  /** Most tokens one answer may have. Undefined where it is not known. */
  readonly outputTokensMax: number | undefined
  /** The limit that the operator sets to answers for which the client sets none. Undefined: none is set. */
  readonly outputTokensDefault: number | undefined
  /** Below this many affordable output tokens a request without a limit is refused. */
  readonly outputTokensMin: number
  /** Whether the model bills reasoning that it does not send: what an answer costs is not known before its end. */
  readonly hidesReasoning: boolean
  /** Upper bound of the tokens one image part counts as. */
  readonly imageTokensMax: number
  /** Silence allowed before the first event; undefined: what is usual for such a model, see first-token-timeout.ts. */
  readonly firstEventTimeoutMs: number | undefined
  /** Of an embedding model: the length of its vectors, and whether a request may ask for shorter ones. */
  readonly dimensions: number | undefined
  readonly dimensionsAdjustable: boolean
  /** Of an image model: what may be asked of it. */
  readonly image: ImageFacts
  /** Of a video model: the same. */
  readonly video: VideoFacts
  /** What the vendor states as the longest input and output together. It bounds holds; the vendor enforces it. */
  readonly contextTokens: number | undefined
  /** `refused`: audio costs more than the model's price for input says, so none is taken, and no files with it. */
  readonly mediaInput: 'taken' | 'refused'
  /** Of a text model: whether it looks at pictures. No price list says so; the operator may. */
  readonly pictureInput: 'taken' | 'refused'
}

/** What a model makes. */
export const modelKinds = ['text', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/** A public model: the id clients send, its sale price, and the offers that can serve it. */
export type Model = {
  readonly id: string
  readonly ownedBy: string
  readonly createdAtMs: number
  readonly kind: ModelKind
  readonly limits: ModelLimits
  readonly origin: ModelOrigin
  readonly sale: PriceCard
  readonly offers: readonly Offer[]
  /** `first_account`: others have it only where their allow-list names it. Undefined: everybody's. */
  readonly audience?: 'first_account' | undefined
}

/** Whether a model makes images as part of a turn, in its vendor's own dialect, and nowhere else. */
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
