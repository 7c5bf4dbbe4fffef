import { statement, type WriteStep } from '../../../src/store/statement.ts'
import type { Hold, Ledger } from '../../../src/ledger/ledger.ts'
import { Violation } from './books.ts'
import type { Command } from './command.ts'
import { Model } from './model.ts'

const insertRecord = statement(
  `INSERT INTO request_record (account_id, id, key_id, endpoint, model, stream, status, outcome, input_fresh,
    input_cached, cache_write_5m, cache_write_1h, output_text, output_reasoning, price_card_id, held, charged, written_off,
    upstream_cost, attempts, created_at, total_ms)
   VALUES (?, ?, 'k', 'e', 'm', 0, 200, 'completed', 0, 0, 0, 0, 0, 0, 1, ?, ?, ?, 0, '[]', 0, 0)`,
)

/** The request's row that goes along with a settlement or a release. */
export function recordOf(hold: Hold, charged: bigint, writtenOff: bigint): WriteStep {
  return { run: insertRecord, bind: [hold.accountId, hold.id, hold.amount, charged, writtenOff] }
}

/** Above what any account may have, by one. */
export const TOO_LARGE = 4_000_000_000_000_000_001n
export const PRICE_CARD = 1

const FIRST = { ref: 'fresh', pick: 0 } as const

type Kind<K extends Command['kind']> = Extract<Command, { kind: K }>

export type HistoryPlace = {
  /** Begins the ids of everything the history makes. */
  readonly prefix: string
  /** What a size of one is worth. */
  readonly scale: bigint
  /** The ledger of this life of the process. */
  readonly ledger: () => Ledger
  /** Takes what is under way: it must come to a good end before the session does. */
  readonly follow: (write: Promise<unknown>) => void
}

/**
 * One history on two accounts of its own. Every command is done to the ledger and to the model in the same tick, and
 * both must agree at once, whatever is still on its way to the disk.
 */
export class History {
  readonly model = new Model()
  readonly accountIds: readonly [string, string]
  private readonly place: HistoryPlace
  private readonly commands: readonly Command[]
  private readonly made = new Map<string, Hold>()
  private readonly writtenSoon = new Set<string>()
  private readonly refs: string[] = []
  private serial = 0

  constructor(place: HistoryPlace, commands: readonly Command[]) {
    this.place = place
    this.commands = commands
    this.accountIds = [`${place.prefix}a`, `${place.prefix}b`]
    for (const id of this.accountIds) this.model.addAccount(id)
  }

  get length(): number {
    return this.commands.length
  }

  /** Gives each account a first credit, which is under way like any other. */
  fund(size: bigint): void {
    if (size > 0n) for (const account of [0, 1]) this.adjust({ kind: 'adjust', as: 'credit', account, size, ...FIRST })
  }

  step(index: number): void {
    const command = this.commands[index]
    if (!command) return
    try {
      this.play(command)
      this.compare()
    } catch (error) {
      if (error instanceof Violation)
        error.message += `, at ${this.place.prefix} step ${index}: ${describeCommand(command)}`
      throw error
    }
  }

  private play(command: Command): void {
    switch (command.kind) {
      case 'hold':
        return this.hold(command)
      case 'extend':
        return this.extend(command)
      case 'settle':
        return this.settle(command)
      case 'release':
        return this.release(this.model.pickOpen(command.pick))
      case 'again':
        return this.resolveAgain(command)
      case 'adjust':
        return this.adjust(command)
      case 'misuse':
        return this.misuse(command)
    }
  }

  compare(): void {
    for (const id of this.accountIds) {
      const [found, wanted] = [this.place.ledger().balance(id), this.model.balance(id)]
      const isSame = found.posted === wanted.posted && found.held === wanted.held
      if (isSame && found.available === wanted.available) continue
      throw new Violation(`balance ${id} is ${found.posted} − ${found.held}, not ${wanted.posted} − ${wanted.held}`)
    }
  }

  releaseAll(): void {
    for (let id = this.model.pickOpen(0); id; id = this.model.pickOpen(0)) this.release(id)
  }

  private hold({ account, size, written }: Kind<'hold'>): void {
    const id = `${this.place.prefix}h${this.serial++}`
    const accountId = this.accountOf(account)
    const amount = size * this.place.scale
    const isPossible = this.model.hold(id, accountId, amount)
    const result = this.place.ledger().hold({ id, accountId, amount, written })
    if ((result.kind === 'held') !== isPossible) throw new Violation(`a hold of ${amount} was ${result.kind}`)
    if (result.kind !== 'held') return
    this.made.set(id, result.hold)
    if (written === 'soon') this.writtenSoon.add(id)
    this.place.follow(result.durable)
  }

  private extend({ pick, size }: Kind<'extend'>): void {
    const id = this.model.pickOpen(pick)
    const hold = id === undefined ? undefined : this.holdOf(id)
    // A hold that waits is written with its end: it stays as it is.
    if (id === undefined || !hold || this.writtenSoon.has(id)) return
    const amount = size * this.place.scale
    const isPossible = this.model.extend(id, amount)
    const result = this.place.ledger().extend(hold, amount)
    if ((result.kind === 'held') !== isPossible) throw new Violation(`${amount} more for ${id} was ${result.kind}`)
    if (result.kind === 'held') this.place.follow(result.durable)
  }

