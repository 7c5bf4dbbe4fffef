/** The types of the admin API. Do not edit: change the shapes in src/console/, then `npm run api-types`. */

export type Account = {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  /** declared: its models and limits are set in tollgate.yaml and are read-only here */
  readonly origin: Origin
  /** the models it may use; null: all */
  readonly models: readonly string[] | null
  readonly limits: Limits
  /** the console warns below this available balance; null: never */
  readonly low_balance_nano_usd: string | null
  readonly balance: Balance
  readonly active_keys: number
  readonly created_at: string
}

export type AccountPrice = {
  /** null: every model without a price of its own in this account */
  readonly model: string | null
  readonly basis: 'factor' | 'card'
  /** of the price of the model */
  readonly factor: string | null
  readonly effective_from: string
  /** false: there is no model that it fits */
  readonly in_force: boolean
  /** what it comes to; null: for all models, or not in force */
  readonly price: PriceCard | null
}

export type Alias = {
  readonly id: string
  /** the id of the model that it stands for */
  readonly model: string
  readonly origin: Origin
  /** false: there is no such model, or a model has the name of the alias */
  readonly in_use: boolean
}

export type ApiKey = {
  readonly id: string
  readonly name: string
  /** the end of the key; the rest is masked */
  readonly key: string
  readonly status: 'active' | 'revoked'
  /** the models of the account that it may use; null: all */
  readonly models: readonly string[] | null
  readonly limits: Limits
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly spent_today_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly spent_this_month_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly held_nano_usd: string
  /** to the hour, within the last 30 days */
  readonly last_used_at: string | null
  readonly created_at: string
  readonly revoked_at: string | null
}

export type Attempt = {
  /** ok; aborted: the request ended; outrun: another was faster; full: no free permit; or the kind of failure */
  readonly result: string
  readonly status: number | null
  readonly code: string | null
  /** from the start of the request */
  readonly started_ms: number
  readonly took_ms: number
  /** the model, if the request named several */
  readonly model?: string
  /** for operators only, as are the next fields */
  readonly provider?: string
  readonly upstream_model?: string
  /** the vendor’s word for the kind of error */
  readonly type?: string | null
  /** the vendor’s message, bounded and without words of the request, or the gateway’s own */
  readonly message?: string | null
  /** the vendor’s id of the request */
  readonly upstream_request_id?: string | null
  /** the key of the provider, if it has several */
  readonly provider_key?: string
}

export type AuditEntry = {
  readonly id: string
  readonly at: string
  readonly actor: {
    readonly kind: 'command' | 'user' | 'management_key' | 'nobody'
    readonly id: string | null
    readonly name: string | null
    readonly address: string | null
  }
  readonly request: string | null
  readonly action: string
  readonly subject: string | null
  /** without secrets */
  readonly input: unknown
  readonly before: unknown
  readonly after: unknown
  /** done, or the code of the refusal; null: running or interrupted */
  readonly outcome: string | null
}

export type Balance = {
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly available_nano_usd: string
  /** reserved for running requests, as an integer of nano-USD */
  readonly held_nano_usd: string
  /** available and held together, in nano-USD */
  readonly posted_nano_usd: string
}

export type Code = {
  readonly id: string
  readonly batch: string
  /** the end of the code; the rest is masked */
  readonly code: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly amount_nano_usd: string
  readonly note: string
  readonly state: 'open' | 'redeemed' | 'voided' | 'expired'
  readonly created_at: string
  readonly expires_at: string | null
  readonly redeemed_at: string | null
  /** id of the account */
  readonly redeemed_by: string | null
}

export type Effects = {
  /** running requests that would be cut */
  readonly requests: number
  /** API keys that would stop working */
  readonly keys: number
  /** management keys that would stop working */
  readonly management_keys: number
  /** sign-ins that would end */
  readonly sessions: number
  /** offers of models that other providers also serve */
  readonly offers: number
  readonly models: {
    /** models that would have no offer */
    readonly total: number
    /** the first 20 of them */
    readonly ids: readonly string[]
  }
}

export type Error = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
    /** identifies the sentence of the message, more exactly than the code */
    readonly reason: string
    /** the values in the message */
    readonly facts: Readonly<Record<string, string | number>>
  }
}

export type Explanation = {
  readonly model: string
  /** the routing policy */
  readonly policy: string
  readonly admitted: boolean
  readonly reason: string
  /** the reasons as data; empty: admitted */
  readonly lacking: readonly (
    | 'account_suspended'
    | 'key_revoked'
    | 'account_model'
    | 'key_model'
    | 'balance'
    | 'offer'
  )[]
  readonly steps: readonly {
    readonly provider: string
    readonly model: string
    readonly verdict: 'first' | 'next' | 'last_resort' | 'skipped'
    /** the share of requests that would try it first */
    readonly share_percent: number
    /** what the policy compares, lowest first: ms for latency, nano-USD for cost, a factor for balanced */
    readonly score: number | null
    /** the usual time to the first event, or to a whole reply */
    readonly first_event_ms: number | null
    /** the usual speed of a stream */
    readonly tokens_per_second: number | null
    /** the recent share of failed attempts */
    readonly failed_percent: number
    /** what the request would cost there without a warm prompt cache */
    readonly cost_nano_usd: string
    /** in English */
    readonly reason: string
  }[]
}

export type Health = {
  /** from the last verification since the start; null: none yet */
  readonly ledger: Verification | null
  readonly open_holds: number
  readonly oldest_hold_at: string | null
  readonly last_day: {
    readonly requests: number
    readonly failed: number
    readonly cut: number
    readonly estimated: number
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly charged_nano_usd: string
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly written_off_nano_usd: string
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly upstream_cost_nano_usd: string
  }
  readonly process: Readonly<Record<string, unknown>>
}

export type ImageFacts = {
  /** turn: images in a conversation; images, or left out: the image endpoints */
  readonly surface?: 'images' | 'turn'
  readonly sizes: readonly string[]
  /** the bounds of sizes that are not listed */
  readonly freeSizes?: {
    readonly multipleOf: number
    readonly ratioMax: number
    readonly pixelsMax: number
  }
  readonly sizeDefault: string
  readonly qualities: readonly string[]
  readonly qualityDefault: string
  readonly formats: readonly ('png' | 'jpeg' | 'webp')[]
  readonly backgrounds: readonly string[]
  readonly moderations: readonly string[]
  readonly styles: readonly string[]
  readonly countMax: number
  /** it returns one image, whatever the requested number */
  readonly isSingle: boolean
  readonly deliveries: readonly ('url' | 'b64_json')[]
  readonly promptCharsMax: number
  readonly streams: boolean
  readonly partialsMax: number
  /** the most input images of an edit; 0: no edits */
  readonly inputsMax: number
  /** tokens of one image, by quality */
  readonly tokens: Readonly<Record<string, number>>
}

export type InvitedUser = {
  readonly id: string
  readonly name: string
  readonly role: 'operator' | 'owner' | 'member'
  readonly account: string | null
  readonly account_name: string | null
  /** invited: no password has been chosen yet */
  readonly status: 'invited' | 'active' | 'disabled'
  readonly created_at: string
  /** one-time link, below the public address; shown only once */
  readonly setup_path: string
}

export type LedgerLine = {
  /** of the booking; for charges, the end of their day (UTC) or the next booking in it */
  readonly time: string
  readonly kind: 'credit' | 'debit' | 'refund' | 'charges'
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly amount_nano_usd: string
  /** after it, in nano-USD */
  readonly balance_nano_usd: string
  readonly ref: string | null
  readonly reason: string | null
  /** of the day’s charges; null if a booking divides them */
  readonly requests: number | null
  /** the reason as data; null: a person typed it */
  readonly own: {
    readonly code: string
    readonly facts: Readonly<Record<string, string | number>>
  } | null
}

