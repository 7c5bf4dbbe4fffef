/** The reasons why the limits of a key, an account or a model refuse a request. */
import type { NanoUsd } from './money.ts'

/** `model`: the limits of a model, for all accounts together. */
export type LimitScope = 'key' | 'account' | 'model'

/** Why a request is refused, and when it may be tried again. */
export type LimitViolation =
  | {
      readonly kind: 'rate'
      readonly scope: LimitScope
      /** The model whose requests the limit counts. Undefined: it counts those of all models. */
      readonly model?: string | undefined
      readonly unit: 'requests' | 'tokens'
      readonly limit: number
      /** Undefined if it never helps to wait, because the request alone exceeds the limit. */
      readonly retryAfterMs: number | undefined
    }
  | {
      readonly kind: 'concurrency'
      readonly scope: LimitScope
      readonly model?: string | undefined
      readonly limit: number
    }
  | { readonly kind: 'futile'; readonly scope: LimitScope; readonly limit: number; readonly retryAfterMs: number }
  | SpendLimited

export type SpendLimited = {
  readonly kind: 'spend'
  readonly scope: LimitScope
  readonly period: 'day' | 'month'
  readonly limit: NanoUsd
  readonly spent: NanoUsd
  readonly held: NanoUsd
  /** The amount that the request needs, or undefined before its size is known. */
  readonly needed: NanoUsd | undefined
  /**
   * What makes room: open `holds` that settle for less, the end of the `period`, or `nothing`, because the request
   * alone exceeds the limit.
   */
  readonly freedBy: 'holds' | 'period' | 'nothing'
  /** When the period ends. */
  readonly resetsInMs: number
}
