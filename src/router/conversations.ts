/**
 * Which offer last served a conversation, so that the next request finds the vendor's prompt cache warm. Only hashes
 * are kept, in a table of fixed size, 640 KiB. A newer conversation may take the place of an older one.
 */
import type { Offer } from '../domain/catalog.ts'
import { limit } from '../lib/primitives/limit.ts'
import { mixedFraction, textHash } from '../lib/primitives/text-hash.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

/** Two independent hashes of what identifies a conversation. */
export type ConversationKey = { readonly place: number; readonly check: number }

const CHECK_SALT = 1

export function conversationKeyOf(texts: readonly string[]): ConversationKey {
  let [place, check] = [0, CHECK_SALT]
  for (const text of texts) {
    place = textHash(text, place)
    check = textHash(text, check)
  }
  return { place, check }
}

/** The offer that served a conversation before, and the tokens that its vendor has probably cached. */
export type WarmOffer = { readonly offerHash: number; readonly inputTokens: number }

const CONVERSATIONS = limit(
  'rememberedConversations',
  32_768,
  'So many conversations keep to their offer by memory. Others return to it by their hash.',
)
/**
 * The shortest life of a vendor's prompt cache: Anthropic keeps it for 5 minutes after its last use, OpenAI for 5 to 10
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching, platform.openai.com/docs/guides/prompt-caching,
 * 2026-11).
 */
const WARM_MS = 5 * MINUTE_MS

export const offerHashOf = ({ id }: Pick<Offer, 'id'>): number => textHash(id)

/**
 * A number in [0, 1) that is the same for a conversation and an offer in every process. The highest of them chooses an
 * offer: rendezvous hashing. If an offer goes, only its own conversations move.
 */
export const drawOf = (key: ConversationKey, offer: Pick<Offer, 'id'>): number =>
  mixedFraction(key.place, offerHashOf(offer))

type ServedRequest = { readonly offer: Pick<Offer, 'id'>; readonly inputTokens: number }

export class ServedConversations {
  private checks = new Uint32Array(0)
  private offers = new Uint32Array(0)
  private inputTokens = new Uint32Array(0)
  private atMs = new Float64Array(0)

  /** The offer that served the conversation, if its cache can still be warm. */
  warm(key: ConversationKey, nowMs: number): WarmOffer | undefined {
    const at = this.placeOf(key)
    if (at === undefined || nowMs - (this.atMs[at] ?? 0) > WARM_MS) return undefined
    return { offerHash: this.offers[at] ?? 0, inputTokens: this.inputTokens[at] ?? 0 }
  }

  served(key: ConversationKey, { offer, inputTokens }: ServedRequest, nowMs: number): void {
    // A gateway without conversations needs no table.
    if (this.checks.length === 0) {
      this.checks = new Uint32Array(CONVERSATIONS)
      this.offers = new Uint32Array(CONVERSATIONS)
      this.inputTokens = new Uint32Array(CONVERSATIONS)
      this.atMs = new Float64Array(CONVERSATIONS)
    }
    const at = this.placeOf(key) ?? this.oldestPlace(key)
    this.checks[at] = key.check
    this.offers[at] = offerHashOf(offer)
    this.inputTokens[at] = inputTokens
    this.atMs[at] = nowMs
  }

  private placeOf(key: ConversationKey): number | undefined {
    const from = firstPlace(key)
    for (let at = from; at < from + WAYS; at++) if (this.checks[at] === key.check) return at
    return undefined
  }

  private oldestPlace(key: ConversationKey): number {
    const from = firstPlace(key)
    let oldest = from
    for (let at = from + 1; at < from + WAYS; at++) if ((this.atMs[at] ?? 0) < (this.atMs[oldest] ?? 0)) oldest = at
    return oldest
  }
}

/** A conversation has so many places in the table, and takes the one that is unused for longest. */
const WAYS = 4
const firstPlace = ({ place }: ConversationKey): number => (place % (CONVERSATIONS / WAYS)) * WAYS
