import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryLimiter } from '../accounts/memory-limiter.ts'
import type { Model } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import type { Caller } from '../domain/account.ts'
import { NO_LIMITS, type Limits } from '../domain/limits.ts'
import { unitPrices } from '../domain/price.ts'
import { asGeneratedText } from '../formats/core/generated-text.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { recordOf } from '../../test/money/histories/history.ts'
import { statement } from '../store/statement.ts'
import { mustWrite, openStore, type Store } from '../store/store.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { GrowingHold } from './growing-hold.ts'
import type { QuotedRequest } from '../modalities/modality.ts'
import { textModality } from '../modalities/text.ts'
import { heldFor } from '../modalities/token-quote.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const folder = mkdtempSync(join(tmpdir(), 'tollgate-growing-'))
let store: Store
let ledger: Ledger
let lives = 0

const fatal = (message: string): never => {
  throw new Error(message)
}
async function open(): Promise<void> {
  store = await openStore(folder, fatal, { deferMs: 1 })
  ;({ ledger } = await openSqliteLedger(store, { instance: `life ${lives++}`, onBroken: fatal }))
}
beforeAll(open)
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

/** Output costs 10 nano-USD per token, and input is free. */
const NANO_PER_TOKEN = 10n
const model: Model = {
  id: 'm',
  ownedBy: 'p',
  createdAtMs: 0,
  kind: 'text',
  origin: 'stored',
  limits: { ...defaultModelLimits, outputTokensMax: 100_000, outputTokensMin: 1 },
  sale: { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input: 0n, output: NANO_PER_TOKEN * 1_000_000n }) },
  offers: [],
}
const request = { outputTokensMax: undefined, choices: 1, textBytes: 9, imageParts: 0, mediaBytes: 0 } as QuotedRequest

/** Four characters are a token here, and counting a text takes a tick. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4)
const tokens = { count: async (texts: string[]) => (await Bun.sleep(0), texts.map(tokensOf)) }

type Stream = { produced: string; thoughts: string }
type Answer = {
  readonly hold: Hold
  readonly durable: Promise<unknown>
  readonly growing: GrowingHold
  readonly stream: Stream
  /** The number of characters that have left. */
  delivered: number
  isOver: boolean
}

async function accountWith(id: string, amount: bigint): Promise<void> {
  await mustWrite(store, [{ run: insertAccount, bind: [id] }])
  ledger.register(id)
  if (amount > 0n) await ledger.adjust({ accountId: id, amount, kind: 'credit', ref: id, reason: 'test' })
}

let serial = 0

/** Admits an answer as the relay would. Returns undefined if there is no money for it. */
function begin(accountId: string, limits: Limits = NO_LIMITS, limiter = openMemoryLimiter([])): Answer | undefined {
  const caller = { key: { id: `${accountId}-k`, limits: NO_LIMITS }, account: { id: accountId, limits } }
  const limiterPermit = limiter.enter(caller as unknown as Caller)
  if (limiterPermit.kind !== 'admitted') throw new Error(limiterPermit.kind)
  const available = limiterPermit.spendable ?? ledger.balance(accountId).available
  const quoted = textModality.quote(request, model, { available, isAlone: false })
  if (quoted.kind !== 'quoted') return undefined
  const held = ledger.hold({ id: `${accountId}-${serial++}`, accountId, amount: quoted.amount })
  if (held.kind !== 'held') throw new Error('what was quoted was not to be had')
  limiterPermit.reserve(quoted.amount, 0)
  const call = { request, limiterPermit, caller } as unknown as GatewayRequest
  const relay = { ledger, tokens } as unknown as Relay
  const growing = new GrowingHold(relay, call, { model, hold: held.hold, tokens: quoted.outputTokens })
  return {
    hold: held.hold,
    durable: held.durable,
    growing,
    stream: { produced: '', thoughts: '' },
    delivered: 0,
    isOver: false,
  }
}

async function say(answer: Answer, chars: number): Promise<void> {
  const { stream, growing, hold } = answer
  await answer.durable
  stream.produced += 'x'.repeat(chars)
  const length = stream.produced.length
  if ((await growing.cover(stream)) === 'spent') return end(answer)
  answer.delivered = length
  // Everything that left is paid for, also on disk.
  const [row] = await store.query('SELECT amount FROM hold WHERE id = ?', [hold.id])
  expect((row?.['amount'] as bigint) >= heldFor(request, model, tokensOf('x'.repeat(length)))).toBe(true)
}

async function end(answer: Answer): Promise<void> {
  const { hold, growing, delivered } = answer
  answer.isOver = true
  const { text } = asGeneratedText(growing.words.produced)
  expect(text.length).toBe(delivered)
  const count = Math.min(tokensOf(text), growing.heldTokens)
  const cost = BigInt(count) * NANO_PER_TOKEN
  await ledger.settle(hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) => {
    expect([charged, writtenOff]).toEqual([cost, 0n])
    return [recordOf(hold, charged, writtenOff)]
  })
}

const anAct = fc.record({
  answer: fc.nat(4),
  chars: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4_000 })),
  kind: fc.oneof({ weight: 12, arbitrary: fc.constant('say') }, { weight: 1, arbitrary: fc.constant('end') }),
})
const aCourse = fc.record({
  tokens: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 400, max: 20_000 })),
  acts: fc.array(anAct, { minLength: 5, maxLength: 40 }),
  isKilled: fc.boolean(),
})