  private settle({ pick, cost: relation, size }: Kind<'settle'>): void {
    const id = this.model.pickOpen(pick)
    if (id === undefined) return
    const amount = this.model.amountOf(id)
    const parts = { below: (amount * size) / 51n, at: amount, above: amount + size * this.place.scale }
    const cost = parts[relation]
    const wanted = this.model.settle(id, { cost, priceCardId: PRICE_CARD })
    const hold = this.holdOf(id)
    const written = this.place.ledger().settle(hold, { cost, priceCardId: PRICE_CARD }, ({ charged, writtenOff }) => {
      if (charged !== wanted.charged || writtenOff !== wanted.writtenOff) {
        throw new Violation(`${id} was charged ${charged} and ${writtenOff} written off, not ${wanted.charged}`)
      }
      return [recordOf(hold, charged, writtenOff)]
    })
    this.place.follow(written)
  }

  private release(id: string | undefined): void {
    if (id === undefined) return
    this.model.release(id)
    const hold = this.holdOf(id)
    this.place.follow(this.place.ledger().release(hold, [recordOf(hold, 0n, 0n)]))
  }

  private resolveAgain({ pick, as }: Kind<'again'>): void {
    const id = this.model.pickResolved(pick)
    if (id === undefined) return
    const hold = this.holdOf(id)
    const ledger = this.place.ledger()
    if (ledger.isOpen(hold)) throw new Violation(`${id} is resolved and counts as open`)
    const charge = { cost: 1n, priceCardId: PRICE_CARD }
    const again = as === 'settle' ? ledger.settle(hold, charge, () => []) : ledger.release(hold, [])
    this.place.follow(expectNotOpen(again, `${id} could be resolved twice`))
  }

  private adjust({ as: kind, account, size, ref: which, pick }: Kind<'adjust'>): void {
    const accountId = this.accountOf(account)
    const amount = size * this.place.scale
    const used = which === 'used' ? this.refs[pick % Math.max(1, this.refs.length)] : undefined
    const ref = used ?? `${this.place.prefix}j${this.serial++}`
    const isPossible = kind !== 'debit' || this.model.balance(accountId).available >= amount
    const wanted = !isPossible ? 'insufficient' : used === undefined ? 'booked' : 'duplicate_ref'
    const change = kind === 'debit' ? -amount : amount
    // A debit is gone at once, a credit comes with its commit; the same reference once more moves nothing in the end.
    if (isPossible && change < 0n) this.model.move(accountId, change)
    if (wanted === 'booked') {
      this.refs.push(ref)
      this.model.book({ kind, ref, accountId, change })
    }
    const booked = this.place.ledger().adjust({ accountId, amount, kind, ref, reason: 'test' })
    const compared = booked.then((result) => {
      if (result.kind !== wanted) throw new Violation(`${kind} ${ref} was ${result.kind}, not ${wanted}`)
      if (wanted === 'booked' && change > 0n) this.model.move(accountId, change)
      if (wanted === 'duplicate_ref' && change < 0n) this.model.move(accountId, -change)
    })
    this.place.follow(compared)
  }

  private misuse({ as, account }: Kind<'misuse'>): void {
    const ledger = this.place.ledger()
    const accountId = this.accountOf(account)
    const id = `${this.place.prefix}m${this.serial++}`
    const booking = { accountId, amount: TOO_LARGE, kind: 'credit', ref: id, reason: 'test' } as const
    switch (as) {
      case 'registered again':
        return ledger.register(accountId)
      case 'negative hold':
        return expectThrow(() => ledger.hold({ id, accountId, amount: -1n }), 'a negative hold was taken')
      case 'unknown account':
        this.expectResult(ledger.adjust({ ...booking, accountId: `${id}?`, amount: 1n }), 'unknown_account')
        return expectThrow(() => ledger.hold({ id, accountId: `${id}?`, amount: 0n }), 'an unknown account held money')
      case 'too large':
        return this.expectResult(ledger.adjust(booking), 'too_large')
    }
  }

  private expectResult(adjusted: ReturnType<Ledger['adjust']>, wanted: string): void {
    const compared = adjusted.then(({ kind }) => {
      if (kind !== wanted) throw new Violation(`an adjustment was ${kind}, not ${wanted}`)
    })
    this.place.follow(compared)
  }

  private accountOf(index: number): string {
    return this.accountIds[index] ?? this.accountIds[0]
  }

  private holdOf(id: string): Hold {
    const hold = this.made.get(id)
    if (!hold) throw new Error(`the history made no hold ${id}`)
    return hold
  }
}

export function expectThrow(act: () => unknown, complaint: string): void {
  try {
    act()
  } catch {
    return // As it should.
  }
  throw new Violation(complaint)
}

export async function expectNotOpen(act: Promise<void>, complaint: string): Promise<void> {
  const isRefused = await act.then(
    () => false,
    (error: unknown) => String(error).includes('not open'),
  )
  if (!isRefused) throw new Violation(complaint)
}

export const describeCommand = (command: Command): string =>
  JSON.stringify(command, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
