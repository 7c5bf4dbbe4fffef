/**
 * One history on two accounts of its own, played by several ledgers on one database. The database decides when it
 * writes, so each decision is compared when it is acknowledged.
 */
import type { Hold, HoldOutcome, Ledger } from '../../../src/ledger/ledger.ts'
import { Violation } from './books.ts'
import { Bounds, type Decision } from './bounds.ts'
import type { Command } from './command.ts'
import { describeCommand, expectNotOpen, expectThrow, PRICE_CARD, recordOf, TOO_LARGE } from './history.ts'
import { Model } from './model.ts'

type Kind<K extends Command['kind']> = Extract<Command, { kind: K }>

export type SharedPlace = {
  /** Begins the ids of everything the history makes. */
  readonly prefix: string
  readonly scale: bigint
  /** The ledgers that live now. */
  readonly ledgers: () => readonly Ledger[]
  /** Takes what is under way: it must come to a good end before the session does. */
  readonly follow: (write: Promise<unknown>) => void
}

/** A hold, and the ledger that made it. */
type OwnedHold = { readonly hold: Hold; readonly ledger: Ledger; readonly isSoon: boolean }

export class SharedHistory {
  readonly model = new Model()
  readonly accountIds: readonly [string, string]
  private readonly place: SharedPlace
  private readonly commands: readonly Command[]
  private readonly bounds = new Map<string, Bounds>()
  private readonly owned = new Map<string, OwnedHold>()
  /** Durable holds that nothing is being done to. */
  private readonly free: string[] = []
  private readonly booked: string[] = []
  private serial = 0

  constructor(place: SharedPlace, commands: readonly Command[]) {
    this.place = place
    this.commands = commands
    this.accountIds = [`${place.prefix}a`, `${place.prefix}b`]
    for (const id of this.accountIds) {
      this.model.addAccount(id)
      this.bounds.set(id, new Bounds())
    }
  }

  get length(): number {
    return this.commands.length
  }

  fund(size: bigint): void {
    const first = { kind: 'adjust', as: 'credit', size, ref: 'fresh', pick: 0 } as const
    if (size > 0n) for (const account of [0, 1]) this.adjust({ ...first, account }, this.ledgerOf(account))
  }

  /** Plays a command. One that finds nothing to do is left out. */
  step(index: number): void {
    const command = this.commands[index]
    if (!command) return
    this.telling(index, command, () => this.play(command, this.ledgerOf(index)))
  }

  releaseAll(): void {
    while (this.free.length > 0) this.release({ kind: 'release', pick: 0 })
  }

  /** The ids of the open holds of a ledger. Nothing may be under way. */
  openHoldsOf(ledger: Ledger): readonly string[] {
    return this.free.filter((id) => this.ownedHold(id).ledger === ledger)
  }

  /** A ledger has ended, and its holds have expired. */
  expire(ledger: Ledger): void {
    for (const id of this.openHoldsOf(ledger)) {
      this.free.splice(this.free.indexOf(id), 1)
      this.model.expire(id)
      const { hold } = this.ownedHold(id)
      this.ends(hold.accountId, this.begins(hold.accountId, 0n, hold.amount), hold.amount)
    }
  }

  private play(command: Command, ledger: Ledger): void {
    switch (command.kind) {
      case 'hold':
        return this.hold(command, ledger)
      case 'extend':
        return this.extend(command)
      case 'settle':
        return this.settle(command)
      case 'release':
        return this.release(command)
      case 'again':
        return this.resolveAgain(command)
      case 'adjust':
        return this.adjust(command, ledger)
      case 'misuse':
        return this.misuse(command, ledger)
    }
  }

  private hold({ account, size, written }: Kind<'hold'>, ledger: Ledger): void {
    const id = `${this.place.prefix}h${this.serial++}`
    const accountId = this.accountOf(account)
    const amount = size * this.place.scale
    const result = ledger.hold({ id, accountId, amount, written })
    if (result.kind !== 'held') return this.refusedAtOnce(`a hold of ${amount}`, accountId, amount)
    this.owned.set(id, { hold: result.hold, ledger, isSoon: written === 'soon' })
    const decision = this.begins(accountId, -amount, 0n)
    this.decided(result.durable, `a hold of ${amount}`, decision, (isHeld) => {
      this.ends(accountId, decision, isHeld ? -amount : 0n)
      if (!isHeld) return
      this.model.take(id, accountId, amount)
      this.free.push(id)
    })
  }

