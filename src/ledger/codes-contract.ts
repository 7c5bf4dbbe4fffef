/**
 * The contract of `Codes` as tests for any store. A test file of the implementation calls `describeCodesContract` with
 * a function that opens empty books with the accounts `a` and `b`.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Finding } from '../lib/primitives/checks.ts'
import type { CodeDraft, Codes, NewCode } from './codes.ts'
import { BALANCE_MAX, type Ledger } from './ledger.ts'

export type CodesUnderTest = {
  readonly codes: Codes
  readonly ledger: Ledger
  /** Everything in the store about codes, as text. */
  stored(): Promise<string>
  /** The findings of a verification of the books. */
  findings(): Promise<readonly Finding[]>
  close(): Promise<void>
}

const BATCH: CodeDraft = { count: 1, amount: 5n, note: 'launch', expiresAtMs: undefined }

async function make({ codes }: CodesUnderTest, draft: Partial<CodeDraft> = {}): Promise<NewCode> {
  const { codes: made } = await codes.create({ ...BATCH, ...draft })
  return made[0] ?? expect.unreachable()
}

/** Runs the suite. */
export function describeCodesContract(name: string, open: () => Promise<CodesUnderTest>): void {
  describe(`${name} keeps the contract of codes`, () => {
    let current: CodesUnderTest
    beforeEach(async () => {
      current = await open()
    })
    afterEach(async () => {
      const findings = await current.findings()
      await current.close()
      expect(findings).toEqual([])
    })
    testRedemptions(() => current)
    testLists(() => current)
  })
}

function testRedemptions(now: () => CodesUnderTest): void {
  test('a code is redeemed exactly once, even by concurrent calls', async () => {
    const { secret } = await make(now())
    const tried = await Promise.all(
      Array.from({ length: 200 }, (_, i) => now().codes.redeem(secret, { accountId: i % 2 === 0 ? 'a' : 'b' })),
    )
    expect(tried.filter(({ kind }) => kind === 'redeemed')).toHaveLength(1)
    expect(tried.filter(({ kind }) => kind === 'void')).toHaveLength(199)
    expect(now().ledger.balance('a').posted + now().ledger.balance('b').posted).toBe(5n)
  })

  test('many codes at once add up', async () => {
    const { codes: made } = await now().codes.create({ ...BATCH, count: 100, amount: 3n })
    const before = now().ledger.balance('a').posted
    const tried = await Promise.all(
      made.flatMap(({ secret }) => [0, 1].map(() => now().codes.redeem(secret, { accountId: 'a' }))),
    )
    expect(tried.filter(({ kind }) => kind === 'redeemed')).toHaveLength(100)
    expect(now().ledger.balance('a').posted - before).toBe(300n)
  })

  test('an expired, voided, mistyped or unknown code adds nothing', async () => {
    const before = now().ledger.balance('a').posted
    const late = await make(now(), { expiresAtMs: Date.now() - 1 })
    const voided = await make(now())
    expect(await now().codes.void(voided.id)).toBe(true)
    const good = await make(now())
    for (const secret of [late.secret, voided.secret, `${good.secret}X`, good.secret.slice(0, -1), 'TG-NONE', '']) {
      expect(await now().codes.redeem(secret, { accountId: 'a' })).toEqual({ kind: 'void' })
    }
    expect(now().ledger.balance('a').posted).toBe(before)
    // People type dashes and upper case in their own way.
    const typed = good.secret.replaceAll('-', ' ').toLowerCase()
    expect(await now().codes.redeem(typed, { accountId: 'a' })).toMatchObject({ kind: 'redeemed', amount: 5n })
    expect(await now().codes.void(good.id)).toBe(false)
  })

  test('a code that the balance has no room for can be redeemed later', async () => {
    const credit = { accountId: 'a', kind: 'credit', ref: 'first', reason: 'test' } as const
    await now().ledger.adjust({ ...credit, amount: 5n })
    const { secret } = await make(now(), { amount: BALANCE_MAX })
    expect(await now().codes.redeem(secret, { accountId: 'a' })).toEqual({ kind: 'too_large' })
    expect(await now().codes.redeem(secret, { accountId: 'nobody' })).toEqual({ kind: 'void' })
    await now().ledger.adjust({ ...credit, kind: 'debit', ref: 'second', amount: 5n })
    expect(await now().codes.redeem(secret, { accountId: 'a' })).toMatchObject({ kind: 'redeemed' })
  })
}

function testLists(now: () => CodesUnderTest): void {
  test('the code itself is not stored', async () => {
    const { secret } = await make(now())
    expect(await now().stored()).not.toContain(secret)
  })

  test('codes are listed newest first, by page, batch, state and text, and counted by the same filter', async () => {
    const first = await now().codes.create({ ...BATCH, count: 5, note: 'Spring' })
    const late = await make(now(), { expiresAtMs: Date.now() - 1, note: 'autumn' })
    const [redeemed, voided] = first.codes
    await now().codes.redeem(redeemed?.secret ?? '', { accountId: 'b' })
    await now().codes.void(voided?.id ?? '')
    const idsOf = async (filter: Parameters<Codes['count']>[0]): Promise<string[]> => {
      const found: string[] = []
      for (let page = await now().codes.list({ ...filter, limit: 2 }); page.length > 0;) {
        found.push(...page.map(({ id }) => id))
        page = await now().codes.list({ ...filter, limit: 2, before: found.at(-1) })
      }
      expect(await now().codes.count(filter)).toBe(found.length)
      return found
    }
    // All codes of a batch have the same time, and sort by their ids.
    const newestFirst = (made: readonly { readonly id: string }[]): string[] =>
      made
        .map(({ id }) => id)
        .toSorted()
        .toReversed()
    expect(await idsOf({})).toEqual(newestFirst([...first.codes, late]))
    expect(await idsOf({ batchId: first.batchId })).toEqual(newestFirst(first.codes))
    expect(await idsOf({ state: 'open' })).toEqual(newestFirst(first.codes.slice(2)))
    expect(await idsOf({ state: 'redeemed' })).toEqual([redeemed?.id ?? ''])
    expect(await idsOf({ state: 'voided' })).toEqual([voided?.id ?? ''])
    expect(await idsOf({ state: 'expired' })).toEqual([late.id])
    expect(await idsOf({ text: ' SPRING ' })).toHaveLength(5)
    expect(await now().codes.find(redeemed?.id ?? '')).toMatchObject({ state: 'redeemed', redeemedBy: 'b' })
    expect(await now().codes.codeOfSecret(late.secret)).toMatchObject({ id: late.id, state: 'expired', amount: 5n })
    expect([await now().codes.find('code_none'), await now().codes.codeOfSecret('TG-NONE')]).toEqual([
      undefined,
      undefined,
    ])
  })
}