test('answers on one small balance, in any order, are paid for before they leave, and none overdraws it', async () => {
  let run = 0
  const play = async ({ tokens: worth, acts, isKilled }: typeof aCourse extends fc.Arbitrary<infer C> ? C : never) => {
    const id = `a${run++}`
    const balance = BigInt(worth) * NANO_PER_TOKEN
    await accountWith(id, balance)
    const answers: (Answer | undefined)[] = []
    let settled = 0n
    const under: Promise<void>[] = []
    const busy = new Set<Answer>()
    for (const { answer: at, chars, kind } of acts) {
      const answer = (answers[at] ??= begin(id))
      if (!answer || answer.isOver || busy.has(answer)) continue
      busy.add(answer)
      const act = kind === 'say' ? say(answer, chars) : end(answer)
      under.push(act.finally(() => busy.delete(answer)))
      if (chars % 3 === 0) await Promise.all(under.splice(0))
      expect(ledger.balance(id).available >= 0n).toBe(true)
    }
    await Promise.all(under)
    if (!isKilled) for (const answer of answers) if (answer && !answer.isOver) await end(answer)
    for (const answer of answers) {
      if (answer?.isOver) settled += BigInt(Math.min(Math.ceil(answer.delivered / 4), worth)) * NANO_PER_TOKEN
    }
    expect(ledger.balance(id).posted).toBe(balance - settled)
    if (!isKilled) expect(ledger.balance(id).held).toBe(0n)
    // The next process finds the holds that this one left open.
    if (run % 50 === 0) {
      await store.close()
      await open()
      expect(ledger.balance(id)).toMatchObject({ posted: balance - settled, held: 0n })
    }
  }
  await fc.assert(fc.asyncProperty(aCourse, play), { numRuns: 1_000 })
  await store.close()
  await open()
  expect(await verifyLedger(store)).toEqual([])
}, 120_000)

test('a spend limit ends an answer as the balance does', async () => {
  await accountWith('limited', 1_000_000n)
  const answer = begin('limited', { ...NO_LIMITS, spendPerDay: 1_000n * NANO_PER_TOKEN })
  if (!answer) throw new Error('there is money for it')
  for (let said = 0; said < 200 && !answer.isOver; said++) await say(answer, 40)
  expect(answer.isOver).toBe(true)
  expect(answer.delivered).toBeWithin(3_600, 4_001)
  expect(ledger.balance('limited').posted).toBe(1_000_000n - BigInt(Math.ceil(answer.delivered / 4)) * NANO_PER_TOKEN)
})

test('a hold of a dearer model pays for the answer of a cheaper one when nothing else is left', async () => {
  await accountWith('dear', 2_000n * NANO_PER_TOKEN)
  const held = ledger.hold({ id: 'dear-hold', accountId: 'dear', amount: 2_000n * NANO_PER_TOKEN })
  if (held.kind !== 'held') throw new Error('there is money for it')
  await held.durable
  const limiterPermit = openMemoryLimiter([]).enter({
    key: { id: 'dear-k', limits: NO_LIMITS },
    account: { id: 'dear', limits: NO_LIMITS },
  } as unknown as Caller)
  const call = { request, limiterPermit, caller: { account: { id: 'dear' } } } as unknown as GatewayRequest
  const cheap = new GrowingHold({ ledger, tokens } as unknown as Relay, call, { model, hold: held.hold, tokens: 64 })
  expect(await cheap.cover({ produced: 'x'.repeat(4_000), thoughts: '' })).toBe('covered')
  expect(cheap.heldTokens).toBeWithin(1_000, 2_001)
  expect(held.hold.amount).toBe(2_000n * NANO_PER_TOKEN)
  expect(await cheap.cover({ produced: 'x'.repeat(9_000), thoughts: '' })).toBe('spent')
  await ledger.release(held.hold, [])
})

test('what leaves is paid for in a script in which each character is three tokens', async () => {
  await accountWith('rare', 1_000_000n)
  const answer = begin('rare') ?? expect.unreachable()
  // This is one event, and its number of characters is within the hold.
  const text = 'က'.repeat(Math.floor(answer.growing.heldTokens * 0.9))
  const byBytes = { count: (texts: string[]) => Promise.resolve(texts.map((one) => Buffer.byteLength(one))) }
  Object.assign(answer.growing, { relay: { ledger, tokens: byBytes } })
  expect(await answer.growing.cover({ produced: text, thoughts: '' })).toBe('covered')
  expect(answer.growing.heldTokens).toBeGreaterThanOrEqual(Buffer.byteLength(text))
  // It has no hidden reasoning, because a report of as many tokens as bytes can be text.
  expect(answer.growing.cannotFollow(estimatedUsage(1, Buffer.byteLength(text)))).toBe(false)
  await ledger.release(answer.hold, [])
})

test('reasoning that was billed but not sent shows in a report', () => {
  const growing = new GrowingHold({} as Relay, {} as GatewayRequest, { model, hold: {} as Hold, tokens: 1_000 })
  void growing.cover({ produced: 'x'.repeat(400), thoughts: 'y'.repeat(100) })
  const usage = (outputText: number, outputReasoning: number) => ({ ...estimatedUsage(1, outputText), outputReasoning })
  expect(growing.cannotFollow(usage(100, 25))).toBe(false)
  expect(growing.cannotFollow(usage(100, 101))).toBe(true)
  expect(growing.cannotFollow(usage(757, 0))).toBe(true)
})