  private extend({ pick, size }: Kind<'extend'>): void {
    const taken = this.takeFree(pick)
    if (!taken) return
    const { id, hold, ledger, isSoon } = taken
    const amount = size * this.place.scale
    if (isSoon) {
      this.free.push(id)
      return expectThrow(() => ledger.extend(hold, amount), 'a hold that was made to wait was extended')
    }
    const result = ledger.extend(hold, amount)
    if (result.kind !== 'held') {
      this.free.push(id)
      return this.refusedAtOnce(`${amount} more for ${id}`, hold.accountId, amount)
    }
    const decision = this.begins(hold.accountId, -amount, 0n)
    this.decided(result.durable, `${amount} more for ${id}`, decision, (isHeld) => {
      this.ends(hold.accountId, decision, isHeld ? -amount : 0n)
      if (isHeld) this.model.grow(id, amount)
      this.free.push(id)
    })
  }

  private settle({ pick, cost: relation, size }: Kind<'settle'>): void {
    const taken = this.takeFree(pick)
    if (!taken) return
    const { id, hold, ledger } = taken
    const { amount, accountId } = hold
    const parts = { below: (amount * size) / 51n, at: amount, above: amount + size * this.place.scale }
    const cost = parts[relation]
    const excess = cost > amount ? cost - amount : 0n
    const decision = this.begins(accountId, -excess, cost < amount ? amount - cost : 0n, 'remembered')
    let charged: bigint | undefined
    const settled = ledger.settle(hold, { cost, priceCardId: PRICE_CARD }, (settlement) => {
      ;({ charged } = settlement)
      if (charged + settlement.writtenOff !== cost) throw new Violation(`${id} is settled for another cost`)
      return [recordOf(hold, charged, settlement.writtenOff)]
    })
    const compared = settled.then(() => {
      if (charged === undefined) throw new Violation(`${id} was settled and nobody was told the charge`)
      const [least, most] = [decision.low, decision.high].map((available) => clamp(amount + available, amount, cost))
      if (charged < (least as bigint) || charged > (most as bigint)) {
        throw new Violation(
          `${id} of ${amount} was charged ${charged} of ${cost}, where ${least} to ${most} was possible`,
        )
      }
      // What is charged beyond a hold is held first.
      if (charged > amount) this.model.grow(id, charged - amount)
      this.model.charge(id, { cost, charged, priceCardId: PRICE_CARD })
      this.ends(accountId, decision, amount - charged)
    })
    this.place.follow(compared)
  }

  private release({ pick }: Kind<'release'>): void {
    const taken = this.takeFree(pick)
    if (!taken) return
    const { id, hold, ledger } = taken
    const decision = this.begins(hold.accountId, 0n, hold.amount)
    const released = ledger.release(hold, [recordOf(hold, 0n, 0n)]).then(() => {
      this.model.release(id)
      this.ends(hold.accountId, decision, hold.amount)
    })
    this.place.follow(released)
  }

  private resolveAgain({ pick, as }: Kind<'again'>): void {
    const id = this.model.pickResolved(pick)
    if (id === undefined) return
    const { hold } = this.ownedHold(id)
    const ledger = this.ledgerOf(pick)
    if (ledger.isOpen(hold)) throw new Violation(`${id} is resolved and counts as open`)
    const charge = { cost: 1n, priceCardId: PRICE_CARD }
    const again = as === 'settle' ? ledger.settle(hold, charge, () => []) : ledger.release(hold, [])
    this.place.follow(expectNotOpen(again, `${id} could be resolved twice`))
  }

  private adjust({ as: kind, account, size, ref: which, pick }: Kind<'adjust'>, ledger: Ledger): void {
    const accountId = this.accountOf(account)
    const amount = size * this.place.scale
    const used = which === 'used' ? this.booked[pick % Math.max(1, this.booked.length)] : undefined
    const ref = used ?? `${this.place.prefix}j${this.serial++}`
    const change = kind === 'debit' ? -amount : amount
    const most = change > 0n && used === undefined ? change : 0n
    const decision = this.begins(accountId, change < 0n ? change : 0n, most, 'remembered')
    const compared = ledger.adjust({ accountId, amount, kind, ref, reason: 'test' }).then((result) => {
      const possible = new Set<string>()
      if (used !== undefined) possible.add('duplicate_ref')
      else if (change > 0n || decision.high >= amount) possible.add('booked')
      if (change < 0n && decision.low < amount) possible.add('insufficient')
      if (!possible.has(result.kind)) {
        throw new Violation(`${kind} ${ref} was ${result.kind}, not ${[...possible].join(' or ')}`)
      }
      const isBooked = result.kind === 'booked'
      this.ends(accountId, decision, isBooked ? change : 0n)
      if (!isBooked) return
      this.booked.push(ref)
      this.model.book({ kind, ref, accountId, change })
      this.model.move(accountId, change)
    })
    this.place.follow(compared)
  }