export type Limits = {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
  readonly spend_per_day_nano_usd: string | null
  readonly spend_per_month_nano_usd: string | null
  /** further limits of single models, by id or alias */
  readonly models: Readonly<
    Record<
      string,
      {
        readonly requests_per_minute: number | null
        readonly tokens_per_minute: number | null
        readonly concurrent_requests: number | null
      }
    >
  >
}

export type Loss = {
  /** a unit of prices, or a kind of piece */
  readonly unit: string
  readonly above_input_tokens: number | null
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly sale: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cost: string
}

export type LowBalance = {
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly threshold_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly available_nano_usd: string
  /** at the pace of the last seven days; null: nothing was spent */
  readonly days_left: number | null
}

export type ManagementKey = {
  readonly id: string
  /** null: it has the rights of an operator */
  readonly account: string | null
  readonly name: string
  /** the end of the key; the rest is masked */
  readonly key: string
  /** suspended: its creator is disabled or has lost the role for it */
  readonly status: 'active' | 'suspended' | 'revoked'
  /** null: a command created it */
  readonly created_by: {
    readonly id: string
    readonly name: string
  } | null
  readonly created_at: string
  readonly revoked_at: string | null
}

export type Margin = {
  /** the margin of the sale price; null: it is sold for nothing */
  readonly input_percent: number | null
  /** the least margin of the output units; also null if the cost has units that the sale price lacks */
  readonly output_percent: number | null
  /** the mark-up on the cost; null: it costs nothing, or is sold for nothing */
  readonly input_markup_percent: number | null
  /** the same for output, of the unit of `output_percent` */
  readonly output_markup_percent: number | null
}

export type Me = {
  readonly user: {
    readonly id: string
    readonly name: string
    readonly role: 'operator' | 'owner' | 'member'
  }
  /** the account whose pages are shown: the person’s own, or the one that an operator views; null for an operator */
  readonly account: {
    readonly id: string
    readonly name: string
    readonly low_balance: LowBalance | null
  } | null
  /** an operator views this account as a member, and can change nothing */
  readonly view_as: boolean
  readonly session: {
    readonly id: string
    readonly created_at: string
  }
  readonly version: string
  readonly public_url: string | null
}

export type Model = {
  readonly id: string
  /** other names that clients may send */
  readonly aliases: readonly string[]
  readonly kind: 'text' | 'embedding' | 'image' | 'video'
  readonly owned_by: string
  readonly context_tokens: number | null
  readonly output_tokens_max: number | null
  readonly dimensions: number | null
  readonly dimensions_adjustable: boolean
  readonly takes_media: boolean
  readonly takes_pictures: boolean
  /** capabilities of an image model */
  readonly image: ImageFacts | null
  /** capabilities of a video model */
  readonly video: VideoFacts | null
  readonly price: PriceCard
  readonly created_at: string
  /** whether a provider offers it at the moment */
  readonly available: boolean
  readonly price_basis: PriceBasis
  /** the factor of the account */
  readonly price_factor: string | null
}

export type ModelDetail = {
  readonly id: string
  /** other names that clients may send */
  readonly aliases: readonly string[]
  readonly kind: 'text' | 'embedding' | 'image' | 'video'
  readonly owned_by: string
  readonly context_tokens: number | null
  readonly output_tokens_max: number | null
  readonly dimensions: number | null
  readonly dimensions_adjustable: boolean
  readonly takes_media: boolean
  readonly takes_pictures: boolean
  /** capabilities of an image model */
  readonly image: ImageFacts | null
  /** capabilities of a video model */
  readonly video: VideoFacts | null
  readonly price: PriceCard
  readonly created_at: string
  /** whether a provider offers it at the moment */
  readonly available: boolean
  readonly price_basis: PriceBasis
  /** the factor of the account */
  readonly price_factor: string | null
  readonly price_history: readonly PriceCard[]
}

export type ModelPayer = {
  readonly account: {
    readonly id: string
    readonly name: string
  }
  readonly basis: 'factor' | 'card'
  readonly factor: string | null
  readonly price: PriceCard
  readonly offers: readonly {
    readonly provider: string
    readonly model: string
    readonly margin: Margin
    readonly below_cost: readonly Loss[]
  }[]
}

export type NewApiKey = {
  readonly id: string
  readonly name: string
  /** the end of the key; the rest is masked */
  readonly key: string
  readonly status: 'active' | 'revoked'
  /** the models of the account that it may use; null: all */
  readonly models: readonly string[] | null
  readonly limits: Limits
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly spent_today_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly spent_this_month_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly held_nano_usd: string
  /** to the hour, within the last 30 days */
  readonly last_used_at: string | null
  readonly created_at: string
  readonly revoked_at: string | null
  /** the full key, shown only once */
  readonly secret: string
}

export type NewManagementKey = {
  readonly id: string
  /** null: it has the rights of an operator */
  readonly account: string | null
  readonly name: string
  /** the end of the key; the rest is masked */
  readonly key: string
  /** suspended: its creator is disabled or has lost the role for it */
  readonly status: 'active' | 'suspended' | 'revoked'
  /** null: a command created it */
  readonly created_by: {
    readonly id: string
    readonly name: string
  } | null
  readonly created_at: string
  readonly revoked_at: string | null
  /** shown only once */
  readonly secret: string
}

export type Offer = {
  readonly provider: string
  readonly model: string
  readonly priority: number
  readonly weight: number
  /** the most tokens that it takes; null: the limit of the model */
  readonly context_tokens: number | null
  readonly state: 'ready' | 'resting' | 'drained'
  readonly resting_until: string | null
  readonly cost: PriceCard
  readonly margin: Margin
  /** the units that are sold for less than this offer costs */
  readonly below_cost: readonly Loss[]
}

export type Origin = 'declared' | 'stored' | 'environment'

export type Overview = {
  readonly balance: Balance
  /** in the range, in nano-USD */
  readonly spent_nano_usd: string
  /** at the pace of the range; null: nothing was spent */
  readonly days_left: number | null
  /** the console warns the account below this balance; null: never */
  readonly low_balance_nano_usd: string | null
  readonly step: 'hour' | 'day'
  readonly total: UsageSums
  /** hours or days without requests are left out */
  readonly series: readonly {
    readonly requests: number
    /** ended before any output, free of charge */
    readonly failed: number
    /** cut in the middle by the upstream or a limit */
    readonly cut: number
    /** the gateway counted the usage, because the upstream reported none */
    readonly estimated: number
    readonly input_fresh_tokens: number
    readonly input_cached_tokens: number
    readonly cache_write_tokens: number
    readonly output_text_tokens: number
    readonly output_reasoning_tokens: number
    readonly input_image_tokens: number
    readonly output_image_tokens: number
    readonly images: number
    readonly video_seconds: number
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly charged_nano_usd: string
    readonly first_event_p50_ms: number | null
    readonly first_event_p95_ms: number | null
    /** operators only */
    readonly upstream_cost_nano_usd?: string
    readonly time: string
  }[]
  readonly last_failures: readonly RequestRow[]
  readonly first_steps: {
    readonly has_key: boolean
    readonly has_called: boolean
    readonly has_succeeded: boolean
  }
  readonly open_holds: number
}

export type PaidPrice = {
  /** null: every model without a price of its own */
  readonly model: string | null
  readonly basis: 'factor' | 'card'
  readonly factor: string | null
  readonly from: string
  /** null: it is in force */
  readonly until: string | null
}

export type Preset = {
  readonly id: string
  readonly label: string
  readonly base_url: string | null
  readonly key_variable: string | null
}

