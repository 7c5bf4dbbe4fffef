/** How a writer ends for good. The process must stop then. */

/**
 * - `store.fatal`: a mistake in this program or in the schema.
 * - `store.went_back`: the database has lost a batch that was acknowledged.
 * - `store.declared_dead`: the other instances have ended this one, because it was silent for too long.
 */
export type WriterEndEvent = 'store.fatal' | 'store.went_back' | 'store.declared_dead'

export class WriterEnd extends Error {
  readonly event: WriterEndEvent

  constructor(event: WriterEndEvent, message: string) {
    super(message)
    this.event = event
  }
}

export const declaredDead = (): WriterEnd =>
  new WriterEnd(
    'store.declared_dead',
    'the other instances have declared this one dead, because it did not reach the database for too long',
  )

/** `batch` is the last batch of this instance in the database, and `durable` the last one that was acknowledged. */
export const wentBack = (batch: bigint | undefined, durable: bigint): WriterEnd =>
  new WriterEnd(
    'store.went_back',
    `the database went back in time: its last batch of this instance is ${batch ?? 'none'}, and ${durable} was ` +
      'acknowledged. It has lost what clients were told',
  )