  private misuse({ as, account }: Kind<'misuse'>, ledger: Ledger): void {
    const accountId = this.accountOf(account)
    const id = `${this.place.prefix}m${this.serial++}`
    const booking = { accountId, amount: TOO_LARGE, kind: 'credit', ref: id, reason: 'test' } as const
    const expectResult = (adjusted: ReturnType<Ledger['adjust']>, wanted: string): void => {
      const compared = adjusted.then(({ kind }) => {
        if (kind !== wanted) throw new Violation(`an adjustment was ${kind}, not ${wanted}`)
      })
      this.place.follow(compared)
    }
    switch (as) {
      case 'registered again':
        return ledger.register(accountId)
      case 'negative hold':
        return expectThrow(() => ledger.hold({ id, accountId, amount: -1n }), 'a negative hold was taken')
      case 'unknown account':
        expectResult(ledger.adjust({ ...booking, accountId: `${id}?`, amount: 1n }), 'unknown_account')
        return expectThrow(() => ledger.hold({ id, accountId: `${id}?`, amount: 0n }), 'an unknown account held money')
      case 'too large':
        return expectResult(ledger.adjust(booking), 'too_large')
    }
  }

  private refusedAtOnce(what: string, accountId: string, amount: bigint): void {
    const { rememberedLow } = this.boundsOf(accountId)
    if (rememberedLow >= amount) throw new Violation(`${what} was refused, and there was at least ${rememberedLow}`)
  }

  /** Compares a decision with what was possible when it is acknowledged, and then counts it. */
  private decided(
    durable: Promise<HoldOutcome>,
    what: string,
    decision: Decision,
    count: (isHeld: boolean) => void,
  ): void {
    const compared = durable.then((outcome) => {
      const isHeld = outcome.kind === 'durable'
      const { low, high, least } = decision
      if (isHeld && high < -least) throw new Violation(`${what} was held, and there was at most ${high}`)
      if (!isHeld && low >= -least) throw new Violation(`${what} was refused, and there was at least ${low}`)
      if (!isHeld && outcome.refusal.kind !== 'insufficient') throw new Violation(`${what}: ${outcome.refusal.kind}`)
      count(isHeld)
    })
    this.place.follow(compared)
  }

  private takeFree(pick: number): (OwnedHold & { readonly id: string }) | undefined {
    const [id] = this.free.splice(pick % Math.max(1, this.free.length), 1)
    return id === undefined ? undefined : { id, ...this.ownedHold(id) }
  }

  private begins(accountId: string, least: bigint, most: bigint, by?: 'row' | 'remembered'): Decision {
    return this.boundsOf(accountId).begin({ least, most }, by)
  }

  private ends(accountId: string, decision: Decision, change: bigint): void {
    this.boundsOf(accountId).end(decision, change)
  }

  private boundsOf(accountId: string): Bounds {
    return this.bounds.get(accountId) as Bounds
  }

  private ledgerOf(index: number): Ledger {
    const ledgers = this.place.ledgers()
    return ledgers[index % ledgers.length] as Ledger
  }

  private accountOf(index: number): string {
    return this.accountIds[index] ?? this.accountIds[0]
  }

  private ownedHold(id: string): OwnedHold {
    const owned = this.owned.get(id)
    if (!owned) throw new Error(`the history made no hold ${id}`)
    return owned
  }

  private telling(index: number, command: Command, act: () => void): void {
    try {
      act()
    } catch (error) {
      if (error instanceof Violation)
        error.message += `, at ${this.place.prefix} step ${index}: ${describeCommand(command)}`
      throw error
    }
  }
}

const clamp = (value: bigint, least: bigint, most: bigint): bigint => {
  if (most < least) return most
  if (value < least) return least
  return value > most ? most : value
}
