/** Vendors to simulate: how fast they answer, what they charge, and what is wrong with them. */
import { MINUTE_MS, SECOND_MS } from '../../src/lib/primitives/units.ts'
import { logNormal, type SimRequest } from './traffic.ts'

export type Fault =
  | { readonly kind: 'none' }
  /** Refuses each connection. */
  | { readonly kind: 'dead' }
  /** Accepts each request and never answers. The gateway gives up after a minute. */
  | { readonly kind: 'hangs' }
  | { readonly kind: 'slow'; readonly factor: number }
  /** Says 200 and then sends an error in place of this share of its answers. */
  | { readonly kind: 'lies'; readonly share: number }
  /** Is there for this time, and then dead for as long. */
  | { readonly kind: 'comes_and_goes'; readonly everyMs: number }

export type SimVendor = {
  readonly name: string
  readonly fault: Fault
  /** Dollars per million tokens. */
  readonly usd: { readonly input: number; readonly cached: number; readonly output: number }
}

export type VendorAnswer =
  | { readonly kind: 'answer'; readonly firstEventMs: number; readonly lastMs: number; readonly cachedTokens: number }
  | { readonly kind: 'failure'; readonly afterMs: number; readonly isTimeout: boolean }

const BASE_MS = 300
/** Reading a prompt that is not cached: 100,000 tokens in 3.2 s. */
const PREFILL_MS_PER_TOKEN = 0.032
const TOKENS_PER_SECOND = 80
const SPREAD = 0.3
const CACHE_MS = 5 * MINUTE_MS
const CACHED_TOKENS_MIN = 1_024
const TIMEOUT_MS = 60 * SECOND_MS

type CachedPrompt = { readonly tokens: number; readonly atMs: number }

/** One vendor with its prompt cache. */
export class VendorServer {
  readonly vendor: SimVendor
  private readonly random: () => number
  private readonly cache = new Map<string, CachedPrompt>()

  constructor(vendor: SimVendor, random: () => number) {
    this.vendor = vendor
    this.random = random
  }

  isUp(nowMs: number): boolean {
    const { fault } = this.vendor
    if (fault.kind === 'comes_and_goes') return Math.floor(nowMs / fault.everyMs) % 2 === 0
    return fault.kind !== 'dead'
  }

  answer({ inputTokens, outputTokens, conversation }: SimRequest, nowMs: number): VendorAnswer {
    const { fault } = this.vendor
    if (!this.isUp(nowMs)) return { kind: 'failure', afterMs: 5, isTimeout: false }
    if (fault.kind === 'hangs') return { kind: 'failure', afterMs: TIMEOUT_MS, isTimeout: true }
    const cachedTokens = this.cachedTokens(conversation, inputTokens, nowMs)
    const factor = (fault.kind === 'slow' ? fault.factor : 1) * logNormal(this.random, SPREAD)
    const firstEventMs = factor * (BASE_MS + PREFILL_MS_PER_TOKEN * (inputTokens - cachedTokens))
    if (fault.kind === 'lies' && this.random() < fault.share) {
      return { kind: 'failure', afterMs: firstEventMs, isTimeout: false }
    }
    if (conversation !== undefined) this.cache.set(conversation, { tokens: inputTokens, atMs: nowMs })
    const slowness = fault.kind === 'slow' ? fault.factor : 1
    const lastMs = firstEventMs + (slowness * outputTokens * SECOND_MS) / TOKENS_PER_SECOND
    return { kind: 'answer', firstEventMs, lastMs, cachedTokens }
  }

  private cachedTokens(conversation: string | undefined, inputTokens: number, nowMs: number): number {
    const cached = conversation === undefined ? undefined : this.cache.get(conversation)
    if (!cached || nowMs - cached.atMs > CACHE_MS) return 0
    const tokens = Math.min(cached.tokens, inputTokens)
    return tokens < CACHED_TOKENS_MIN ? 0 : tokens
  }
}