/** model: the price of the model; factor: that price at the factor of the account; card: its own price */
export type PriceBasis = 'model' | 'factor' | 'card'

export type PriceCard = {
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cached_input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cache_write: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cache_write_1h: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly output: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly reasoning: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly image_input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly image_output: string
  /** for one piece, such as image/1024x1024 */
  readonly each: Readonly<Record<string, string>>
  readonly card: number
  readonly effective_from: string
  /** the prices of requests with more input tokens */
  readonly tiers: readonly PriceTier[]
}

export type PriceDifference = {
  readonly what: string
  /** the subject as data */
  readonly about: {
    readonly kind: 'origin' | 'sale' | 'cost' | 'limit'
    /** name of a price unit or of a limit */
    readonly name: string
    /** the offer of a cost: provider/model */
    readonly offer: string | null
    readonly above_input_tokens: number | null
  }
  readonly before: string | null
  readonly after: string
}

export type PriceImport = {
  readonly source: unknown
  readonly markup: string
  readonly changes: readonly {
    readonly model: string
    readonly kind: 'new' | 'changed'
    readonly differences: readonly PriceDifference[]
  }[]
  readonly unchanged: number
  readonly skipped: readonly {
    readonly what: string
    readonly reason: string
    /** identifies the reason */
    readonly code: string
    /** the values in the reason */
    readonly facts: Readonly<Record<string, string | number>>
  }[]
  readonly changing: readonly {
    readonly model: string
    readonly on: string
  }[]
  /** models whose changes are not within the bound */
  readonly held: readonly string[]
  /** cards of accounts that stay, and factors that would sell below cost */
  readonly account_prices: readonly {
    readonly model: string
    readonly kind: 'factor' | 'card'
    readonly factor: string | null
    /** the names of the first few */
    readonly accounts: readonly string[]
    readonly accounts_total: number
    readonly below_cost: readonly {
      readonly offer: string
      readonly unit: string
      readonly above_input_tokens: number | null
      readonly sale_usd: string
      readonly cost_usd: string
    }[]
  }[]
  readonly fingerprint: string
  readonly applied: boolean
}

export type PriceLine = {
  /** a bucket of tokens, or a piece such as piece:image/1024x1024 */
  readonly unit: string
  readonly count: number
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly nano_usd_per_million: string
  /** exact, with up to six decimals: the sum is rounded, not the lines */
  readonly amount_nano_usd: string
}

export type PriceLines = {
  readonly lines: readonly PriceLine[]
  /** the amount that the one rounding adds */
  readonly rounding_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly total_nano_usd: string
  /** the day of the price card */
  readonly prices_from: string
}

export type PriceTier = {
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cached_input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cache_write: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly cache_write_1h: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly output: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly reasoning: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly image_input: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly image_output: string
  /** for one piece, such as image/1024x1024 */
  readonly each: Readonly<Record<string, string>>
  readonly above_input_tokens: number
}

export type Provider = {
  readonly id: string
  readonly preset: string
  readonly base_url: string
  readonly allow_private: boolean
  /** the most requests in flight; null: the usual limit */
  readonly concurrent_requests: number | null
  /** the key itself is never shown */
  readonly has_key: boolean
  /** of a provider that has several */
  readonly keys: readonly {
    /** a fingerprint */
    readonly id: string
    readonly concurrent_requests: number | null
    readonly in_flight: number
    readonly rests_until: string | null
    readonly reason: string | null
  }[]
  /** without its password; direct; null: as the environment says */
  readonly proxy: string | null
  /** names of headers of every request; values are never shown */
  readonly headers: readonly string[]
  /** names of parameters of every request */
  readonly query: readonly string[]
  /** whether it has certificate authorities of its own */
  readonly has_ca: boolean
  readonly origin: Origin
  readonly state: 'serving' | 'drained'
  readonly offers: number
  /** offers that rest after failures */
  readonly resting_offers: number
  /** since the start of this process and the last change of the connection; null: none */
  readonly last_test: {
    readonly ok: boolean
    readonly status: number | null
    readonly problem: string | null
    readonly at: string
  } | null
  readonly since_start: {
    readonly succeeded: number
    readonly failed: number
    readonly last_failure: {
      readonly result: string
      readonly status: number | null
      readonly message: string
      readonly at: string
    } | null
  }
}

export type ProviderTest = {
  readonly id: string
  readonly ok: boolean
  readonly status: number | null
  readonly took_ms: number
  readonly models: readonly string[]
  readonly problem: string | null
}

export type PublicModel = {
  readonly id: string
  /** other names that clients may send */
  readonly aliases: readonly string[]
  readonly kind: 'text' | 'embedding' | 'image' | 'video'
  readonly context_tokens: number | null
  readonly output_tokens_max: number | null
  readonly dimensions: number | null
  readonly dimensions_adjustable: boolean
  readonly takes_media: boolean
  readonly takes_pictures: boolean
  /** capabilities of an image model */
  readonly image: ImageFacts | null
  /** capabilities of a video model */
  readonly video: VideoFacts | null
  readonly price: PriceCard
  /** whether a provider offers it at the moment */
  readonly available: boolean
}

export type RefusedRequest = {
  readonly id: string
  readonly created_at: string
  /** id of the key, also if it is revoked */
  readonly key: string | null
  readonly method: string
  /** the name of the endpoint, or the path if it does not generate */
  readonly endpoint: string
  /** as requested, if it was read and can be a name */
  readonly model: string | null
  readonly status: number
  /** the code that the client received */
  readonly code: string
  /** the number of similar refusals within the minute that have no row of their own */
  readonly repeats: number
  readonly last_at: string
}

export type RequestDetail = {
  readonly id: string
  readonly created_at: string
  readonly endpoint: string
  readonly model: string
  readonly key: {
    readonly id: string
    readonly name: string
  }
  readonly stream: boolean
  readonly status: number
  readonly outcome: 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'
  readonly error_code: string | null
  readonly input_tokens: number
  /** the part of the input that came from the vendor’s cache */
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly usage_source: 'reported' | 'estimated' | null
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly held_nano_usd: string
  readonly first_event_ms: number | null
  readonly total_ms: number
  readonly attempts: number
  /** operators only */
  readonly provider?: string | null
  readonly attempts_made: readonly Attempt[]
  /** before the first attempt, each attempt, and the answer after its first event */
  readonly phases: readonly {
    readonly phase: 'before' | 'attempt' | 'answer'
    readonly started_ms: number
    readonly took_ms: number
  }[]
  readonly usage: Readonly<Record<string, number>>
  readonly pieces: readonly {
    readonly unit: string
    readonly count: number
  }[]
  /** tokens of an output limit that the client did not set */
  readonly output_cap: number | null
  /** the reason: the operator, the vendor that demands one, the balance, or the model */
  readonly output_cap_reason: 'operator' | 'vendor' | 'balance' | 'model_maximum' | null
  /** null: nothing was charged */
  readonly price: PriceLines | null
  readonly price_basis: PriceBasis
  /** the factor of the account, by which it was charged */
  readonly price_factor: string | null
  /** the part of the price that the balance did not cover, in nano-USD */
  readonly written_off_nano_usd: string
  /** the part of the hold that was released, in nano-USD */
  readonly released_nano_usd: string
  /** operators only */
  readonly upstream_cost?: PriceLines | null
}

export type RequestRow = {
  readonly id: string
  readonly created_at: string
  readonly endpoint: string
  readonly model: string
  readonly key: {
    readonly id: string
    readonly name: string
  }
  readonly stream: boolean
  readonly status: number
  readonly outcome: 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'
  readonly error_code: string | null
  readonly input_tokens: number
  /** the part of the input that came from the vendor’s cache */
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly usage_source: 'reported' | 'estimated' | null
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly held_nano_usd: string
  readonly first_event_ms: number | null
  readonly total_ms: number
  readonly attempts: number
  /** operators only */
  readonly provider?: string | null
}

