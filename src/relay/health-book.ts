import type { KeyedProvider, Offer } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { ServedConversations, type ConversationKey } from '../router/conversations.ts'
import { afterFailure, afterNothing, healthy, isOfferFault, onTrial, type OfferHealth } from '../router/health.ts'
import { SignalBook } from '../router/signal-book.ts'
import { roughTokens, type RoutedRequest, type WorkClass } from '../router/signals.ts'
import { ProviderKeys } from './provider-keys.ts'

type KnownOffer = Pick<Offer, 'id' | 'modelId'>

/** What an attempt took, in milliseconds from its start. */
export type AttemptTimes = {
  /** To the first meaningful event of a stream, or to the whole reply. */
  readonly firstEventMs: number
  /** To the end of the answer. A stream goes as fast as its client reads it. */
  readonly tookMs: number
}

/** What this process has learned about its offers. A restart forgets it on purpose. */
export class HealthBook {
  /** The health of keys, of providers that have several. */
  readonly keys = new ProviderKeys()
  readonly signals = new SignalBook()
  readonly conversations = new ServedConversations()
  private readonly offers = new Map<string, OfferHealth>()
  private readonly now: () => number

  constructor(now: () => number = steadyNowMs) {
    this.now = now
  }

  get all(): ReadonlyMap<string, OfferHealth> {
    return this.offers
  }

  isResting(offerId: string): boolean {
    const health = this.offers.get(offerId)
    return health !== undefined && health.restUntilMs > this.now()
  }

  /** An attempt begins. `arrived` is called once for it. */
  tried(offerId: string, work: WorkClass): void {
    const health = this.offers.get(offerId)
    const nowMs = this.now()
    if (health) this.offers.set(offerId, onTrial(health, nowMs))
    this.signals.openOffer(offerId).sent(work, nowMs)
  }

  /** The first event or the whole reply of an attempt has come, or it has failed. */
  arrived(offerId: string, work: WorkClass): void {
    this.signals.openOffer(offerId).arrived(work, this.now())
  }

  /** A stream has begun, or a whole reply has come, after so much time. */
  answered(offerId: string, work: WorkClass, firstEventMs: number): void {
    this.signals.openOffer(offerId).measured(work, firstEventMs, this.now())
  }

  /** A stream is complete. */
  streamed({ id, modelId }: KnownOffer, work: WorkClass, { tokens, times }: StreamPace): void {
    const tookMs = times.tookMs - times.firstEventMs
    this.signals.openOffer(id).paced(work, { tokens, tookMs }, this.now())
    this.signals.openModel(modelId).answered(tokens)
  }

  /** The offer has served the conversation, so its vendor has the prompt in its cache. */
  remembered(conversation: ConversationKey, offer: KnownOffer, request: Pick<RoutedRequest, 'textBytes'>): void {
    this.conversations.served(conversation, { offer, inputTokens: roughTokens(request) }, this.now())
  }

  /** A whole answer has so many output tokens. */
  counted({ modelId }: KnownOffer, outputTokens: number): void {
    this.signals.openModel(modelId).answered(outputTokens)
  }

  /** Nobody waits any longer for an attempt that brought nothing. */
  gaveUp(offerId: string, work: WorkClass, waitedMs: number): void {
    this.signals.openOffer(offerId).gaveUp(work, waitedMs, this.now())
  }

  /** An attempt ended because of its client. */
  ended(offerId: string): void {
    const health = this.offers.get(offerId)
    if (health) this.offers.set(offerId, afterNothing(health, this.now()))
  }

  /** A success forgives all failures in a row. */
  succeeded(offerId: string): void {
    this.offers.delete(offerId)
    this.signals.openOffer(offerId).served(this.now())
  }

  /** Ends rests, because the cause is mended or a test is wanted. Returns how many offers rested. */
  resume(offerIds: readonly string[], keys: readonly KeyedProvider[] = []): number {
    this.keys.resume(keys)
    const resting = offerIds.filter((id) => this.isResting(id)).length
    for (const id of offerIds) {
      this.offers.delete(id)
      this.signals.offer(id)?.forgive()
    }
    return resting
  }

  failed(offerId: string, failure: UpstreamFailure): void {
    const nowMs = this.now()
    this.offers.set(offerId, afterFailure(this.offers.get(offerId) ?? healthy, failure, nowMs))
    if (isOfferFault(failure)) this.signals.openOffer(offerId).failed(nowMs)
  }
}

type StreamPace = { readonly tokens: number; readonly times: AttemptTimes }
