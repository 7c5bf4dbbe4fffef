/** Plays sessions on a database of PostgreSQL that several ledgers share, each with a store of its own. */
import { SQL } from 'bun'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { expireHoldsOf } from '../../../src/ledger/dead-instance.ts'
import { openPostgresLedger } from '../../../src/ledger/postgres-ledger.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { mustWrite, type Store } from '../../../src/store/store.ts'
import { expectBooks, expectVerified, lastJournalId, Violation } from './books.ts'
import type { Pause, Session } from './command.ts'
import { FIRST_CREDIT, insertAccount, LARGE_SCALE, turn, UnderWay } from './session.ts'
import { SharedHistory } from './shared-history.ts'

/** A session takes a second. One that takes this long waits for an answer that was lost. */
const STUCK_MS = 60_000
/** What one pause of a session is. Most writes take longer, so several are under way at once. */
const PAUSE_MS = 1

type Life = { readonly instance: string; readonly store: Store; readonly ledger: Ledger }

/** A database, and the ledgers that live on it. */
export class SharedBooks {
  restarts = 0
  private readonly url: string
  private readonly folder: string
  private readonly admin: SQL
  private readonly lives: Life[] = []
  private readonly broken = Promise.withResolvers<never>()

  private constructor(url: string, folder: string) {
    this.url = url
    this.folder = folder
    this.admin = new SQL(url, { max: 1, bigint: true })
    // Whoever waits hears of it; nobody waits between two sessions.
    this.broken.promise.catch(() => undefined)
  }

  /** Makes an empty database on a server, and opens ledgers on it. */
  static async open(server: string, folder: string, ledgers: number): Promise<SharedBooks> {
    const url = new URL(server)
    url.pathname = `/histories_${crypto.randomUUID().replaceAll('-', '')}`
    const sql = new SQL(server, { max: 1 })
    await sql.unsafe(`CREATE DATABASE ${url.pathname.slice(1)}`).simple()
    await sql.close()
    const books = new SharedBooks(url.href, folder)
    for (let i = 0; i < ledgers; i++) books.lives.push(await books.live())
    return books
  }

  get ledgers(): readonly Ledger[] {
    return this.lives.map(({ ledger }) => ledger)
  }

  /** The store of the first ledger, to look at the books. */
  get store(): Store {
    return (this.lives[0] as Life).store
  }

  /** Ends a ledger with holds open, as a process that is stopped. Another one expires them, and a new one begins. */
  async restart(index: number): Promise<void> {
    const at = index % this.lives.length
    const ended = this.lives[at] as Life
    await ended.store.close()
    this.restarts++
    const next = await this.live()
    this.lives[at] = next
    const [row] = await this.admin<{ beat: string; state: string }[]>`
      SELECT beat::text AS beat, state FROM instance WHERE id = ${ended.instance}`
    const open = ended.ledger.openHolds()
    if (row?.state === 'gone') {
      if (open > 0) throw new Violation(`an instance is gone with ${open} open holds`)
      return
    }
    const expired = await expireHoldsOf(next.store, { id: ended.instance, beat: row?.beat ?? '' })
    if (expired !== open) throw new Violation(`${expired} holds expired at the end of an instance, not ${open}`)
  }

  async close(): Promise<void> {
    for (const { store } of this.lives) await store.close()
    await this.expectNoDeadlock()
    await this.admin.close()
  }