export type RoutedModel = {
  readonly id: string
  /** other names that clients may send */
  readonly aliases: readonly string[]
  readonly kind: 'text' | 'embedding' | 'image' | 'video'
  readonly owned_by: string
  readonly context_tokens: number | null
  readonly output_tokens_max: number | null
  readonly dimensions: number | null
  readonly dimensions_adjustable: boolean
  readonly takes_media: boolean
  readonly takes_pictures: boolean
  /** capabilities of an image model */
  readonly image: ImageFacts | null
  /** capabilities of a video model */
  readonly video: VideoFacts | null
  readonly price: PriceCard
  readonly created_at: string
  /** the output limit of requests that set none; null: no limit */
  readonly output_tokens_default: number | null
  /** a request that sets no limit is refused if the balance covers less output than this */
  readonly output_tokens_min: number
  /** the most tokens that an image in a request counts as */
  readonly image_tokens_max: number
  /** 300 s for models that reason silently, unless it is set */
  readonly first_event_timeout_ms: number
  /** requests a minute of all accounts together; null: no limit */
  readonly requests_per_minute: number | null
  /** tokens a minute of all accounts, input and output together; null: no limit */
  readonly tokens_per_minute: number | null
  /** requests of all accounts in flight at once; null: no limit */
  readonly concurrent_requests: number | null
  /** for how long the same request of an account may get the same answer again; null: never */
  readonly answer_cache_seconds: number | null
  /** whether a second offer is asked when the first is slower than 95 % of the answers of the model */
  readonly hedging: 'off' | 'on'
  /** the policy that ranks the offers of one priority */
  readonly routing: 'weighted' | 'latency' | 'cost' | 'balanced'
  /** what keeps a conversation at one offer: its name, or also the words it begins with */
  readonly sticky: 'off' | 'named' | 'opening'
  readonly origin: Origin
  /** images without a price; requests for them are refused */
  readonly unpriced: readonly string[]
  readonly offers: readonly Offer[]
}

export type SavedView = {
  readonly id: string
  readonly name: string
  /** the search part of the address of the page, without its question mark */
  readonly query: string
  readonly created_at: string
}

export type SecretHolder = {
  /** unknown: not a secret of this gateway, or not visible to the sender */
  readonly kind: 'key' | 'management_key' | 'code' | 'link' | 'unknown'
  readonly id: string | null
  /** name of the key, or note of the code */
  readonly name: string | null
  readonly status: string | null
  /** id of the account it belongs to */
  readonly account: string | null
  readonly account_name: string | null
}

export type Session = {
  readonly id: string
  readonly address: string
  readonly agent: string
  readonly created_at: string
  readonly seen_at: string
  readonly current: boolean
}

export type Statement = {
  readonly month: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly opening_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly credits_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly debits_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charges_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly closing_nano_usd: string
  /** newest first */
  readonly data: readonly LedgerLine[]
  /** prices of the account that were in force in this month, oldest first */
  readonly prices: readonly PaidPrice[]
  /** the month before; null: the account did not exist then */
  readonly next_cursor: string | null
}

export type Task = {
  readonly id: string
  /** id of the request that created it */
  readonly request: string
  readonly kind: 'image' | 'video'
  readonly model: string
  readonly endpoint: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  /** the stage of a video */
  readonly stage: 'submitting' | 'queued' | 'running' | 'upscaling' | 'storing' | 'completed' | 'failed' | null
  /** null: not known */
  readonly progress: number | null
  readonly error_code: string | null
  /** for a video: the failure behind error_code, as data */
  readonly failure: string | null
  /** the number of images or videos that it produced */
  readonly outputs: number
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly held_nano_usd: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
  /** the charges, line by line */
  readonly charges: readonly TaskCharge[]
  /** the requested options of a video; prompts and pictures are not kept */
  readonly wish: TaskWish | null
  readonly created_at: string
  readonly elapsed_ms: number
  /** the expiry of its file; null: there is no file */
  readonly expires_at: string | null
}

export type TaskCharge = {
  readonly request: string
  /** videos, and videos.upscale for its super-resolution */
  readonly endpoint: string
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
}

export type TaskWish = {
  readonly resolution: string
  readonly ratio: string | null
  /** -1: the model chooses */
  readonly seconds: number
  readonly audio: boolean
  readonly seed: number
  readonly upscale: {
    readonly resolution: string | null
    /** the shorter edge, in pixels */
    readonly limit: number | null
    readonly scene: string | null
    readonly version: string
    readonly fps: number | null
  } | null
}

export type Usage = {
  readonly from: string
  readonly to: string
  readonly step: 'hour' | 'day'
  readonly by: 'key' | 'model' | 'endpoint' | 'account' | null
  readonly total: UsageSums
  /** requests that were refused before any money was held, most frequent first; they do not count as `requests` */
  readonly refused: readonly {
    readonly status: number
    readonly code: string
    readonly requests: number
  }[]
  readonly data: readonly UsageRow[]
}

export type UsageRow = {
  readonly requests: number
  /** ended before any output, free of charge */
  readonly failed: number
  /** cut in the middle by the upstream or a limit */
  readonly cut: number
  /** the gateway counted the usage, because the upstream reported none */
  readonly estimated: number
  readonly input_fresh_tokens: number
  readonly input_cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_text_tokens: number
  readonly output_reasoning_tokens: number
  readonly input_image_tokens: number
  readonly output_image_tokens: number
  readonly images: number
  readonly video_seconds: number
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
  readonly first_event_p50_ms: number | null
  readonly first_event_p95_ms: number | null
  /** operators only */
  readonly upstream_cost_nano_usd?: string
  readonly time: string
  /** of a day, in the time zone, such as `2026-11-25` */
  readonly date: string | null
  /** the id of the key or account, or the name of the model or endpoint */
  readonly group: string | null
  /** the name for people */
  readonly name: string | null
}

export type UsageSums = {
  readonly requests: number
  /** ended before any output, free of charge */
  readonly failed: number
  /** cut in the middle by the upstream or a limit */
  readonly cut: number
  /** the gateway counted the usage, because the upstream reported none */
  readonly estimated: number
  readonly input_fresh_tokens: number
  readonly input_cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_text_tokens: number
  readonly output_reasoning_tokens: number
  readonly input_image_tokens: number
  readonly output_image_tokens: number
  readonly images: number
  readonly video_seconds: number
  /** nano-USD (1e-9 dollars), an integer as text */
  readonly charged_nano_usd: string
  readonly first_event_p50_ms: number | null
  readonly first_event_p95_ms: number | null
  /** operators only */
  readonly upstream_cost_nano_usd?: string
}

export type User = {
  readonly id: string
  readonly name: string
  readonly role: 'operator' | 'owner' | 'member'
  readonly account: string | null
  readonly account_name: string | null
  /** invited: no password has been chosen yet */
  readonly status: 'invited' | 'active' | 'disabled'
  readonly created_at: string
}

export type Verification = {
  readonly at: string
  readonly took_ms: number
  readonly clean: boolean
  readonly findings: readonly {
    readonly invariant: string
    readonly subject: string
    readonly detail: string
    /** identifies the invariant and the detail */
    readonly code: string
    /** the values in the detail */
    readonly facts: Readonly<Record<string, string | number>>
  }[]
}

