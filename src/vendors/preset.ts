import type { HangUp } from '../domain/catalog.ts'
import type { Dialect } from '../domain/turn.ts'

/** How the credential travels. */
export type AuthScheme =
  | 'bearer'
  | 'api-key'
  | 'x-api-key'
  | 'x-goog-api-key'
  /** The secret is a service account's JSON, which is exchanged for a token of an hour. */
  | 'google-service-account'
  | 'none'

/**
 * How a vendor counts. `inclusive` is OpenAI's rule: prompt_tokens includes cached and cache-write tokens,
 * completion_tokens includes reasoning. `reasoning_apart` is xAI's chat endpoint and Perplexity: reasoning_tokens come
 * on top of completion_tokens.
 */
export type UsageDialect = 'inclusive' | 'reasoning_apart'

/** How a vendor is asked for videos. */
export type VideoApi = 'ark' | 'veo' | 'vertex-veo'
/** How it is asked to upscale one. */
export type UpscaleApi = 'mediakit'

/** What a vendor does differently from OpenAI. Each value set in presets.ts carries its vendor, date and source. */
export type Quirks = {
  /** Where a cap goes that the gateway sets on a request without one. */
  readonly outputMaxField: 'max_tokens' | 'max_completion_tokens'
  /** Whether `stream_options.include_usage` is understood. */
  readonly usageInStream: 'on_request' | 'unasked'
  readonly usageDialect: UsageDialect
  readonly hangUp: HangUp
  /** Whether ids of tool calls may be sent back; undefined where the dialect demands them anyway. */
  readonly callIds?: 'sent' | 'refused'
}

/** A vendor connection ready to be made: everything but the credential. */
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
   * What shows that address and key work, for nothing. `models`: its list of models, or how it refuses an empty call;
   * `empty_call`: that alone; `video_tasks`: its list of tasks; `unknown_task`: how it answers for a task there is not.
   */
  readonly probe: 'models' | 'empty_call' | 'video_tasks' | 'unknown_task'
  readonly quirks: Quirks
}
