/** What a request asks of the answer cache, and what came of it. */

/** `unasked`: the client says nothing. `refresh`: it wants a new answer, which is kept. */
export type CacheWish = 'unasked' | 'on' | 'off' | 'refresh'

export type CacheAsk = {
  readonly wish: CacheWish
  /** The oldest answer that the client takes, and how long the new one may be kept. Undefined: as the operator says. */
  readonly ageMsMax: number | undefined
  readonly path: string
  /** The body as it was sent. */
  readonly body: string
  /** The header `anthropic-beta`, which changes the answer. */
  readonly betas: string | undefined
}

export type CacheMiss = {
  readonly kind: 'miss'
  /** Where the answer is kept. */
  readonly key: string
  readonly keptMs: number
  readonly isAsked: boolean
}

export type CacheHit = {
  readonly kind: 'hit'
  readonly content: string
  readonly contentType: Readonly<Record<'content-type', string>>
  /** Requested fields that the vendor did not support. */
  readonly dropped: readonly string[]
  readonly ageMs: number
}

/** `bypass`: the client asked, and this request is never served from the cache. */
export type CacheUse = { readonly kind: 'bypass' } | CacheMiss | CacheHit
