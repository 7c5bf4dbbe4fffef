/**
 * The life of a request: received → admitted → attempting → answering → ended. The stage decides what may follow, and
 * what happens to the upstream when the client leaves. Every change of the stage is a method here.
 */
import type { OutputCap } from '../modalities/modality.ts'
import type { IdempotencyLock } from '../records/idempotency.ts'
import type { AttemptNote, RequestRecord } from '../records/records.ts'
import type { Permit } from './provider-concurrency.ts'

export type RequestState =
  /** Its body has arrived. It may wait for an earlier answer, or for earlier turns. */
  | { readonly stage: 'received' }
  /** Money is held for it. */
  | { readonly stage: 'admitted' }
  /** Offers are tried one after the other. Without an attempt it waits for the next one. */
  | { readonly stage: 'attempting'; readonly attempt: CurrentAttempt | undefined }
  /** An upstream has committed. Its answer is sent to the client. */
  | { readonly stage: 'answering'; readonly attempt: CurrentAttempt; readonly firstEventMs: number }
  /** Its hold is resolved, as in the record, or it never had one. */
  | { readonly stage: 'ended'; readonly record: RequestRecord | undefined }

/** The running attempt. */
type CurrentAttempt = {
  /** The permit is given back when the request is over, or earlier. */
  readonly permit: Permit
  /** Whether the vendor bills the work to its end even if the client leaves. */
  readonly billsOn: boolean
  /** The vendor's id of the request. */
  readonly upstreamRequestId: string | undefined
}

const RECEIVED: RequestState = { stage: 'received' }
const ADMITTED: RequestState = { stage: 'admitted' }
const WAITING: RequestState = { stage: 'attempting', attempt: undefined }

export class RequestLife {
  private current = RECEIVED
  private readonly notes: AttemptNote[] = []
  private idempotencyLock: IdempotencyLock | undefined
  private cap: OutputCap | undefined
  private headSent = false
  private readonly request: { readonly isBackground: boolean }

  /** `isBackground`: the answer is made without its client, which can only end it by cancelling it. */
  constructor(request: { readonly isBackground: boolean }) {
    this.request = request
  }

  get state(): RequestState {
    return this.current
  }

  /** The lock is kept from before the admission until the end is on disk. */
  get lock(): IdempotencyLock | undefined {
    return this.idempotencyLock
  }

  /** The notes of the attempts so far. */
  get attempts(): readonly AttemptNote[] {
    return this.notes
  }

  /** An output limit that the client did not set: the upstream got it, or the answer was ended at it. */
  get outputCap(): OutputCap | undefined {
    return this.cap
  }

  /** Whether the client got status 200 before any output. Failures are then reported inside the stream. */
  get isHeadSent(): boolean {
    return this.headSent
  }

  get firstEventMs(): number | undefined {
    return this.current.stage === 'answering' ? this.current.firstEventMs : undefined
  }

  get upstreamRequestId(): string | undefined {
    return this.attempt?.upstreamRequestId
  }

  /** Whether the client announced, by an idempotency key, that it will request a missed answer again. */
  get isAwaited(): boolean {
    return this.idempotencyLock !== undefined && !this.request.isBackground
  }

  /** Whether the upstream is read on when the client leaves: it bills to the end anyway, or the answer is awaited. */
  get outlivesClient(): boolean {
    return this.isAwaited || (this.attempt?.billsOn ?? false)
  }

  /** Takes the lock of its idempotency key, before anything else. */
  locked(lock: IdempotencyLock): void {
    this.expect('received')
    this.idempotencyLock = lock
  }

  admitted(cap: OutputCap | undefined): void {
    this.expect('received')
    this.cap = cap
    this.current = ADMITTED
  }

  /** The store has refused its hold, and no attempt has begun. It may be admitted once more. */
  withdrawn(): void {
    this.expect('admitted')
    this.cap = undefined
    this.current = RECEIVED
  }

  /** No attempt is running. The failed one is no longer billed, and the next one has not begun. */
  waiting(): void {
    this.expect('admitted', 'attempting')
    this.current = WAITING
  }

  /** An attempt begins. The billing of the attempt before it stands until this one is sent. */
  attempting(permit: Permit): void {
    // Nobody else would give it back.
    if (this.current.stage === 'ended') permit.leave()
    this.expect('admitted', 'attempting')
    const billsOn = this.attempt?.billsOn ?? false
    this.current = { stage: 'attempting', attempt: { permit, billsOn, upstreamRequestId: this.upstreamRequestId } }
  }

  /** The request is sent, with this output limit of ours. */
  sent({ billsOn, cap }: { readonly billsOn: boolean; readonly cap: OutputCap | undefined }): void {
    this.change({ billsOn, upstreamRequestId: undefined })
    this.cap = cap
  }

  heard(upstreamRequestId: string | undefined): void {
    this.change({ upstreamRequestId })
  }

  /** The vendor has made and billed the work. A client that leaves now pays for it. */
  made(): void {
    if (this.attempt?.billsOn === false) this.change({ billsOn: true })
  }

  /** The client gets the head of a stream. */
  headLeft(): void {
    this.headSent = true
  }

  /** The answer ended at this limit because no money was left. */
  cutAt(cap: OutputCap): void {
    this.cap = cap
  }

  noted(note: AttemptNote): void {
    this.notes.push(note)
  }

  /** The attempt that served failed in the middle of its stream. */
  broke(noteOf: (served: AttemptNote) => AttemptNote): void {
    const served = this.notes.pop()
    if (served) this.notes.push(noteOf(served))
  }

  answering(firstEventMs: number): void {
    this.expect('attempting')
    const { attempt } = this
    if (!attempt) throw new Error('no attempt was made that could answer')
    this.current = { stage: 'answering', attempt, firstEventMs }
  }

  /** The end is on disk. */
  ended(record: RequestRecord | undefined): void {
    this.leavePermit()
    this.idempotencyLock?.end()
    this.current = { stage: 'ended', record }
  }

  /** Gives the permit back. A second call is safe. */
  leavePermit(): void {
    this.attempt?.permit.leave()
  }

  private get attempt(): CurrentAttempt | undefined {
    const { current } = this
    return current.stage === 'attempting' || current.stage === 'answering' ? current.attempt : undefined
  }

  private change(changed: Partial<CurrentAttempt>): void {
    const { current } = this
    if (current.stage === 'answering') this.current = { ...current, attempt: { ...current.attempt, ...changed } }
    else if (current.stage === 'attempting' && current.attempt) {
      this.current = { stage: 'attempting', attempt: { ...current.attempt, ...changed } }
    }
  }

  /** Throws unless the request is in one of these stages: a programmer's error. */
  expect(...stages: readonly RequestState['stage'][]): void {
    const { stage } = this.current
    if (!stages.includes(stage)) throw new Error(`a request cannot take this step from '${stage}'`)
  }
}
