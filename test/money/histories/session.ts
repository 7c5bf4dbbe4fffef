/** Plays sessions: many histories at once on the real ledger and the real store, with restarts in between. */
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openSqliteLedger } from '../../../src/ledger/sqlite-ledger.ts'
import { statement } from '../../../src/store/statement.ts'
import { mustWrite, openStore, type Store } from '../../../src/store/store.ts'
import { expectBooks, expectVerified, lastJournalId, Violation } from './books.ts'
import type { Pause, Session } from './command.ts'
import { History } from './history.ts'

export const insertAccount = statement(
  "INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)",
)

/** A deferred hold waits this long: short enough that some are written before they end, and some with their end. */
const DEFER_MS = 2
/** A session takes a tenth of a second. One that takes this long waits for an answer that was lost. */
const STUCK_MS = 30_000
/** So does one whose store had no batch in flight at so many looks in a row. A busy machine also looks less often. */
const IDLE_LOOKS_MAX = 20
const LOOK_EVERY_MS = 250
/** Makes amounts beyond 2^53 for one history of a session: sums over a folder stay far below 2^63. */
export const LARGE_SCALE = 200_000_000_000_001n

/** A data folder with its store and ledger, through as many lives as it takes. */
export class Books {
  readonly folder: string
  restarts = 0
  private life: { readonly store: Store; readonly ledger: Ledger } | undefined
  /** The store, until it is closed. */
  private openStore: Store | undefined
  private readonly broken = Promise.withResolvers<never>()

  constructor(folder: string) {
    this.folder = folder
    // Whoever waits hears of it; nobody waits between two sessions.
    this.broken.promise.catch(() => undefined)
  }

  get store(): Store {
    return this.alive.store
  }

  get ledger(): Ledger {
    return this.alive.ledger
  }

  /** Returns how many holds of the last life expired. */
  async open(): Promise<number> {
    const onBroken = (message: string): never => {
      const violation = new Violation(`the database refused what the ledger had decided: ${message}`)
      this.broken.reject(violation)
      throw violation
    }
    const store = await openStore(this.folder, onBroken, { deferMs: DEFER_MS })
    const { ledger, expired } = await openSqliteLedger(store, { instance: `life ${this.restarts}`, onBroken })
    this.life = { store, ledger }
    this.openStore = store
    return expired
  }

  async close(): Promise<void> {
    const { store } = this.alive
    this.life = undefined
    await store.close()
    this.openStore = undefined
  }

  /** Gives a promise up when the database and the ledger have parted, or when nothing comes of it. */
  async within<T>(promise: Promise<T>): Promise<T> {
    const stuck = Promise.withResolvers<never>()
    const startedMs = performance.now()
    let idleLooks = 0
    const timer = setInterval(() => {
      idleLooks = this.openStore?.waitingMs() === 0 ? idleLooks + 1 : 0
      const isStuck = idleLooks > IDLE_LOOKS_MAX || performance.now() - startedMs > STUCK_MS
      if (isStuck) stuck.reject(new Violation('an answer was lost: nothing moves'))
    }, LOOK_EVERY_MS)
    try {
      return await Promise.race([promise, this.broken.promise, stuck.promise])
    } finally {
      clearInterval(timer)
    }
  }

  private get alive(): { readonly store: Store; readonly ledger: Ledger } {
    if (!this.life) throw new Error('the books are closed')
    return this.life
  }
}

/** What is under way. A violation in it is heard at the next `done`. */
export class UnderWay {
  private writes: Promise<unknown>[] = []
  private failure: Error | undefined

  readonly follow = (write: Promise<unknown>): void => {
    const heard = write.catch((error: unknown) => {
      this.failure ??= error as Error
    })
    this.writes.push(heard)
  }

  async done(): Promise<void> {
    const { writes } = this
    this.writes = []
    await Promise.all(writes)
    this.complain()
  }

  complain(): void {
    if (this.failure) throw this.failure
  }
}

/** A turn of the event loop: continuations of one turn, the ledger's and the model's, never see half of the other. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Every fourth history begins with nothing, the others with enough for a few holds, or more. */
export const FIRST_CREDIT = 50n

let serial = 0

/** Plays one session and compares everything at its end. Returns how many holds were made. Throws a Violation. */
export async function playSession(books: Books, session: Session): Promise<number> {
  const prefix = `s${String(serial++).padStart(8, '0')}.`
  const underWay = new UnderWay()
  const histories = session.histories.map((commands, i) => {
    const place = {
      prefix: `${prefix}${i}.`,
      scale: i === 0 ? LARGE_SCALE : 1n,
      ledger: () => books.ledger,
      follow: underWay.follow,
    }
    return new History(place, commands)
  })
  await books.within(play(books, session, { prefix, histories, underWay }))
  return histories.reduce((sum, { model }) => sum + model.holdCount(), 0)
}

type Cast = { readonly prefix: string; readonly histories: readonly History[]; readonly underWay: UnderWay }

async function play(books: Books, session: Session, { prefix, histories, underWay }: Cast): Promise<void> {
  const afterJournalId = await lastJournalId(books.store)
  await registerAll(books, histories)
  histories.forEach((history, i) => history.fund(BigInt(i % 4) * FIRST_CREDIT))
  const length = Math.max(...histories.map(({ length: own }) => own))
  for (let step = 0; step < length; step++) {
    for (const history of histories) history.step(step)
    if (session.verifications.includes(step)) await expectVerified(books.store)
    if (session.restarts.includes(step)) await restart(books, histories, underWay)
    else await pause(session.pauses[step % session.pauses.length] ?? 'turn', underWay)
    underWay.complain()
  }
  if (session.end === 'expired') await restart(books, histories, underWay)
  else for (const history of histories) history.releaseAll()
  await underWay.done()
  await turn()
  for (const history of histories) history.compare()
  expectOpenHolds(books, histories)
  const lines = histories.flatMap(({ model }) => model.lines())
  await expectBooks(books.store, lines, { prefix, afterJournalId })
  await expectVerified(books.store)
}

async function registerAll(books: Books, histories: readonly History[]): Promise<void> {
  const ids = histories.flatMap(({ accountIds }) => accountIds)
  await mustWrite(
    books.store,
    ids.map((id) => ({ run: insertAccount, bind: [id] })),
  )
  for (const id of ids) books.ledger.register(id)
}

async function pause(kind: Pause, underWay: UnderWay): Promise<void> {
  if (kind === 'drain') await underWay.done()
  if (kind !== 'none') await turn()
}

/** Closes with holds open and writes under way, and opens again. What was acknowledged or queued must be there. */
async function restart(books: Books, histories: readonly History[], underWay: UnderWay): Promise<void> {
  expectOpenHolds(books, histories)
  const orphans = histories.reduce((sum, { model }) => sum + model.openCount(), 0)
  await books.close()
  await underWay.done()
  books.restarts++
  // The first opening of a folder may fail for any reason, this one for a broken promise only: the disk is fine.
  const expired = await books.open().catch((error: unknown) => {
    throw new Violation(`what was open does not open again: ${String(error)}`)
  })
  if (expired !== orphans) throw new Violation(`${expired} holds expired at the start, not ${orphans}`)
  for (const { model } of histories) model.restart()
  for (const history of histories) history.compare()
}

function expectOpenHolds({ ledger }: Books, histories: readonly History[]): void {
  const wanted = histories.reduce((sum, { model }) => sum + model.openCount(), 0)
  if (ledger.openHolds() !== wanted) throw new Violation(`${ledger.openHolds()} holds are open, not ${wanted}`)
}
