/**
 * A hold that begins with the input and a step of output and grows while the answer arrives, each step durable before
 * the words it pays for leave. It is for answers without a limit of the client's where the most they could cost is not
 * to be had, or would keep the account's other requests out.
 */
import type { Model } from '../domain/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import { outputTokens, type Usage } from '../domain/usage.ts'
import type { AdaptedStream } from '../formats/core/contract.ts'
import { asGeneratedText, scaledTokens, type GeneratedText } from '../formats/core/generated-text.ts'
import type { Hold } from '../ledger/ledger.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import type { OutputCap } from '../modalities/modality.ts'
import { heldFor, cappedShareOf, STEP_TOKENS, stepOf, tokensFor } from '../modalities/token-quote.ts'

/** The share of what is held that a step may have where there is plenty. */
const SHARE_OF_HELD = 4
/** A vendor counts words that do not arrive, of tools and the like; more than that is reasoning. */
const UNSEEN_TOKENS = 256
/** Vendors count the same words differently: so many of a count of ours are held for as many of theirs, in quarters. */
const MARGIN_QUARTERS = 5

export type ArrivedText = { readonly produced: string | GeneratedText; readonly thoughts: string | GeneratedText }

type AnswerProgress = Pick<AdaptedStream, 'produced' | 'thoughts'> & { readonly usage?: Usage | undefined }
type Count = { readonly bytes: number; readonly tokens: number }

const NOTHING: Count = { bytes: 0, tokens: 0 }

export class GrowingHold {
  /** Output tokens that are paid for, all choices together. */
  private tokens: number
  private counted = NOTHING
  /** The stream that was counted: after a failure another one begins. */
  private source: AnswerProgress | undefined
  private cameWhole = false
  /** The limit of a whole answer that cannot be asked for as a stream, per choice. */
  wholeCap: OutputCap | undefined
  /** What of the stream may leave. */
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

  /** What arrived and was paid for. */
  get words(): ArrivedText {
    return this.covered
  }

  /**
   * Has the hold cover what a stream has brought so far. Resolves to `spent` where the money is at its end: what came
   * last must not leave then.
   */
  cover(source: AnswerProgress): 'covered' | Promise<'covered' | 'spent'> {
    if (this.source !== source) {
      this.source = source
      this.counted = NOTHING
    }
    // No text has more tokens than bytes: only when it could pass the hold is it counted.
    const bytes = bytesOf(source) - this.counted.bytes
    return this.counted.tokens + bytes <= this.tokens ? this.cleared(source) : this.grow(source)
  }

  /** The same for a reply that came in one piece, where it was asked for as a stream. */
  async coverWhole(reply: Pick<AnswerProgress, 'produced' | 'usage'>): Promise<void> {
    this.cameWhole = true
    await this.cover(reply)
  }

  /** Has the hold cover an answer that comes in one piece, and limits that to what is held then. */
  async coverUnseen(): Promise<void> {
    await this.extend(this.tokens + cappedShareOf(this.affordable()))
    this.wholeCap = { tokens: Math.floor(this.tokens / this.call.request.choices), reason: 'balance' }
  }

  /** Whether a hold cannot follow such answers: a report has reasoning that did not arrive, or all came at its end. */
  cannotFollow(usage: Usage): boolean {
    if (this.cameWhole || this.wholeCap) return true
    const { produced, thoughts } = this.covered
    const thoughtBytes = asGeneratedText(thoughts).bytes
    return usage.outputReasoning > thoughtBytes || outputTokens(usage) > bytesOf({ produced, thoughts }) + UNSEEN_TOKENS
  }

  private async grow(source: AnswerProgress): Promise<'covered' | 'spent'> {
    await this.count(source)
    const affordable = this.affordable()
    const most = Math.max(STEP_TOKENS, Math.ceil(this.tokens / SHARE_OF_HELD))
    const step = stepOf(affordable, most)
    const needed = Math.ceil((this.counted.tokens * MARGIN_QUARTERS) / 4) + Math.floor(step / 4)
    if (needed > this.tokens) await this.extend(Math.min(needed + step, this.tokens + affordable))
    return this.counted.tokens <= this.tokens ? this.cleared(source) : 'spent'
  }

  private cleared({ produced, thoughts = '' }: AnswerProgress): 'covered' {
    this.covered = { produced: copyOf(produced), thoughts: copyOf(thoughts) }
    return 'covered'
  }

  /** Counts what came. A running report counts where it says more. */
  private async count(source: AnswerProgress): Promise<void> {
    const parts = [asGeneratedText(source.produced), asGeneratedText(source.thoughts ?? '')]
    // The stream goes on collecting while they are counted.
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

  /** Extends the hold to so many tokens, in the tick in which they were affordable; resolves when that is on disk. */
  private async extend(tokens: number): Promise<void> {
    const { relay, call, hold, model } = this
    const amount = heldFor(call.request, model, tokens) - hold.amount
    if (tokens <= this.tokens || !call.limiterPermit.extend(amount)) return
    const extended = relay.ledger.extend(hold, amount)
    if (extended.kind === 'insufficient') throw new Error('what is available was not to be had')
    this.tokens = tokens
    await extended.durable
  }

  private affordable(): number {
    const { available } = this.relay.ledger.balance(this.hold.accountId)
    const { spendable } = this.call.limiterPermit
    const left: NanoUsd = spendable !== undefined && spendable < available ? spendable : available
    return tokensFor(this.call.request, this.model, left)
  }
}

/** What the record says of an answer that was ended for want of money. */
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

/** What it is now: the stream goes on collecting. */
const copyOf = (produced: string | GeneratedText): GeneratedText => {
  const { text, moreChars, bytes } = asGeneratedText(produced)
  return { text, moreChars, bytes }
}

const bytesOf = ({ produced, thoughts = '' }: AnswerProgress): number =>
  asGeneratedText(produced).bytes + asGeneratedText(thoughts).bytes