export type VideoFacts = {
  readonly resolutions: readonly ('480p' | '720p' | '1080p')[]
  readonly resolutionDefault: '480p' | '720p' | '1080p'
  readonly ratios: readonly ('16:9' | '4:3' | '1:1' | '3:4' | '9:16' | '21:9' | 'adaptive')[]
  /** whole seconds, in rising order */
  readonly durations: readonly number[]
  readonly durationDefault: number
  readonly choosesDuration: boolean
  readonly audio: 'never' | 'optional' | 'always'
  readonly audioDefault: boolean
  readonly frames: 'none' | 'first' | 'first_last'
  readonly referenceImagesMax: number
  readonly referenceVideosMax: number
  readonly referenceAudiosMax: number
  readonly mixesFramesWithReferences: boolean
  readonly takesAudioAlone: boolean
  readonly webSearch: boolean
  readonly watermark: boolean
  readonly seed: boolean
  readonly promptCharsMax: number
  readonly fps: number
  readonly inputVideoSecondsMax: number
  /** a task fails after this time without an end */
  readonly deadlineMs: number
  /** whether its videos can be upscaled */
  readonly upscales: boolean
  /** the provider that upscales, for operators */
  readonly upscaler?: string
}

/** By route: the answer, or the type of each event. */
export type Answers = {
  readonly 'POST /session': Me
  readonly 'GET /session': Me
  readonly 'DELETE /session': {
    readonly ended: number
  }
  readonly 'POST /links/check': {
    /** null: the link is for the first operator, who chooses a name */
    readonly name: string | null
    readonly password_chars_min: number
  }
  readonly 'POST /links/redeem': Me
  readonly 'POST /session/password': Me
  readonly 'POST /session/view-as': Me
  readonly 'DELETE /session/view-as': Me
  readonly 'GET /sessions': {
    /** all items; this list has no pages */
    readonly data: readonly Session[]
  }
  readonly 'DELETE /sessions': {
    readonly ended: number
  }
  readonly 'DELETE /sessions/{session}': {
    readonly ended: number
  }
  readonly 'GET /accounts/{account}/overview': Overview
  readonly 'GET /accounts/{account}/usage': Usage
  readonly 'GET /usage': Usage
  readonly 'GET /accounts/{account}/keys': {
    readonly data: readonly ApiKey[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /accounts/{account}/keys': NewApiKey
  readonly 'GET /accounts/{account}/keys/{key}': ApiKey
  readonly 'PATCH /accounts/{account}/keys/{key}': ApiKey
  readonly 'DELETE /accounts/{account}/keys/{key}': ApiKey
  readonly 'POST /accounts/{account}/playground-token': {
    readonly token: string
    readonly expires_at: string
  }
  readonly 'GET /accounts/{account}/requests': {
    readonly data: readonly RequestRow[]
    /** null: this is the last page */
    readonly next_cursor: string | null
  }
  readonly 'GET /accounts/{account}/requests/live':
    | {
        readonly data: readonly RequestRow[]
        /** null: this is the last page */
        readonly next_cursor: string | null
        readonly type: 'start'
      }
    | {
        readonly type: 'rows'
        /** requests that have ended, newest first */
        readonly data: readonly RequestRow[]
        /** the number of older requests that were left out */
        readonly more: number
      }
    | {
        readonly type: 'end'
        readonly reason: 'not_allowed' | 'shutdown'
      }
  readonly 'GET /accounts/{account}/requests/{request}': RequestDetail
  readonly 'GET /requests/{request}': {
    readonly id: string
    readonly created_at: string
    readonly endpoint: string
    readonly model: string
    readonly key: {
      readonly id: string
      readonly name: string
    }
    readonly stream: boolean
    readonly status: number
    readonly outcome: 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'
    readonly error_code: string | null
    readonly input_tokens: number
    /** the part of the input that came from the vendor’s cache */
    readonly cached_input_tokens: number
    readonly output_tokens: number
    readonly images: number
    readonly usage_source: 'reported' | 'estimated' | null
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly charged_nano_usd: string
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly held_nano_usd: string
    readonly first_event_ms: number | null
    readonly total_ms: number
    readonly attempts: number
    /** operators only */
    readonly provider?: string | null
    readonly attempts_made: readonly Attempt[]
    /** before the first attempt, each attempt, and the answer after its first event */
    readonly phases: readonly {
      readonly phase: 'before' | 'attempt' | 'answer'
      readonly started_ms: number
      readonly took_ms: number
    }[]
    readonly usage: Readonly<Record<string, number>>
    readonly pieces: readonly {
      readonly unit: string
      readonly count: number
    }[]
    /** tokens of an output limit that the client did not set */
    readonly output_cap: number | null
    /** the reason: the operator, the vendor that demands one, the balance, or the model */
    readonly output_cap_reason: 'operator' | 'vendor' | 'balance' | 'model_maximum' | null
    /** null: nothing was charged */
    readonly price: PriceLines | null
    readonly price_basis: PriceBasis
    /** the factor of the account, by which it was charged */
    readonly price_factor: string | null
    /** the part of the price that the balance did not cover, in nano-USD */
    readonly written_off_nano_usd: string
    /** the part of the hold that was released, in nano-USD */
    readonly released_nano_usd: string
    /** operators only */
    readonly upstream_cost?: PriceLines | null
    readonly account: string
  }
  readonly 'GET /accounts/{account}/tasks': {
    readonly data: readonly Task[]
    /** null: this is the last page */
    readonly next_cursor: string | null
  }
  readonly 'GET /accounts/{account}/tasks/{task}': Task
  readonly 'GET /accounts/{account}/refused-requests': {
    readonly data: readonly RefusedRequest[]
    /** null: this is the last page */
    readonly next_cursor: string | null
  }
  readonly 'GET /accounts/{account}/refused-requests/{request}': RefusedRequest
  readonly 'GET /saved-views': {
    /** all items; this list has no pages */
    readonly data: readonly SavedView[]
  }
  readonly 'POST /saved-views': SavedView
  readonly 'PATCH /saved-views/{view}': SavedView
  readonly 'DELETE /saved-views/{view}': {
    /** all items; this list has no pages */
    readonly data: readonly SavedView[]
  }
  readonly 'GET /accounts/{account}/ledger': Statement
  readonly 'GET /accounts/{account}/holds': {
    readonly data: readonly {
      readonly request: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly amount_nano_usd: string
      readonly created_at: string
    }[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly held_nano_usd: string
  }
  readonly 'POST /accounts/{account}/redemptions': {
    /** nano-USD (1e-9 dollars), an integer as text */
    readonly amount_nano_usd: string
    readonly balance: Balance
  }
  readonly 'GET /models': {
    readonly data: readonly RoutedModel[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /models': RoutedModel
  readonly 'GET /models/{model}': RoutedModel
  readonly 'PATCH /models/{model}': RoutedModel
  readonly 'DELETE /models/{model}': {
    readonly id: string
    readonly removed: boolean
  }
  readonly 'GET /aliases': {
    /** all items; this list has no pages */
    readonly data: readonly Alias[]
  }
  readonly 'PUT /aliases/{alias}': Alias
  readonly 'DELETE /aliases/{alias}': {
    readonly id: string
    readonly removed: boolean
  }
  readonly 'POST /models/{model}/explain': Explanation
  readonly 'GET /models/{model}/prices': {
    /** all items; this list has no pages */
    readonly data: readonly {
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly input: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly cached_input: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly cache_write: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly cache_write_1h: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly output: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly reasoning: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly image_input: string
      /** nano-USD (1e-9 dollars), an integer as text */
      readonly image_output: string
      /** for one piece, such as image/1024x1024 */
      readonly each: Readonly<Record<string, string>>
      readonly card: number
      readonly effective_from: string
      /** the prices of requests with more input tokens */
      readonly tiers: readonly PriceTier[]
      /** sale, or provider/model of an offer */
      readonly of: string
    }[]
  }
  readonly 'POST /price-imports': PriceImport
  readonly 'GET /accounts/{account}/models': {
    readonly data: readonly Model[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'GET /accounts/{account}/models/{model}': ModelDetail
  readonly 'GET /public-models': {
    readonly data: readonly PublicModel[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'GET /public-models/{model}': PublicModel
  readonly 'GET /accounts/{account}/prices': {
    /** all items; this list has no pages */
    readonly data: readonly AccountPrice[]
  }
  readonly 'PUT /accounts/{account}/prices': {
    readonly data: readonly AccountPrice[]
    /** the number of prices at which an offer costs more */
    readonly below_cost_total: number
  }
  readonly 'GET /models/{model}/account-prices': {
    readonly data: readonly ModelPayer[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'GET /accounts': {
    readonly data: readonly Account[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /accounts': Account
  readonly 'GET /accounts/{account}': Account
  readonly 'PATCH /accounts/{account}': Account
  readonly 'PUT /accounts/{account}/low-balance': Account
  readonly 'POST /accounts/{account}/adjustments': Account
  readonly 'GET /users': {
    readonly data: readonly User[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /users': InvitedUser
  readonly 'PATCH /users/{user}': User
  readonly 'POST /users/{user}/reset': InvitedUser
  readonly 'GET /accounts/{account}/users': {
    readonly data: readonly User[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /accounts/{account}/users': InvitedUser
  readonly 'PATCH /accounts/{account}/users/{user}': User
  readonly 'POST /accounts/{account}/users/{user}/reset': InvitedUser
  readonly 'GET /management-keys': {
    readonly data: readonly ManagementKey[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /management-keys': NewManagementKey
  readonly 'DELETE /management-keys/{key}': ManagementKey
  readonly 'GET /accounts/{account}/management-keys': {
    readonly data: readonly ManagementKey[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /accounts/{account}/management-keys': NewManagementKey
  readonly 'DELETE /accounts/{account}/management-keys/{key}': ManagementKey
  readonly 'GET /providers': {
    readonly data: readonly Provider[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /providers': Provider
  readonly 'GET /providers/{provider}': Provider
  readonly 'PATCH /providers/{provider}': Provider
  readonly 'DELETE /providers/{provider}': {
    readonly id: string
    readonly removed: boolean
  }
  readonly 'POST /providers/{provider}/keys': Provider
  readonly 'DELETE /providers/{provider}/keys/{key}': Provider
  readonly 'PUT /providers/{provider}/state': Provider
  readonly 'POST /providers/{provider}/resume': {
    readonly id: string
    /** the number of offers that rested */
    readonly resumed: number
  }
  readonly 'POST /providers/{provider}/test': ProviderTest
  readonly 'GET /presets': {
    readonly image_families: readonly string[]
    readonly video_families: readonly string[]
    readonly data: readonly Preset[]
  }
  readonly 'GET /providers/{provider}/effects': Effects
  readonly 'GET /models/{model}/effects': Effects
  readonly 'GET /accounts/{account}/effects': Effects
  readonly 'GET /accounts/{account}/keys/{key}/effects': Effects
  readonly 'GET /users/{user}/effects': Effects
  readonly 'GET /accounts/{account}/users/{user}/effects': Effects
  readonly 'POST /secrets/lookup': SecretHolder
  readonly 'POST /accounts/{account}/secrets/lookup': SecretHolder
  readonly 'GET /codes': {
    readonly data: readonly Code[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages */
    readonly total: number
  }
  readonly 'POST /codes': {
    readonly id: string
    readonly codes: readonly {
      readonly id: string
      readonly code: string
    }[]
  }
  readonly 'DELETE /codes/{code}': Code
  readonly 'GET /health': Health
  readonly 'POST /health/verification': Verification
  readonly 'GET /audit': {
    readonly data: readonly AuditEntry[]
    /** null: this is the last page */
    readonly next_cursor: string | null
    /** the number of matches on all pages; null: more than 10000 */
    readonly total: number | null
  }
  readonly 'GET /audit/{entry}': AuditEntry
  readonly 'GET /settings': {
    readonly origin: 'declared'
    readonly settings: Readonly<Record<string, unknown>>
  }
  readonly 'GET /openapi.json': {
    readonly openapi: string
  }
}

/** By route: the body of the request. */
export type Bodies = {
  readonly 'POST /session': {
    readonly name: string
    readonly password: string
  }
  readonly 'POST /links/check': {
    readonly token: string
  }
  readonly 'POST /links/redeem': {
    readonly token: string
    readonly name?: string
    readonly password: string
  }
  readonly 'POST /session/password': {
    readonly current: string
    readonly password: string
  }
  readonly 'POST /session/view-as': {
    readonly account: string
  }
  readonly 'POST /accounts/{account}/keys': {
    readonly name: string
    readonly models?: readonly string[]
    readonly limits?: {
      readonly requests_per_minute?: number | null
      readonly tokens_per_minute?: number | null
      readonly concurrent_requests?: number | null
      readonly spend_per_day_nano_usd?: string | null
      readonly spend_per_month_nano_usd?: string | null
      /** limits of single models, by id or alias; a model that is left out stays, null removes it */
      readonly models?: Readonly<
        Record<
          string,
          {
            readonly requests_per_minute?: number | null
            readonly tokens_per_minute?: number | null
            readonly concurrent_requests?: number | null
          } | null
        >
      >
    }
  }
  readonly 'PATCH /accounts/{account}/keys/{key}': {
    readonly name?: string
    readonly models?: readonly string[] | null
    readonly limits?: {
      readonly requests_per_minute?: number | null
      readonly tokens_per_minute?: number | null
      readonly concurrent_requests?: number | null
      readonly spend_per_day_nano_usd?: string | null
      readonly spend_per_month_nano_usd?: string | null
      /** limits of single models, by id or alias; a model that is left out stays, null removes it */
      readonly models?: Readonly<
        Record<
          string,
          {
            readonly requests_per_minute?: number | null
            readonly tokens_per_minute?: number | null
            readonly concurrent_requests?: number | null
          } | null
        >
      >
    }
  }
  readonly 'POST /saved-views': {
    readonly name: string
    readonly query: string
  }
  readonly 'PATCH /saved-views/{view}': {
    readonly name: string
  }
  readonly 'POST /accounts/{account}/redemptions': {
    readonly code: string
  }
  readonly 'POST /models': {
    readonly id: string
    readonly kind?: 'text' | 'embedding' | 'image' | 'video'
    readonly owned_by?: string
    readonly image?: {
      readonly family?:
        | 'gemini-2.5-flash-image'
        | 'gemini-3-pro-image'
        | 'gemini-3.1-flash-image'
        | 'gpt-image'
        | 'gpt-image-2'
        | 'dall-e-3'
        | 'dall-e-2'
        | 'open'
      readonly sizes?: readonly string[]
      readonly qualities?: readonly string[]
      readonly formats?: readonly ('png' | 'jpeg' | 'webp')[]
      readonly backgrounds?: readonly string[]
      readonly n_max?: number
      readonly response_formats?: readonly ('url' | 'b64_json')[]
      readonly streams?: boolean
      readonly edit_images_max?: number
      readonly tokens?: Readonly<Record<string, number>>
    }
    readonly video?: {
      readonly family?: 'open' | 'seedance-2' | 'seedance-2-fast' | 'seedance-1-5' | 'veo-3'
      readonly resolutions?: readonly ('480p' | '720p' | '1080p')[]
      readonly ratios?: readonly ('16:9' | '4:3' | '1:1' | '3:4' | '9:16' | '21:9' | 'adaptive')[]
      readonly durations?: readonly number[]
      readonly chooses_duration?: boolean
      readonly audio?: 'never' | 'optional' | 'always'
      readonly frames?: 'none' | 'first' | 'first_last'
      readonly reference_images_max?: number
      readonly reference_videos_max?: number
      readonly reference_audios_max?: number
      readonly mixes_frames_with_references?: boolean
      readonly web_search?: boolean
      readonly deadline_s?: number
      readonly upscaler?: string
    }
    readonly dimensions?: number
    readonly dimensions_adjustable?: boolean
    readonly context_tokens?: number
    readonly output_tokens_max?: number
    readonly output_tokens_default?: number
    readonly output_tokens_min?: number
    readonly hidden_reasoning?: boolean
    readonly image_tokens_max?: number
    readonly pictures?: boolean
    readonly first_event_timeout_ms?: number
    readonly routing?: 'weighted' | 'latency' | 'cost' | 'balanced'
    readonly sticky?: 'off' | 'named' | 'opening'
    readonly requests_per_minute?: number
    readonly tokens_per_minute?: number
    readonly concurrent_requests?: number
    readonly answer_cache_seconds?: number
    readonly hedging?: 'off' | 'on'
    readonly price: {
      readonly input?: string | null
      readonly output?: string | null
      readonly cached_input?: string | null
      readonly cache_write?: string | null
      readonly cache_write_1h?: string | null
      readonly reasoning?: string | null
      readonly image_input?: string | null
      readonly image_output?: string | null
      /** for one piece; null: none */
      readonly each?: Readonly<Record<string, string>> | null
      /** prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers */
      readonly above?: Readonly<
        Record<
          string,
          {
            readonly input?: string | null
            readonly output?: string | null
            readonly cached_input?: string | null
            readonly cache_write?: string | null
            readonly cache_write_1h?: string | null
            readonly reasoning?: string | null
            readonly image_input?: string | null
            readonly image_output?: string | null
            /** for one piece; null: none */
            readonly each?: Readonly<Record<string, string>> | null
          }
        >
      > | null
    }
    readonly offers: readonly {
      readonly provider: string
      /** the name at the provider */
      readonly model: string
      /** left out: the vendor's list price, or the sale price if no list has one */
      readonly cost?: {
        readonly input?: string | null
        readonly output?: string | null
        readonly cached_input?: string | null
        readonly cache_write?: string | null
        readonly cache_write_1h?: string | null
        readonly reasoning?: string | null
        readonly image_input?: string | null
        readonly image_output?: string | null
        /** for one piece; null: none */
        readonly each?: Readonly<Record<string, string>> | null
        /** prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers */
        readonly above?: Readonly<
          Record<
            string,
            {
              readonly input?: string | null
              readonly output?: string | null
              readonly cached_input?: string | null
              readonly cache_write?: string | null
              readonly cache_write_1h?: string | null
              readonly reasoning?: string | null
              readonly image_input?: string | null
              readonly image_output?: string | null
              /** for one piece; null: none */
              readonly each?: Readonly<Record<string, string>> | null
            }
          >
        > | null
      }
      /** offers with a lower number are tried first */
      readonly priority?: number
      /** share among offers of one priority */
      readonly weight?: number
      /** the most tokens that it takes, input and output together; left out: the limit of the model */
      readonly context_tokens?: number
    }[]
  }
  readonly 'PATCH /models/{model}': {
    readonly price?: {
      readonly input?: string | null
      readonly output?: string | null
      readonly cached_input?: string | null
      readonly cache_write?: string | null
      readonly cache_write_1h?: string | null
      readonly reasoning?: string | null
      readonly image_input?: string | null
      readonly image_output?: string | null
      /** for one piece; null: none */
      readonly each?: Readonly<Record<string, string>> | null
      /** prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers */
      readonly above?: Readonly<
        Record<
          string,
          {
            readonly input?: string | null
            readonly output?: string | null
            readonly cached_input?: string | null
            readonly cache_write?: string | null
            readonly cache_write_1h?: string | null
            readonly reasoning?: string | null
            readonly image_input?: string | null
            readonly image_output?: string | null
            /** for one piece; null: none */
            readonly each?: Readonly<Record<string, string>> | null
          }
        >
      > | null
    }
    /** left out: as before; null: as if it had never been said */
    readonly image?: {
      readonly family?:
        | 'gemini-2.5-flash-image'
        | 'gemini-3-pro-image'
        | 'gemini-3.1-flash-image'
        | 'gpt-image'
        | 'gpt-image-2'
        | 'dall-e-3'
        | 'dall-e-2'
        | 'open'
      readonly sizes?: readonly string[]
      readonly qualities?: readonly string[]
      readonly formats?: readonly ('png' | 'jpeg' | 'webp')[]
      readonly backgrounds?: readonly string[]
      readonly n_max?: number
      readonly response_formats?: readonly ('url' | 'b64_json')[]
      readonly streams?: boolean
      readonly edit_images_max?: number
      readonly tokens?: Readonly<Record<string, number>>
    } | null
    /** left out: as before; null: as if it had never been said */
    readonly video?: {
      readonly family?: 'open' | 'seedance-2' | 'seedance-2-fast' | 'seedance-1-5' | 'veo-3'
      readonly resolutions?: readonly ('480p' | '720p' | '1080p')[]
      readonly ratios?: readonly ('16:9' | '4:3' | '1:1' | '3:4' | '9:16' | '21:9' | 'adaptive')[]
      readonly durations?: readonly number[]
      readonly chooses_duration?: boolean
      readonly audio?: 'never' | 'optional' | 'always'
      readonly frames?: 'none' | 'first' | 'first_last'
      readonly reference_images_max?: number
      readonly reference_videos_max?: number
      readonly reference_audios_max?: number
      readonly mixes_frames_with_references?: boolean
      readonly web_search?: boolean
      readonly deadline_s?: number
      readonly upscaler?: string
    } | null
    /** left out: as before; null: as if it had never been said */
    readonly dimensions?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly dimensions_adjustable?: boolean | null
    /** left out: as before; null: as if it had never been said */
    readonly context_tokens?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly output_tokens_max?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly output_tokens_default?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly output_tokens_min?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly hidden_reasoning?: boolean | null
    /** left out: as before; null: as if it had never been said */
    readonly image_tokens_max?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly pictures?: boolean | null
    /** left out: as before; null: as if it had never been said */
    readonly first_event_timeout_ms?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly routing?: 'weighted' | 'latency' | 'cost' | 'balanced' | null
    /** left out: as before; null: as if it had never been said */
    readonly sticky?: 'off' | 'named' | 'opening' | null
    /** left out: as before; null: as if it had never been said */
    readonly requests_per_minute?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly tokens_per_minute?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly concurrent_requests?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly answer_cache_seconds?: number | null
    /** left out: as before; null: as if it had never been said */
    readonly hedging?: 'off' | 'on' | null
    readonly offers?: readonly {
      readonly provider: string
      /** the name at the provider */
      readonly model: string
      /** left out: unchanged if the offer exists; null: the list price, else the sale price */
      readonly cost?: {
        readonly input?: string | null
        readonly output?: string | null
        readonly cached_input?: string | null
        readonly cache_write?: string | null
        readonly cache_write_1h?: string | null
        readonly reasoning?: string | null
        readonly image_input?: string | null
        readonly image_output?: string | null
        /** for one piece; null: none */
        readonly each?: Readonly<Record<string, string>> | null
        /** prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers */
        readonly above?: Readonly<
          Record<
            string,
            {
              readonly input?: string | null
              readonly output?: string | null
              readonly cached_input?: string | null
              readonly cache_write?: string | null
              readonly cache_write_1h?: string | null
              readonly reasoning?: string | null
              readonly image_input?: string | null
              readonly image_output?: string | null
              /** for one piece; null: none */
              readonly each?: Readonly<Record<string, string>> | null
            }
          >
        > | null
      } | null
      /** offers with a lower number are tried first */
      readonly priority?: number
      /** share among offers of one priority */
      readonly weight?: number
      /** left out: unchanged if the offer exists; null: the limit of the model */
      readonly context_tokens?: number | null
    }[]
  }
  readonly 'PUT /aliases/{alias}': {
    readonly model: string
  }
  readonly 'POST /models/{model}/explain': {
    readonly account?: string
    readonly key?: string
    /** its length; default: 1000 */
    readonly input_tokens?: number
    /** whether it is streamed; default: true */
    readonly stream?: boolean
    /** a policy other than that of the model */
    readonly routing?: 'weighted' | 'latency' | 'cost' | 'balanced'
  }
  readonly 'POST /price-imports': {
    readonly provider?: string
    /** ids, with * for any characters */
    readonly models?: readonly string[]
    /** the public ids are the vendor’s behind this, such as openai/; left out: they are the vendor’s */
    readonly prefix?: string
    /** such as 20% */
    readonly markup?: string
    /** the https address of a list of your own */
    readonly from?: string
    /** leave out models with a change of more than this, and new ones */
    readonly within?: string
    /** the fingerprint */
    readonly approved?: string
  }
  readonly 'PUT /accounts/{account}/prices': {
    /** null: every model without a price of its own */
    readonly model: string | null
    /** such as 0.9; null: the price ends, and the price of the model applies again */
    readonly factor?: string | null
    /** prices of its own for the one model, stated whole */
    readonly price?: {
      readonly input?: string | null
      readonly output?: string | null
      readonly cached_input?: string | null
      readonly cache_write?: string | null
      readonly cache_write_1h?: string | null
      readonly reasoning?: string | null
      readonly image_input?: string | null
      readonly image_output?: string | null
      /** for one piece; null: none */
      readonly each?: Readonly<Record<string, string>> | null
      /** prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers */
      readonly above?: Readonly<
        Record<
          string,
          {
            readonly input?: string | null
            readonly output?: string | null
            readonly cached_input?: string | null
            readonly cache_write?: string | null
            readonly cache_write_1h?: string | null
            readonly reasoning?: string | null
            readonly image_input?: string | null
            readonly image_output?: string | null
            /** for one piece; null: none */
            readonly each?: Readonly<Record<string, string>> | null
          }
        >
      > | null
    }
  }
  readonly 'POST /accounts': {
    readonly name: string
    readonly models?: readonly string[]
    readonly limits?: {
      readonly requests_per_minute?: number | null
      readonly tokens_per_minute?: number | null
      readonly concurrent_requests?: number | null
      readonly spend_per_day_nano_usd?: string | null
      readonly spend_per_month_nano_usd?: string | null
      /** limits of single models, by id or alias; a model that is left out stays, null removes it */
      readonly models?: Readonly<
        Record<
          string,
          {
            readonly requests_per_minute?: number | null
            readonly tokens_per_minute?: number | null
            readonly concurrent_requests?: number | null
          } | null
        >
      >
    }
    readonly balance_nano_usd?: string
  }
  readonly 'PATCH /accounts/{account}': {
    readonly status?: 'active' | 'suspended'
    readonly models?: readonly string[] | null
    readonly limits?: {
      readonly requests_per_minute?: number | null
      readonly tokens_per_minute?: number | null
      readonly concurrent_requests?: number | null
      readonly spend_per_day_nano_usd?: string | null
      readonly spend_per_month_nano_usd?: string | null
      /** limits of single models, by id or alias; a model that is left out stays, null removes it */
      readonly models?: Readonly<
        Record<
          string,
          {
            readonly requests_per_minute?: number | null
            readonly tokens_per_minute?: number | null
            readonly concurrent_requests?: number | null
          } | null
        >
      >
    }
  }
  readonly 'PUT /accounts/{account}/low-balance': {
    readonly threshold_nano_usd: string | null
  }
  readonly 'POST /accounts/{account}/adjustments': {
    readonly kind: 'credit' | 'debit' | 'refund'
    readonly amount_nano_usd: string
    readonly reason: string
    /** a reference is never booked twice */
    readonly ref?: string
  }
  readonly 'POST /users': {
    readonly name: string
    readonly role: 'operator' | 'owner' | 'member'
    readonly account?: string
  }
  readonly 'PATCH /users/{user}': {
    readonly role?: 'owner' | 'member'
    readonly status?: 'active' | 'disabled'
  }
  readonly 'POST /accounts/{account}/users': {
    readonly name: string
    readonly role: 'owner' | 'member'
  }
  readonly 'PATCH /accounts/{account}/users/{user}': {
    readonly role?: 'owner' | 'member'
    readonly status?: 'active' | 'disabled'
  }
  readonly 'POST /management-keys': {
    readonly name: string
  }
  readonly 'POST /accounts/{account}/management-keys': {
    readonly name: string
  }
  readonly 'POST /providers': {
    readonly id: string
    readonly preset?: string
    /** null: the preset’s own */
    readonly base_url?: string | null
    /** whether it may be at a private address */
    readonly allow_private?: boolean
    /** the most requests in flight there at once; null: the usual limit */
    readonly concurrent_requests?: number | null
    /** left out: the stored key stays if nobody else can read it where it is sent; null: no key */
    readonly key?: string | null
    /** http://, socks5:// or socks5h://; direct: none; null: as the environment says */
    readonly proxy?: string | null
    /** headers of every request; they replace those before */
    readonly headers?: Readonly<Record<string, string>> | null
    /** parameters of every request; they replace those before */
    readonly query?: Readonly<Record<string, string>> | null
    /** the header OpenAI-Organization */
    readonly organization?: string | null
    /** the header OpenAI-Project */
    readonly project?: string | null
    /** certificate authorities in PEM, trusted beside the system’s */
    readonly ca?: string | null
  }
  readonly 'PATCH /providers/{provider}': {
    readonly preset?: string
    /** null: the preset’s own */
    readonly base_url?: string | null
    /** whether it may be at a private address */
    readonly allow_private?: boolean
    /** the most requests in flight there at once; null: the usual limit */
    readonly concurrent_requests?: number | null
    /** left out: the stored key stays if nobody else can read it where it is sent; null: no key */
    readonly key?: string | null
    /** http://, socks5:// or socks5h://; direct: none; null: as the environment says */
    readonly proxy?: string | null
    /** headers of every request; they replace those before */
    readonly headers?: Readonly<Record<string, string>> | null
    /** parameters of every request; they replace those before */
    readonly query?: Readonly<Record<string, string>> | null
    /** the header OpenAI-Organization */
    readonly organization?: string | null
    /** the header OpenAI-Project */
    readonly project?: string | null
    /** certificate authorities in PEM, trusted beside the system’s */
    readonly ca?: string | null
  }
  readonly 'POST /providers/{provider}/keys': {
    readonly key: string
    /** the most requests in flight with it */
    readonly concurrent_requests?: number
  }
  readonly 'PUT /providers/{provider}/state': {
    readonly state: 'serving' | 'drained'
  }
  readonly 'POST /secrets/lookup': {
    readonly secret: string
  }
  readonly 'POST /accounts/{account}/secrets/lookup': {
    readonly secret: string
  }
  readonly 'POST /codes': {
    readonly count: number
    readonly amount_nano_usd: string
    readonly note?: string
    readonly expires_at?: string
  }
}

/** The endpoints of the public API, as records name them. */
export const endpoints = [
  'chat.completions',
  'responses',
  'messages',
  'gemini',
  'embeddings',
  'images.generations',
  'images.edits',
  'videos',
] as const
