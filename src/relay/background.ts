/** Background answers, which are made without their client. It requests them later, follows them, or cancels them. */
import type { Failure } from '../domain/failure.ts'
import type { AnswerFacts, Conversation } from '../formats/core/contract.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import type { RemoteTurns, TurnScope } from '../responses/turns.ts'
import type { GatewayRequest } from './call.ts'
import { limit } from '../lib/primitives/limit.ts'

export type BackgroundLimits = { readonly runsMax: number; readonly runsPerAccountMax: number }
export const backgroundBounds: BackgroundLimits = {
  runsMax: limit('backgroundRunsMax', 256, 'A further background response is refused.'),
  runsPerAccountMax: limit(
    'backgroundRunsPerAccountMax',
    32,
    'A further background response of the account is refused.',
  ),
}

/** How long a client that cancels an answer waits for its settlement. */
const CANCEL_WAIT_MS = 5_000

export class BackgroundResponses {
  private readonly limits: BackgroundLimits
  private readonly running = new Map<string, BackgroundResponse>()
  /** Answers that wait for their holds. */
  private readonly starting = new Set<TurnScope>()
  private readonly remote: RemoteTurns | undefined

  /** `remote`: the answers of other instances, if some share the store. */
  constructor(limits: BackgroundLimits, remote?: RemoteTurns) {
    this.limits = limits
    this.remote = remote
    remote?.onCancel((scope, id) => this.find(scope, id)?.stop('stopped'))
  }

  /** The reason why no further one may begin at the moment, if there is one. */
  obstacle({ accountId }: TurnScope): Failure | undefined {
    const { runsMax, runsPerAccountMax } = this.limits
    if (this.running.size + this.starting.size >= runsMax) {
      const message = 'Too many responses are being made in the background. Try again shortly.'
      return { kind: 'unavailable', message, retryAfterMs: RETRY_MS }
    }
    let own = 0
    for (const response of this.running.values()) if (response.accountId === accountId) own++
    for (const start of this.starting) if (start.accountId === accountId) own++
    if (own < runsPerAccountMax) return undefined
    const message = `This account may have ${runsPerAccountMax} background responses at once, and that many are running.`
    return { kind: 'rate_limited', message, retryAfterMs: RETRY_MS }
  }

  /** Counts an answer among those that run while its hold is written. */
  async whileHeld<T>({ accountId }: TurnScope, held: Promise<T>): Promise<T> {
    const start = { accountId }
    this.starting.add(start)
    try {
      return await held
    } finally {
      this.starting.delete(start)
    }
  }

  /** A running answer of this instance, if there is one of this id. */
  find({ accountId }: TurnScope, id: string): BackgroundResponse | undefined {
    return this.running.get(nameOf(accountId, id))
  }

  /** Cancels a running answer, whichever instance makes it. Resolves when it is settled, or after a timeout. */
  async cancel(scope: TurnScope, id: string, what: 'stopped' | 'forgotten'): Promise<void> {
    const response = this.find(scope, id)
    await (response ? response.cancel(what) : this.remote?.cancel(scope, id))
  }

  /** Runs the answer to its end. `onError` is called for a programmer's error. */
  start(started: ResponseStart, onError: (error: unknown) => void): BackgroundResponse {
    const response = new BackgroundResponse(started)
    const name = nameOf(response.accountId, response.id)
    this.running.set(name, response)
    response.over = response
      .make()
      .catch(onError)
      .finally(() => {
        this.running.delete(name)
        response.ended()
      })
    return response
  }
}

const RETRY_MS = 5_000
const nameOf = (accountId: string, id: string): string => `${accountId}\n${id}`

/** A source of complete events, then undefined. `close` is for stopping early. */
type Events = {
  readonly isEnded: boolean
  next(): Promise<MessageContent | undefined>
  close(): Promise<void>
}

type ResponseStart = {
  readonly call: GatewayRequest
  readonly conversation: Conversation
  readonly facts: AnswerFacts
  readonly id: string
  /** The answer settles itself at its end, or when it is closed. */
  readonly answer: Events
}

/** One background answer while it is made. */
export class BackgroundResponse {
  readonly id: string
  readonly accountId: string
  /** Resolves when its settlement is on disk. Never rejects. */
  over: Promise<void> = Promise.resolve()
  private isOver = false
  private readonly started: ResponseStart
  private changed = Promise.withResolvers<void>()

  constructor(started: ResponseStart) {
    this.started = started
    this.id = started.id
    this.accountId = started.call.caller.account.id
  }

  async make(): Promise<void> {
    const { call, answer } = this.started
    call.whenCancelled((reason) => {
      // Any other reason ends the answer from the upstream's side. This one must be closed as a client would close it.
      // An error of it is handled below, where the same closing is awaited.
      if (reason === 'client_closed') answer.close().catch(() => undefined)
    })
    while (!answer.isEnded) {
      if ((await answer.next()) === undefined) break
      this.tell()
    }
    await answer.close()
  }

  ended(): void {
    this.isOver = true
    this.tell()
  }

  private tell(): void {
    this.changed.resolve()
    this.changed = Promise.withResolvers<void>()
  }

  /** Cancels the answer. It ends soon. */
  stop(what: 'stopped' | 'forgotten'): void {
    const { call, conversation } = this.started
    conversation.cancel(what)
    call.cancel('client_closed')
  }

  /** Cancels the answer. Resolves when it is settled, or after a timeout. */
  async cancel(what: 'stopped' | 'forgotten'): Promise<void> {
    this.stop(what)
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, CANCEL_WAIT_MS)
    await Promise.race([this.over, late.promise])
    clearTimeout(timer)
  }

  /**
   * The events after a number, as they arrive; the last ones once they are settled. Stopping does not end the answer.
   */
  follow(after: number): Events {
    const { conversation, facts } = this.started
    const follower = conversation.follow(facts, after)
    let isEnded = false
    let isLeft = false
    const leave = Promise.withResolvers<void>()
    return {
      get isEnded() {
        return isEnded
      },
      next: async () => {
        for (;;) {
          if (isEnded || isLeft) return undefined
          const { changed } = this
          isEnded = this.isOver
          const text = follower.read(isEnded ? 'end' : 'here')
          if (text !== '' || isEnded) return text
          await Promise.race([changed.promise, leave.promise])
        }
      },
      close: () => {
        isLeft = true
        leave.resolve()
        return Promise.resolve()
      },
    }
  }
}
