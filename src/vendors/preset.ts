import type { HangUp } from '../domain/catalog.ts'
import type { Dialect } from '../domain/turn.ts'

/** How the credential is sent. */
export type AuthScheme =
  | 'bearer'
  | 'x-api-key'
  | 'x-goog-api-key'
  /** The header `api-key`, or a token of Entra if the secret is the JSON of an application. */
  | 'azure'
  /** A key as `bearer`, or a signature of each request if the secret is JSON with keys or the place that has them. */
  | 'aws'
  /** The secret is a service account's JSON, which is exchanged for a token that holds for an hour. */
  | 'google-service-account'
  | 'none'

/**
 * How a vendor counts tokens. `inclusive` is OpenAI's rule: prompt_tokens includes cached and cache-write tokens,
 * completion_tokens includes reasoning. `reasoning_apart` is xAI's chat endpoint: reasoning_tokens come
 * on top of completion_tokens.
 */
export type UsageDialect = 'inclusive' | 'reasoning_apart'

/** How a vendor is asked for videos. */
export type VideoApi = 'ark' | 'veo' | 'vertex-veo'
/** How it is asked to upscale one. */
export type UpscaleApi = 'mediakit'

/**
 * What a vendor does differently from OpenAI. Readers and writers of the dialects get these values as they are. Each
 * value in presets.ts has its source and date beside it.
 */
export type Quirks = {
  /** The field of the output limit that the gateway sets on a request without one. */
  readonly outputMaxField: 'max_tokens' | 'max_completion_tokens'
  /** Whether `stream_options.include_usage` is understood. */
  readonly usageInStream: 'on_request' | 'unasked'
  readonly usageDialect: UsageDialect
  /**
   * Where a request names the model, if not in its body: in the path of an Azure deployment, or in the path of one of
   * the publishers at Google Cloud.
   */
  readonly modelIn?: 'deployment_path' | 'publisher_path'
  /** Whether ids of tool calls may be sent back, in a dialect in which they are optional. */
  readonly callIds?: 'sent' | 'refused'
}

/**
 * Which models of a vendor the price list of the gateway has. `tools/price-list.ts` reads it, and takes them from a
 * public list.
 */
export type PriceListing =
  | {
      /** The id of the vendor in the public list. */
      readonly listed: string
      /** Ids that the vendor's API takes now: the public list keeps retired ones and other spellings. */
      readonly current: RegExp
      /** What the vendor's API wants before an id of the list. */
      readonly upstreamPrefix?: string
      /** The id as the vendor's API takes it, if the list spells it differently. */
      readonly spelt?: (listedId: string) => string
      /** The vendor bills reasoning without sending it, or sends a summary (its documentation, 2026-11). */
      readonly hidesReasoning?: true
      /** The vendor ends an answer at the context alone. A longest answer in a source is that source's own default. */
      readonly endedByContext?: true
    }
  /** Why the list prices none of its models. `src/prices/skips.ts` has the sentences. */
  | {
      readonly unlisted:
        | 'by_deployment'
        | 'by_region'
        | 'by_pixels'
        | 'other_currency'
        | 'passed_on'
        | 'fee'
        | 'unlisted'
        | 'upscaler'
    }

/** The row of a vendor: what a connection to it needs, without the credential. */
export type Preset = {
  readonly id: string
  readonly label: string
  /** Undefined where the operator must give it. */
  readonly baseUrl: string | undefined
  /** The environment variable whose presence adds the provider at start. */
  readonly keyVariable: string | undefined
  readonly auth: AuthScheme
  /** The dialects it speaks, its own first. */
  readonly dialects: readonly Dialect[]
  /** How it is asked for videos, and to upscale them; undefined where it makes none. */
  readonly videoApi?: VideoApi | undefined
  readonly upscaleApi?: UpscaleApi | undefined
  /**
   * The free request that shows whether address and key work. `models`: its list of models, or an empty call where it
   * has none. `empty_call`: a call without a model. `video_tasks`: its list of tasks. `unknown_task`: a task that does
   * not exist.
   */
  readonly probe: 'models' | 'empty_call' | 'video_tasks' | 'unknown_task'
  readonly quirks: Quirks
  /** Whether it bills a stream that the gateway leaves. A provider can say otherwise. */
  readonly hangUp: HangUp
  /** Undefined: it has no prices of its own, as a server on this machine. */
  readonly listing?: PriceListing
}
