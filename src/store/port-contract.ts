/**
 * What contract suites share. A suite tests one storage port through its interface alone, so that a second store passes
 * the same suite unchanged. The clock of every port is `Date.now` of this process, which a suite may shift.
 */
import type { WriteOutcome, WriteStep } from './statement.ts'
import type { Store } from './store.ts'

/** A port on its own, empty store. */
export type PortUnderTest<Port> = {
  readonly port: Port
  /** Makes an account known to the store. */
  addAccount(id: string): Promise<void>
  /** Runs steps as one transaction. */
  write(steps: readonly WriteStep[]): Promise<WriteOutcome>
  /** Opens the port on the same store, as the next process does. */
  reopen(): Promise<Port>
  close(): Promise<void>
}

/** An empty database, which stores open one after another. On PostgreSQL, several have it open at once. */
export type DatabaseUnderTest = {
  open(): Promise<Store>
  /** Deletes the database. Its stores must be closed. */
  remove(): Promise<void>
}

/** A port that two instances have open on one database. */
export type InstancesUnderTest<Under extends PortUnderTest<unknown>> = {
  readonly first: Under
  readonly second: Under
  close(): Promise<void>
}

/** Opens a port, lets a test use it, and closes it even if the test fails. */
export async function withPort<Under extends { close(): Promise<void> }>(
  open: () => Promise<Under>,
  use: (under: Under) => Promise<void>,
): Promise<void> {
  const under = await open()
  try {
    await use(under)
  } finally {
    await under.close()
  }
}

/** Runs steps that must succeed. */
export async function written(
  under: Pick<PortUnderTest<unknown>, 'write'>,
  steps: readonly WriteStep[],
): Promise<void> {
  const outcome = await under.write(steps)
  if (outcome.kind === 'refused') throw new Error(`refused at step ${outcome.step}: ${outcome.reason}`)
}

/** Runs `work` with the clock shifted. */
export async function shifted<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date
  Date.now = () => now() + byMs
  try {
    return await work()
  } finally {
    Date.now = now
  }
}

/** Pseudo-random choices that repeat with their seed. */
export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = seed
  }

  /** A whole number below `end`. */
  below(end: number): number {
    this.state = (this.state * 48_271) % 2_147_483_647
    return Math.floor((this.state / 2_147_483_647) * end)
  }

  pick<T>(...all: readonly T[]): T {
    return all[this.below(all.length)] as T
  }

  /** Whether an event occurs that occurs once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0
  }
}
