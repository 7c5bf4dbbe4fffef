/**
 * bun test/money/cluster/instance.ts PLAN: the store, the ledger and the limiter of one instance, with clients that
 * hold and settle without a pause. PLAN is JSON (an InstancePlan). Everything that is acknowledged is appended to a
 * file at once, so that it outlives any end of this process. It prints `ready`, and how it ended if the database ended
 * it.
 */
import { openSync, writeSync } from 'node:fs'
import type { Caller } from '../../../src/domain/account.ts'
import { counterExpirySteps } from '../../../src/accounts/limit-counter-holds.ts'
import { limitsOf, NO_LIMITS } from '../../../src/domain/limits.ts'
import type { LimiterPermit } from '../../../src/accounts/limiter.ts'
import { openPostgresLimiter } from '../../../src/accounts/postgres-limiter.ts'
import { alsoOnExpiry } from '../../../src/gateway.ts'
import type { Hold, Ledger } from '../../../src/ledger/ledger.ts'
import { expireHoldsOf } from '../../../src/ledger/dead-instance.ts'
import { openPostgresLedger } from '../../../src/ledger/postgres-ledger.ts'
import { limitCondition } from '../../../src/relay/hold-conditions.ts'
import { SilenceWatch } from '../../../src/store/postgres/silence-watch.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import type { WriteStep } from '../../../src/store/statement.ts'
import { recordOf } from '../histories/history.ts'

export type InstancePlan = {
  readonly url: string
  readonly name: string
  readonly folder: string
  /** The file of what was acknowledged. */
  readonly acknowledged: string
  readonly accountIds: readonly string[]
  readonly clients: number
  readonly work: InstanceWork
  /** The limits of the key, as the store keeps them. */
  readonly limits: string | null
  /** After this time without a sign of life an instance is declared dead. */
  readonly silentMs: number
}

/**
 * `mixed`: requests of all kinds and sizes, and credits. `same`: each holds and costs the same. `burst`: each client
 * makes one such request, all at once, when a line arrives.
 */
export type InstanceWork =
  | { readonly kind: 'mixed'; readonly amount: number }
  | { readonly kind: 'same' | 'burst'; readonly amount: number; readonly cost: number }

const PRICE_CARD = 1
const TOKENS = 700
/** A client that was refused comes back so much later. */
const REFUSED_MS = 20

/** Now and then something happens. It never does where all requests are the same. */
const sometimes = (times: number): boolean => plan.work.kind === 'mixed' && below(times) === 0

const plan = JSON.parse(process.argv[2] ?? '') as InstancePlan
const limits = limitsOf(plan.limits)
const file = openSync(plan.acknowledged, 'a')
const acknowledge = (...words: readonly (string | bigint)[]): unknown => writeSync(file, `${words.join(' ')}\n`)

const end = (event: string): never => {
  writeSync(1, `${event}\n`)
  process.exit(1)
}

const store = await openPostgresStore(plan.url, {
  folder: plan.folder,
  instance: plan.name,
  onFatal: (message, event) => end(`${event} ${message}`),
  silenceMs: plan.silentMs / 4,
})
const onBroken = (message: string): never => end(`ledger.broken ${message}`)
const ledger: Ledger = await openPostgresLedger(store, { instance: plan.name, onBroken })
const limiter = await openPostgresLimiter(store, [])
const expiry = { ofInstance: counterExpirySteps, ofHold: alsoOnExpiry }
const silence = new SilenceWatch(store, {
  silentMs: plan.silentMs,
  pollMs: plan.silentMs / 10,
  onSilent: async (silent) => {
    if ((await expireHoldsOf(store, silent, expiry)) !== undefined) writeSync(1, `expired ${silent.id}\n`)
  },
})
process.on('beforeExit', () => void silence.close())

let serial = 0
const below = (count: number): number => Math.floor(Math.random() * count)

/** One request of a client: a hold, perhaps more of it, and its end. */
async function request(): Promise<void> {
  const id = `${plan.name}.${serial++}`
  const accountId = plan.accountIds[below(plan.accountIds.length)] as string
  const caller = {
    key: { id: `key_${accountId}`, accountId, limits },
    account: { id: accountId, limits: NO_LIMITS },
  } as unknown as Caller
  const permit = limiter.enter(caller)
  if (permit.kind !== 'admitted') return Bun.sleep(REFUSED_MS)
  try {
    const amount = plan.work.kind === 'mixed' ? BigInt(1 + below(plan.work.amount)) : BigInt(plan.work.amount)
    if (permit.obstacle(amount, TOKENS)) return Bun.sleep(REFUSED_MS)
    const reservation = permit.reserve(amount, TOKENS)
    const conditions = reservation && [limitCondition(reservation)]
    const held = ledger.hold({ id, accountId, amount, conditions, counted: reservation?.counted })
    if (held.kind !== 'held' || (await held.durable).kind !== 'durable') {
      permit.withdraw()
      return Bun.sleep(REFUSED_MS)
    }
    acknowledge('hold', id, accountId)
    if (sometimes(5)) await grow(held.hold, permit, BigInt(1 + below(plan.work.amount)))
    await Bun.sleep(below(4))
    if (sometimes(8)) {
      await ledger.release(held.hold, [recordOf(held.hold, 0n, 0n), ...permit.settle(0n, 0)])
      acknowledge('released', id)
    } else await settle(held.hold, (charged) => permit.settle(charged, TOKENS))
  } finally {
    permit.leave()
  }
}

async function settle(hold: Hold, stepsOf: (charged: bigint) => readonly WriteStep[]): Promise<void> {
  // Now and then a vendor bills more than was held.
  const mixed = below(Number(hold.amount) * (sometimes(6) ? 3 : 1) + 1)
  const cost = BigInt(plan.work.kind === 'mixed' ? mixed : plan.work.cost)
  let told = 0n
  await ledger.settle(hold, { cost, priceCardId: PRICE_CARD }, ({ charged, writtenOff }) => {
    told = charged
    return [recordOf(hold, charged, writtenOff), ...stepsOf(charged)]
  })
  acknowledge('settled', hold.id, told)
}

async function grow(hold: Hold, permit: LimiterPermit, amount: bigint): Promise<void> {
  const reserved = permit.extend(amount)
  if (reserved.kind === 'limited') return
  const extended = ledger.extend(hold, amount, reserved.reservation && [limitCondition(reserved.reservation)])
  if (extended.kind === 'held' && (await extended.durable).kind === 'durable')
    acknowledge('grown', hold.id, hold.amount)
  else permit.retract(amount)
}

/** Money comes in, too. */
async function credit(): Promise<void> {
  const ref = `${plan.name}.c${serial++}`
  const accountId = plan.accountIds[below(plan.accountIds.length)] as string
  const amount = BigInt(plan.work.amount * 20)
  const { kind } = await ledger.adjust({ accountId, amount, kind: 'credit', ref, reason: 'test' })
  if (kind !== 'booked') end(`credit ${kind}`)
  acknowledge('credited', ref, amount)
}

async function client(): Promise<void> {
  for (;;) await (sometimes(30) ? credit() : request())
}

const start = (work: () => Promise<void>): Promise<unknown>[] =>
  Array.from({ length: plan.clients }, () => work().catch((error: unknown) => end(`client ${String(error)}`)))

writeSync(1, 'ready\n')
if (plan.work.kind === 'burst') {
  for await (const _ of console) break
  await Promise.all(start(request))
  writeSync(1, 'done\n')
} else void start(client)
