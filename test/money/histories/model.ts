/** The ledger as plain arithmetic. It is written from the promises of the ledger and shares no code with it. */

type HoldState =
  | { readonly kind: 'open' }
  | { readonly kind: 'released' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'settled'; readonly cost: bigint; readonly charged: bigint; readonly priceCardId: number }

type ModelHold = { readonly id: string; readonly accountId: string; amount: bigint; state: HoldState }

type Charge = { readonly cost: bigint; readonly priceCardId: number }

type Booking = {
  readonly kind: string
  readonly ref: string
  readonly accountId: string
  readonly change: bigint
}

const sumsOf = (lines: readonly (readonly [string, bigint])[]): string =>
  lines
    .filter(([, amount]) => amount !== 0n)
    .map(([account, amount]) => `${account}=${amount}`)
    .toSorted()
    .join(' ')

export class Model {
  private readonly posted = new Map<string, bigint>()
  private readonly holds = new Map<string, ModelHold>()
  private readonly bookings: Booking[] = []
  private readonly resolved: ModelHold[] = []
  private open: ModelHold[] = []

  addAccount(accountId: string): void {
    this.posted.set(accountId, 0n)
  }

  balance(accountId: string): { posted: bigint; held: bigint; available: bigint } {
    let held = 0n
    for (const hold of this.open) if (hold.accountId === accountId) held += hold.amount
    const posted = this.posted.get(accountId) ?? 0n
    return { posted, held, available: posted - held }
  }

  /** Whether the hold is possible; if so it is made. */
  hold(id: string, accountId: string, amount: bigint): boolean {
    if (this.balance(accountId).available < amount) return false
    this.take(id, accountId, amount)
    return true
  }

  /** A hold that the ledger has made. */
  take(id: string, accountId: string, amount: bigint): void {
    const hold: ModelHold = { id, accountId, amount, state: { kind: 'open' } }
    this.holds.set(id, hold)
    this.open.push(hold)
  }

  /** Whether an open hold may take so much more; if so it does. */
  extend(id: string, amount: bigint): boolean {
    const hold = this.taken(id)
    if (this.balance(hold.accountId).available < amount) return false
    this.grow(id, amount)
    return true
  }

  /** More that the ledger has held for an open hold. */
  grow(id: string, amount: bigint): void {
    this.taken(id).amount += amount
  }

  /** The id of an open hold, any; undefined when there is none. */
  pickOpen(pick: number): string | undefined {
    return this.open[pick % Math.max(1, this.open.length)]?.id
  }

  pickResolved(pick: number): string | undefined {
    return this.resolved[pick % Math.max(1, this.resolved.length)]?.id
  }

  openCount(): number {
    return this.open.length
  }

  holdCount(): number {
    return this.holds.size
  }

  amountOf(id: string): bigint {
    return this.taken(id).amount
  }

  /** What is charged and what is written off: no more than the account has, its own hold included. */
  settle(id: string, { cost, priceCardId }: Charge): { charged: bigint; writtenOff: bigint } {
    const hold = this.taken(id)
    const available = this.balance(hold.accountId).available + hold.amount
    const charged = available < cost ? available : cost
    this.charge(id, { cost, charged, priceCardId })
    return { charged, writtenOff: cost - charged }
  }

  /** A settlement that the ledger has made. */
  charge(id: string, { cost, charged, priceCardId }: Charge & { readonly charged: bigint }): void {
    const hold = this.close(id)
    hold.state = { kind: 'settled', cost, charged, priceCardId }
    this.move(hold.accountId, -charged)
  }

  release(id: string): void {
    this.close(id).state = { kind: 'released' }
  }

  /** The process ended: whoever held money has lost it. */
  restart(): void {
    for (const { id } of this.open) this.expire(id)
  }

  expire(id: string): void {
    this.close(id).state = { kind: 'expired' }
  }

  move(accountId: string, change: bigint): void {
    this.posted.set(accountId, (this.posted.get(accountId) ?? 0n) + change)
  }

  book(booking: Booking): void {
    this.bookings.push(booking)
  }

  /** Everything the database must say of these accounts, a line per fact; see books.ts for the other side. */
  lines(): string[] {
    const accounts = [...this.posted.keys()].map((id) => {
      const { posted, held } = this.balance(id)
      return `account ${id} posted ${posted} held ${held}`
    })
    const bookings = this.bookings.map(({ kind, ref, accountId, change }) => {
      const sums: [string, bigint][] = [
        [accountId, change],
        ['system:funding', -change],
      ]
      return `journal ${kind} ${ref}: ${sumsOf(sums)}`
    })
    return [...accounts, ...bookings, ...[...this.holds.values()].flatMap(linesOfHold)]
  }

  private close(id: string): ModelHold {
    const hold = this.taken(id)
    this.open = this.open.filter((other) => other !== hold)
    this.resolved.push(hold)
    return hold
  }

  private taken(id: string): ModelHold {
    const hold = this.holds.get(id)
    if (!hold) throw new Error(`the model knows no hold ${id}`)
    return hold
  }
}

function linesOfHold({ id, accountId, amount, state }: ModelHold): string[] {
  const end = state.kind === 'settled' ? `${state.charged} ${state.priceCardId}` : 'null null'
  const hold = `hold ${id} of ${accountId} ${amount} ${state.kind} ${end}`
  if (state.kind === 'open' || state.kind === 'expired') return [hold]
  const charged = state.kind === 'settled' ? state.charged : 0n
  const record = `record ${id} of ${accountId} charged ${charged}`
  if (state.kind === 'released') return [hold, record]
  const sums: [string, bigint][] = [
    [accountId, -charged],
    ['system:revenue', state.cost],
    ['system:write-off', charged - state.cost],
  ]
  const entries = sumsOf(sums)
  return entries === '' ? [hold, record] : [hold, record, `journal charge ${id}: ${entries}`]
}
