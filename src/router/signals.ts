/**
 * What routing policies know of offers: how fast they answer and how often they fail. It is pure: time is passed in.
 * Only numbers are kept, so an offer takes the same memory after any number of requests.
 */
import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'

/** What a plan knows of a request. */
export type RoutedRequest = {
  /** The bytes of all text. */
  readonly textBytes: number
  readonly stream: boolean
  readonly choices: number
  /** The client's own output limit for one choice. */
  readonly outputTokensMax: number | undefined
}

const BYTES_PER_TOKEN = 4

/** About how many tokens the input has. For comparison only. */
export const roughTokens = ({ textBytes }: Pick<RoutedRequest, 'textBytes'>): number =>
  Math.ceil(textBytes / BYTES_PER_TOKEN)

/** About how many bytes so many tokens have. */
export const roughTextBytes = (tokens: number): number => tokens * BYTES_PER_TOKEN

/** Only requests of one class are compared: those of similar input, and either streams or whole replies. */
export type WorkClass = number

const SIZE_BOUNDS = [4 * KIB, 32 * KIB, 256 * KIB]
const CLASSES = 2 * (SIZE_BOUNDS.length + 1)

export function workClassOf({ textBytes, stream }: Pick<RoutedRequest, 'textBytes' | 'stream'>): WorkClass {
  let size = 0
  for (const bound of SIZE_BOUNDS) if (textBytes > bound) size++
  return 2 * size + (stream ? 0 : 1)
}

/** A new time counts at least this much against all earlier ones of its class. */
const SHARE_MIN = 0.1
/** After this time without a request of its class, a new time counts for 63 %. */
const MEMORY_MS = MINUTE_MS
/** An older signal is forgotten. The offer is then tried like one that was never measured. */
const AGE_MAX_MS = 30 * MINUTE_MS
/** The share of failures halves in this time without a request, so that a policy comes back to the offer. */
const FAILURE_HALF_LIFE_MS = MINUTE_MS
/** A shorter answer says little of the speed. */
const PACED_TOKENS_MIN = 16

const newShare = (agoMs: number): number => Math.max(SHARE_MIN, 1 - Math.exp(-agoMs / MEMORY_MS))

/** The signals of one offer. */
export class OfferSignals {
  // Logarithms: a single slow answer then moves the mean little, as times of vendors have long tails.
  private readonly logFirstMs = new Float64Array(CLASSES)
  private readonly logTokenMs = new Float64Array(CLASSES)
  private readonly measuredAtMs = new Float64Array(CLASSES)
  private readonly pacedAtMs = new Float64Array(CLASSES)
  /** How many requests have no first event yet, and when the last one came, or the first of them was sent. */
  private readonly awaited = new Int32Array(CLASSES)
  private readonly progressAtMs = new Float64Array(CLASSES)
  private failures = 0
  private failuresAtMs = 0

  sent(work: WorkClass, nowMs: number): void {
    if (!this.awaited[work]) this.progressAtMs[work] = nowMs
    this.awaited[work] = (this.awaited[work] ?? 0) + 1
  }

  /** A request is no longer awaited: its first event came, it failed, or it was given up. */
  arrived(work: WorkClass, nowMs: number): void {
    this.awaited[work] = Math.max(0, (this.awaited[work] ?? 0) - 1)
    this.progressAtMs[work] = nowMs
  }

  /** The first event of a stream, or a whole reply, came after this time. */
  measured(work: WorkClass, firstEventMs: number, nowMs: number): void {
    const log = Math.log(Math.max(1, firstEventMs))
    const at = this.measuredAtMs[work] ?? 0
    const share = at === 0 || nowMs - at > AGE_MAX_MS ? 1 : newShare(nowMs - at)
    this.logFirstMs[work] = share * log + (1 - share) * (this.logFirstMs[work] ?? 0)
    this.measuredAtMs[work] = nowMs
  }

  /** A request was given up after this time. That only says that its answer would have taken longer. */
  gaveUp(work: WorkClass, waitedMs: number, nowMs: number): void {
    if (waitedMs > (this.firstEventMs(work, nowMs) ?? 0)) this.measured(work, waitedMs, nowMs)
  }

  /**
   * A stream brought so many tokens in this time after its first event. A slow client delays its stream, so a faster
   * one counts three times as much as a slower one.
   */
  paced(
    work: WorkClass,
    { tokens, tookMs }: { readonly tokens: number; readonly tookMs: number },
    nowMs: number,
  ): void {
    if (tokens < PACED_TOKENS_MIN || !(tookMs > 0)) return
    const log = Math.log(tookMs / tokens)
    const at = this.pacedAtMs[work] ?? 0
    const before = this.logTokenMs[work] ?? 0
    const weight = log < before ? 3 : 1
    const share = at === 0 || nowMs - at > AGE_MAX_MS ? 1 : Math.min(1, newShare(nowMs - at) * weight)
    this.logTokenMs[work] = share * log + (1 - share) * before
    this.pacedAtMs[work] = nowMs
  }

  served(nowMs: number): void {
    this.counted(0, nowMs)
  }

  failed(nowMs: number): void {
    this.counted(1, nowMs)
  }

  private counted(failure: 0 | 1, nowMs: number): void {
    this.failures = SHARE_MIN * failure + (1 - SHARE_MIN) * this.failureShare(nowMs)
    this.failuresAtMs = nowMs
  }

  /** The operator has mended the cause of the failures. */
  forgive(): void {
    this.failures = 0
  }

  /** The recent share of attempts that failed, from 0 to 1. */
  failureShare(nowMs: number): number {
    if (this.failures === 0) return 0
    return this.failures * 2 ** (-Math.max(0, nowMs - this.failuresAtMs) / FAILURE_HALF_LIFE_MS)
  }

  /** The usual time to the first event, or to a whole reply. Undefined if it is not known. */
  firstEventMs(work: WorkClass, nowMs: number): number | undefined {
    const at = this.measuredAtMs[work] ?? 0
    return at === 0 || nowMs - at > AGE_MAX_MS ? undefined : Math.exp(this.logFirstMs[work] ?? 0)
  }

  /** The usual time of one token after the first. Undefined if it is not known. */
  tokenMs(work: WorkClass, nowMs: number): number | undefined {
    const at = this.pacedAtMs[work] ?? 0
    return at === 0 || nowMs - at > AGE_MAX_MS ? undefined : Math.exp(this.logTokenMs[work] ?? 0)
  }

  /** How long requests have waited in vain. An offer that hangs shows it here, long before its requests time out. */
  silenceMs(work: WorkClass, nowMs: number): number {
    return this.awaited[work] ? Math.max(0, nowMs - (this.progressAtMs[work] ?? nowMs)) : 0
  }
}

/** What an answer is taken to have before the first has ended. */
const USUAL_OUTPUT_TOKENS = 400

/** The signals of one model, over all its offers. */
export class ModelSignals {
  private outputTokens = 0

  answered(outputTokens: number): void {
    const before = this.outputTokens || outputTokens
    this.outputTokens = SHARE_MIN * outputTokens + (1 - SHARE_MIN) * before
  }

  /** The output tokens that an answer usually has. */
  get usualOutputTokens(): number {
    return this.outputTokens || USUAL_OUTPUT_TOKENS
  }
}