  /** Batches that wait for each other end after a second, and one is written again. None may have to. */
  private async expectNoDeadlock(): Promise<void> {
    const [row] = await this.admin<{ deadlocks: bigint }[]>`
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
    if (row && row.deadlocks > 0n) throw new Violation(`${row.deadlocks} batches waited for each other`)
  }

  /** Gives a promise up when the database and a ledger have parted, or when nothing comes of it. */
  async within<T>(promise: Promise<T>): Promise<T> {
    const stuck = Promise.withResolvers<never>()
    const timer = setTimeout(() => stuck.reject(new Violation('an answer was lost: nothing moves')), STUCK_MS)
    try {
      return await Promise.race([promise, this.broken.promise, stuck.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  private async live(): Promise<Life> {
    const onBroken = (message: string): never => {
      const violation = new Violation(`the database refused what a ledger had decided: ${message}`)
      this.broken.reject(violation)
      throw violation
    }
    const instance = `run_${crypto.randomUUID()}`
    const store = await openPostgresStore(this.url, { folder: this.folder, instance, onFatal: onBroken })
    const ledger = await openPostgresLedger(store, { instance, onBroken })
    return { instance, store, ledger }
  }
}

let serial = 0

/** Plays one session and compares everything at its end. Returns how many holds were made. Throws a Violation. */
export async function playSharedSession(books: SharedBooks, session: Session): Promise<number> {
  const prefix = `s${String(serial++).padStart(8, '0')}.`
  const underWay = new UnderWay()
  const histories = session.histories.map((commands, i) => {
    const place = {
      prefix: `${prefix}${i}.`,
      scale: i === 0 ? LARGE_SCALE : 1n,
      ledgers: () => books.ledgers,
      follow: underWay.follow,
    }
    return new SharedHistory(place, commands)
  })
  await books.within(play(books, session, { prefix, histories, underWay }))
  return histories.reduce((sum, { model }) => sum + model.holdCount(), 0)
}

type Cast = { readonly prefix: string; readonly histories: readonly SharedHistory[]; readonly underWay: UnderWay }

async function play(books: SharedBooks, session: Session, { prefix, histories, underWay }: Cast): Promise<void> {
  const afterJournalId = await lastJournalId(books.store)
  const ids = histories.flatMap(({ accountIds }) => accountIds)
  await mustWrite(
    books.store,
    ids.map((id) => ({ run: insertAccount, bind: [id] })),
  )
  for (const ledger of books.ledgers) for (const id of ids) ledger.register(id)
  histories.forEach((history, i) => history.fund(BigInt(i % 4) * FIRST_CREDIT))
  const length = Math.max(...histories.map(({ length: own }) => own))
  for (let step = 0; step < length; step++) {
    for (const history of histories) history.step(step)
    if (session.verifications.includes(step)) await expectVerified(books.store)
    if (session.restarts.includes(step)) await restart(books, step, { prefix, histories, underWay })
    else await pause(session.pauses[step % session.pauses.length] ?? 'turn', underWay)
    underWay.complain()
  }
  await underWay.done()
  if (session.end === 'expired') {
    for (const i of books.ledgers.keys()) await restart(books, i, { prefix, histories, underWay })
  } else for (const history of histories) history.releaseAll()
  await underWay.done()
  expectOpenHolds(books, histories)
  const lines = histories.flatMap(({ model }) => model.lines())
  await expectBooks(books.store, lines, { prefix, afterJournalId })
  await expectVerified(books.store)
}

async function pause(kind: Pause, underWay: UnderWay): Promise<void> {
  if (kind === 'drain') await underWay.done()
  else if (kind === 'turn') await Bun.sleep(PAUSE_MS)
  else await turn()
}

/** What a ledger has been asked is written before it ends. Its holds stay open. */
async function restart(books: SharedBooks, index: number, { histories, underWay }: Cast): Promise<void> {
  await underWay.done()
  expectOpenHolds(books, histories)
  const ended = books.ledgers[index % books.ledgers.length] as Ledger
  await books.restart(index)
  for (const history of histories) history.expire(ended)
}

function expectOpenHolds({ ledgers }: SharedBooks, histories: readonly SharedHistory[]): void {
  for (const ledger of ledgers) {
    const wanted = histories.reduce((sum, history) => sum + history.openHoldsOf(ledger).length, 0)
    if (ledger.openHolds() !== wanted) throw new Violation(`${ledger.openHolds()} holds are open, not ${wanted}`)
  }
}
