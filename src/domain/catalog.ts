import type { Egress, ProxyAddress } from './egress.ts'
import type { ModelRates } from './limits.ts'
import type { ModelLimits } from './model-limits.ts'
import type { PriceCard, PriceTier, UnitPrices } from './price.ts'

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

/** One of several keys of a provider. */
export type ProviderKey = {
  readonly secret: string
  /** The most concurrent requests with it. Undefined: it has no limit of its own. */
  readonly concurrentRequests?: number | undefined
}

/** What a connection may have beside an address and a key. Everything may be left out. */
export type ProviderOptions = {
  /** Keys that are used in turn, at least one. The first is the secret of the provider. */
  readonly keys?: readonly ProviderKey[] | undefined
  /** Left out: as the environment says. */
  readonly proxy?: ProxyAddress | 'direct' | undefined
  /** Headers and parameters of every request to it. Names of headers are lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Certificate authorities in PEM that are trusted beside the system's. */
  readonly ca?: string | undefined
}

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
  readonly options?: ProviderOptions | undefined
  /** How requests leave for it. Undefined: as the environment says. */
  readonly egress?: Egress | undefined
  /** Everything that only this provider may learn, if that is more than its secret. */
  readonly secrets?: readonly string[] | undefined
  /** The same provider with each of its keys, if it has several. */
  readonly keys?: readonly KeyedProvider[] | undefined
  /** The key that `secret` is, if it is one of several. */
  readonly key?: KeyFacts | undefined
  readonly origin: PriceOrigin
  /** `drained`: gets no new requests until the operator changes it. */
  readonly state?: ProviderState
}

/** What only this provider may learn. Nothing of it may be kept or passed on. */
export const secretsOf = ({ secrets, secret }: Pick<Provider, 'secret' | 'secrets'>): KeptSecrets => secrets ?? secret
/** One secret or several. */
export type KeptSecrets = string | readonly string[] | undefined

export type ProviderState = 'serving' | 'drained'

/** What may be said of a key. The id is a fingerprint that only this installation can make. */
export type KeyFacts = { readonly id: string; readonly concurrentRequests: number | undefined }
export type KeyedProvider = Provider & { readonly key: KeyFacts; readonly secret: string }

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
  readonly options?: ProviderOptions | undefined
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

/** How the work of a kind is sold. `src/modalities/` answers everything else about a kind. */
export type KindSale = {
  /**
   * `tokens`: a price card states each of `tokenPrices`. `pieces`: it states pieces. `either`: it states pieces or one
   * of `tokenPrices`. An operation accepts a price of zero only for work that is sold by tokens.
   */
  readonly soldBy: 'tokens' | 'pieces' | 'either'
  readonly tokenPrices: readonly ('input' | 'output')[]
  /** The tokens that a usage of this kind can count. */
  readonly counts: readonly ('input' | 'output' | 'image')[]
}

/** What a model makes. */
const kinds = {
  text: { soldBy: 'tokens', tokenPrices: ['input', 'output'], counts: ['input', 'output'] },
  embedding: { soldBy: 'tokens', tokenPrices: ['input'], counts: ['input'] },
  image: { soldBy: 'either', tokenPrices: ['input'], counts: ['input', 'output', 'image'] },
  video: { soldBy: 'either', tokenPrices: ['input', 'output'], counts: ['input', 'output'] },
} as const satisfies Readonly<Record<string, KindSale>>

export type ModelKind = keyof typeof kinds
export const modelKinds = Object.keys(kinds) as readonly ModelKind[]

export const saleOfKind = (kind: ModelKind): KindSale => kinds[kind]

/** Another name for a model, which clients may send instead of its id. It never names another alias. */
export type Alias = { readonly id: string; readonly modelId: string; readonly origin: PriceOrigin }

export type AliasDraft = Pick<Alias, 'id' | 'modelId'>

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
  /** The aliases that stand for it. Undefined: there are none. */
  readonly aliases?: readonly string[] | undefined
  /** The rates in `limits`. Undefined: there are none, so a request need not look at each. */
  readonly rates?: ModelRates | undefined
}

/** Whether a model makes images only as part of a turn, in its vendor's own dialect. */
export const paintsInTurn = ({ kind, limits }: Pick<Model, 'kind' | 'limits'>): boolean =>
  kind === 'image' && limits.image.surface === 'turn'
