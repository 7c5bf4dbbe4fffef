/** How an instance ends because of its database. The process must stop then. */

/**
 * - `store.fatal`: a mistake in this program or in the schema.
 * - `store.went_back`: the database has lost a batch that was acknowledged.
 * - `store.declared_dead`: the other instances have ended this one, because it was silent for too long.
 */
export type StoreEndEvent = 'store.fatal' | 'store.went_back' | 'store.declared_dead'

export class StoreEnd extends Error {
  readonly event: StoreEndEvent

  constructor(event: StoreEndEvent, message: string) {
    super(message)
    this.event = event
  }
}

export const declaredDead = (): StoreEnd =>
  new StoreEnd(
    'store.declared_dead',
    'the other instances have declared this one dead, because it did not reach the database for too long',
  )

/** `last` is the last number in the database. `acknowledged` is the last one that this instance has seen as durable. */
export const wentBack = (
  of: 'batch of this instance' | 'change',
  last: bigint | undefined,
  acknowledged: bigint,
): StoreEnd =>
  new StoreEnd(
    'store.went_back',
    `the database went back in time: its last ${of} is ${last ?? 'none'}, and ${acknowledged} was acknowledged. ` +
      'It has lost what clients were told',
  )
