/**
 * A hold that begins with the input and a step of output. It grows while the answer arrives, and each step is durable
 * before the text that it pays for leaves. It is for answers without a limit of the client's whose maximum cost the
 * account does not have, or would lack for its other requests.
 */
import type { Model } from '../domain/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import { outputTokens, type Usage } from '../domain/usage.ts'
import type { AdaptedStream } from '../formats/core/contract.ts'
import { asGeneratedText, scaledTokens, type GeneratedText } from '../formats/core/generated-text.ts'
import type { Hold } from '../ledger/ledger.ts'
import { limit } from '../lib/primitives/limit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { limitCondition } from './hold-conditions.ts'
import { newerBalance } from './newer-balance.ts'
import type { OutputCap } from '../modalities/modality.ts'
import { heldFor, cappedShareOf, STEP_TOKENS, stepOf, tokensFor } from '../modalities/token-quote.ts'

/** A large step is at most this part of what is held: one fourth. */
const SHARE_OF_HELD = 4
/** Vendors also count tokens that are not sent, of tools and the like. More than this is hidden reasoning. */
const UNSEEN_TOKENS = 256
/** The tries of one extension, if the store refuses it. Each is smaller than the one before. */
const TRIES_MAX = limit(
  'holdExtensionTriesMax',
  3,
  'After this many refusals by the store the answer ends at its paid length.',
)
/** Vendors count the same text differently. For each token of our count, this many quarters are held. */
const MARGIN_QUARTERS = 5

export type ArrivedText = { readonly produced: string | GeneratedText; readonly thoughts: string | GeneratedText }

type AnswerProgress = Pick<AdaptedStream, 'produced' | 'thoughts'> & { readonly usage?: Usage | undefined }
type Count = { readonly bytes: number; readonly tokens: number }

const NOTHING: Count = { bytes: 0, tokens: 0 }

export class GrowingHold {
  /** Output tokens that are paid for, all choices together. */
  private tokens: number
  private counted = NOTHING
  /** The stream that was counted. After a failure another one begins. */
  private source: AnswerProgress | undefined
  private cameWhole = false
  /** The limit of a whole answer that cannot be requested as a stream, per choice. */
  wholeCap: OutputCap | undefined
  /** The part of the stream that may leave. */
  private covered: ArrivedText = { produced: '', thoughts: '' }
  private readonly relay: Relay
  private readonly call: GatewayRequest
  private readonly model: Model
  private readonly hold: Hold

  constructor(
    relay: Relay,
    call: GatewayRequest,
    { model, hold, tokens }: { model: Model; hold: Hold; tokens: number },
  ) {
    this.relay = relay
    this.call = call
    this.model = model
    this.hold = hold
    this.tokens = tokens
  }

  get heldTokens(): number {
    return this.tokens
  }

  /** The text that arrived and was paid for. */
  get words(): ArrivedText {
    return this.covered
  }

  /**
   * Extends the hold to cover what a stream has brought so far. Resolves to `spent` if no money is left. The text that
   * arrived last must not leave then.
   */
  cover(source: AnswerProgress): 'covered' | Promise<'covered' | 'spent'> {
    if (this.source !== source) {
      this.source = source
      this.counted = NOTHING
    }
    // Text never has more tokens than bytes, so it is only counted if it could exceed the hold.
    const bytes = bytesOf(source) - this.counted.bytes
    return this.counted.tokens + bytes <= this.tokens ? this.markCovered(source) : this.grow(source)
  }

  /** The same for a reply that arrived in one piece although it was requested as a stream. */
  async coverWhole(reply: Pick<AnswerProgress, 'produced' | 'usage'>): Promise<void> {
    this.cameWhole = true
    await this.cover(reply)
  }

  /** Extends the hold for an answer in one piece, and limits that answer to what is then held. */
  async coverUnseen(): Promise<void> {
    await this.extend(this.tokens + cappedShareOf(this.affordable()))
    this.wholeCap = { tokens: Math.floor(this.tokens / this.call.request.choices), reason: 'balance' }
  }

  /**
   * Whether a hold cannot grow with such answers. A report has reasoning that was not sent, or all arrived at the end.
   */
  cannotFollow(usage: Usage): boolean {
    if (this.cameWhole || this.wholeCap) return true
    const { produced, thoughts } = this.covered
    const thoughtBytes = asGeneratedText(thoughts).bytes
    return usage.outputReasoning > thoughtBytes || outputTokens(usage) > bytesOf({ produced, thoughts }) + UNSEEN_TOKENS
  }

  private async grow(source: AnswerProgress): Promise<'covered' | 'spent'> {
    await this.count(source)
    const { ledger } = this.relay
    const { accountId } = this.hold
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      // After a refusal of the store, the balance is known better.
      if (tries > 0 && ledger.isOutdated(accountId)) await newerBalance(this.relay, accountId)
      const grown = await this.growStep()
      if (this.counted.tokens <= this.tokens) return this.markCovered(source)
      if (grown !== 'refused' && !ledger.isOutdated(accountId)) break
    }
    return 'spent'
  }

  private async growStep(): Promise<'as_possible' | 'refused'> {
    const affordable = this.affordable()
    const most = Math.max(STEP_TOKENS, Math.ceil(this.tokens / SHARE_OF_HELD))
    const step = stepOf(affordable, most)
    const needed = Math.ceil((this.counted.tokens * MARGIN_QUARTERS) / 4) + Math.floor(step / 4)
    if (needed <= this.tokens) return 'as_possible'
    return this.extend(Math.min(needed + step, this.tokens + affordable))
  }

  private markCovered({ produced, thoughts = '' }: AnswerProgress): 'covered' {
    this.covered = { produced: copyOf(produced), thoughts: copyOf(thoughts) }
    return 'covered'
  }

  /** Counts what arrived. A running report counts if it is larger. */
  private async count(source: AnswerProgress): Promise<void> {
    const parts = [asGeneratedText(source.produced), asGeneratedText(source.thoughts ?? '')]
    // The stream continues to collect during the count.
    const bytes = bytesOf(source)
    const came = parts.map(copyOf)
    const counts = await this.relay.tokens.count(
      came.map(({ text }) => text),
      this.call.caller.account.id,
    )
    const tokens = came.reduce((sum, part, i) => sum + scaledTokens(counts[i] ?? 0, part), 0)
    const reported = source.usage ? outputTokens(source.usage) : 0
    this.counted = { bytes, tokens: Math.max(tokens, reported) }
  }

  /**
   * Extends the hold to this many tokens, in the tick in which they were affordable. Resolves when that is on disk, or
   * when the store has refused it.
   */
  private async extend(tokens: number): Promise<'as_possible' | 'refused'> {
    const { relay, call, hold, model } = this
    const { ledger } = relay
    const amount = heldFor(call.request, model, tokens) - hold.amount
    if (tokens <= this.tokens) return 'as_possible'
    // The hold was made for a dearer model, which failed. It covers these tokens already.
    if (amount <= 0n) {
      this.tokens = tokens
      return 'as_possible'
    }
    const reserved = call.limiterPermit.extend(amount)
    if (reserved.kind === 'limited') return 'as_possible'
    const { reservation } = reserved
    const extended = ledger.extend(hold, amount, reservation && [limitCondition(reservation)])
    if (extended.kind === 'insufficient' && ledger.decides === 'at_once')
      throw new Error('the ledger refused an amount that was available')
    if (extended.kind === 'held' && (await extended.durable).kind === 'durable') {
      this.tokens = tokens
      return 'as_possible'
    }
    call.limiterPermit.retract(amount)
    return 'refused'
  }

  /** The output tokens that there is money for beside those that are paid for. */
  private affordable(): number {
    const { relay, call, hold, model, tokens } = this
    const { available } = relay.ledger.balance(hold.accountId)
    const { spendable } = call.limiterPermit
    const free: NanoUsd = spendable !== undefined && spendable < available ? spendable : available
    // A hold that was made for a dearer model has money left for this one.
    const unused = hold.amount - heldFor(call.request, model, tokens)
    return tokensFor(call.request, model, unused > 0n ? free + unused : free)
  }
}

/** The recorded output limit of an answer that ended because no money was left. */
export const capOfSpent = ({
  growing,
  quoted,
}: {
  readonly growing?: GrowingHold | undefined
  readonly quoted: { readonly outputTokens: number }
}): OutputCap => ({
  tokens: growing?.heldTokens ?? quoted.outputTokens,
  reason: 'balance',
})

/** A copy of the current state, because the stream continues to collect. */
const copyOf = (produced: string | GeneratedText): GeneratedText => {
  const { text, moreChars, bytes } = asGeneratedText(produced)
  return { text, moreChars, bytes }
}

const bytesOf = ({ produced, thoughts = '' }: AnswerProgress): number =>
  asGeneratedText(produced).bytes + asGeneratedText(thoughts).bytes
