/** The contract of `UsageRollups` as tests for any store. The suite uses only the port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { shiftsOf, utc, type Shifts } from '../lib/primitives/time-zone.ts'
import {
  Dice,
  shifted,
  withPort,
  written,
  type InstancesUnderTest,
  type PortUnderTest,
} from '../store/port-contract.ts'
import { randomRecord } from './records-contract.ts'
import type { Records, RequestRecord } from './records.ts'
import {
  firstEventBoundsMs,
  totalSums,
  usageGroups,
  usageSums,
  type UsageGroup,
  type UsageQuery,
  type UsageRollups,
  type UsageRow,
  type UsageSum,
} from './usage-rollups.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'

export type RollupsUnderTest = PortUnderTest<UsageRollups> & {
  /** Writes the requests to sum up. */
  readonly records: Records
  /** Makes an open hold at a time. Resolves to a function that releases it. */
  hold(accountId: string, createdAtMs: number): Promise<() => Promise<void>>
}

const SEED = 77
const SUMMED_UP_MS = 20 * MINUTE_MS

function sumsOf({ outcome, usage, usageSource, charged, writtenOff, upstreamCost }: RequestRecord) {
  const piecesOf = (kind: string): number =>
    (usage.pieces ?? []).reduce((sum, { unit, count }) => (unit.startsWith(`piece:${kind}`) ? sum + count : sum), 0)
  const sums: Record<UsageSum, number | bigint> = {
    requests: 1,
    failed: Number(outcome === 'failed'),
    cut: Number(outcome === 'cut'),
    estimated: Number(usageSource === 'estimated'),
    input_fresh: usage.inputFresh,
    input_cached: usage.inputCached,
    cache_write: usage.cacheWrite5m + usage.cacheWrite1h,
    output_text: usage.outputText,
    output_reasoning: usage.outputReasoning,
    input_image: usage.inputImage ?? 0,
    output_image: usage.outputImage ?? 0,
    images: piecesOf('image'),
    seconds: piecesOf('second'),
    charged,
    written_off: writtenOff,
    upstream_cost: upstreamCost,
  }
  return sums
}

function firstsOf({ firstEventMs }: RequestRecord): number[] {
  const bounds = [...firstEventBoundsMs, Infinity]
  const place = firstEventMs === undefined ? -1 : bounds.findIndex((bound) => Math.round(firstEventMs) < bound)
  return bounds.map((_, i) => Number(i === place))
}

const groupOf = (record: RequestRecord, by: UsageGroup | undefined): string | undefined =>
  by && { key: record.keyId, model: record.model, endpoint: record.endpoint, account: record.accountId }[by]

/** The offset of the clock at an hour. */
const shiftAt = (shifts: Shifts, hour: number): number =>
  shifts.findLast(({ fromHour }) => fromHour <= hour)?.hours ?? shifts[0].hours

/** The expected report, computed from every request. */
function reportOf(records: readonly RequestRecord[], query: UsageQuery): string[] {
  const { accountId, keyId, model, endpoint, fromHour, toHour, stepHours, shifts, by } = query
  const rows = new Map<string, { sums: Record<string, bigint>; firsts: number[] }>()
  for (const record of records) {
    const hour = Math.floor(record.createdAtMs / HOUR_MS)
    const isWanted =
      hour >= fromHour &&
      hour < toHour &&
      (accountId ?? record.accountId) === record.accountId &&
      (keyId ?? record.keyId) === record.keyId &&
      (model ?? record.model) === record.model &&
      (endpoint ?? record.endpoint) === record.endpoint
    if (!isWanted) continue
    const step = stepHours === 1 ? hour : Math.floor((hour + shiftAt(shifts, hour)) / 24)
    const name = `${step} ${groupOf(record, by) ?? ''}`
    const row = rows.get(name) ?? { sums: {}, firsts: firstsOf(record).map(() => 0) }
    for (const [sum, value] of Object.entries(sumsOf(record))) row.sums[sum] = (row.sums[sum] ?? 0n) + BigInt(value)
    firstsOf(record).forEach((count, i) => (row.firsts[i] = (row.firsts[i] ?? 0) + count))
    rows.set(name, row)
  }
  return [...rows].map(([name, { sums, firsts }]) => textOf(name, sums, firsts)).toSorted()
}

const textOf = (name: string, sums: Readonly<Record<string, bigint>>, firsts: readonly number[]): string =>
  `${name}: ${usageSums.map((sum) => sums[sum]).join(' ')} | ${firsts.join(' ')}`

function rowsText(rows: readonly UsageRow[], { stepHours, shifts }: UsageQuery): string[] {
  const stepOf = (startMs: number): number => {
    const hour = startMs / HOUR_MS
    return stepHours === 1 ? hour : Math.floor((hour + shiftAt(shifts, hour)) / 24)
  }
  return rows
    .map(({ startMs, group, sums, firsts }) => textOf(`${stepOf(startMs)} ${group ?? ''}`, sums, firsts))
    .toSorted()
}

/** Runs the suite. `open` gives an empty store. */
export function describeUsageRollupsContract(name: string, open: () => Promise<RollupsUnderTest>): void {
  describe(`${name} keeps the contract of the sums of usage`, () => {
    const dice = new Dice(SEED)
    // A new store has summed up the days before it was made, so these requests come later.
    const startMs = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS
    const startHour = startMs / HOUR_MS
    const made = Array.from({ length: 300 }, () => randomRecord(dice, startMs + dice.below(3 * DAY_MS)))
    let under: RollupsUnderTest
    beforeEach(async () => {
      under = await open()
      for (const id of ['a', 'b']) await under.addAccount(id)
      await Promise.all(made.map((record) => written(under, under.records.steps(record))))
    })
    afterEach(() => under.close())

    const randomQuery = (): UsageQuery => {
      const fromHour = startHour - 10 + dice.below(60)
      const toHour = dice.once(10) ? fromHour : fromHour + dice.below(100)
      const zone = dice.pick('America/New_York', 'Asia/Kolkata', 'Pacific/Auckland')
      return {
        accountId: dice.pick('a', 'b', undefined),
        fromHour,
        toHour,
        stepHours: dice.pick(1, 24),
        shifts: dice.pick(utc, shiftsOf(zone, fromHour, toHour + 1)),
        by: dice.pick(undefined, ...usageGroups),
        keyId: dice.pick(undefined, undefined, 'k1', 'none'),
        model: dice.pick(undefined, undefined, "m'3"),
        endpoint: dice.pick(undefined, undefined, 'images.edits'),
      }
    }
    const compare = async (rollups: UsageRollups, rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        const query = randomQuery()
        const rows = await rollups.rows(query)
        expect({ query, rows: rowsText(rows, query) }).toEqual({ query, rows: reportOf(made, query) })
        const order = rows.map(({ startMs: at, group }) => `${String(at).padStart(16, '0')} ${group ?? ''}`)
        expect(order).toEqual(order.toSorted())
      }
    }
    const sweepAfter = (days: number): Promise<void> =>
      shifted(startMs + days * DAY_MS + SUMMED_UP_MS - Date.now(), () => under.port.sweep())

    test('a report is the sum of its requests, before and after days are summed up', async () => {
      await compare(under.port, 40)
      await sweepAfter(2)
      expect(under.port.daysUntil).toBe(startHour / 24 + 2)
      await compare(under.port, 40)
      await sweepAfter(6)
      expect(under.port.daysUntil).toBe(startHour / 24 + 6)
      await compare(under.port, 40)
      const next = await under.reopen()
      expect(next.daysUntil).toBe(startHour / 24 + 6)
      await compare(next, 10)
    })

    test('a day to which an open hold may still add is not summed up', async () => {
      const release = await under.hold('a', startMs + DAY_MS + HOUR_MS)
      await sweepAfter(5)
      expect(under.port.daysUntil).toBe(startHour / 24 + 1)
      await release()
      await Promise.all([sweepAfter(5), under.port.sweep()])
      await sweepAfter(5)
      expect(under.port.daysUntil).toBe(startHour / 24 + 5)
      await compare(under.port, 20)
    })

    test('a clock that is set back opens days again, and what they count is in the reports', async () => {
      await sweepAfter(6)
      await shifted(startMs + DAY_MS + HOUR_MS - Date.now(), () => under.port.sweep())
      expect(under.port.daysUntil).toBe(startHour / 24 + 1)
      const late = randomRecord(dice, startMs + DAY_MS + 2 * HOUR_MS)
      await written(under, under.records.steps(late))
      made.push(late)
      await sweepAfter(6)
      await compare(under.port, 20)
    })

    test('a transaction that is refused adds nothing', async () => {
      const [first] = made as [RequestRecord]
      expect((await under.write(under.records.steps(first))).kind).toBe('refused')
      await compare(under.port, 10)
    })

    test('keys are last used in the hour of their last request', async () => {
      for (const days of [0, 4]) {
        if (days > 0) await sweepAfter(days)
        for (const accountId of ['a', 'b', 'none']) {
          const day = startHour + 24 * dice.below(4)
          const wanted = new Map<string, number>()
          for (const record of made) {
            const hour = Math.floor(record.createdAtMs / HOUR_MS)
            if (record.accountId !== accountId || hour < day) continue
            wanted.set(record.keyId, Math.max(hour, wanted.get(record.keyId) ?? 0))
          }
          expect(await under.port.lastUsed(accountId, day + 5)).toEqual(wanted)
        }
      }
    })

    test('the charges of keys since a day and its month are those of the requests, before and after days are summed', async () => {
      const days = [...new Set(made.map(({ createdAtMs }) => Math.floor(createdAtMs / DAY_MS)))]
      for (const accountId of new Set(made.map((record) => record.accountId))) {
        for (const day of days) {
          const monthDay = day - 20
          const wanted = new Map<string, { day: bigint; month: bigint }>()
          for (const record of made) {
            const own = Math.floor(record.createdAtMs / DAY_MS)
            if (record.accountId !== accountId || own < monthDay) continue
            const { day: today, month } = wanted.get(record.keyId) ?? { day: 0n, month: 0n }
            const { charged } = record
            wanted.set(record.keyId, { day: today + (own >= day ? charged : 0n), month: month + charged })
          }
          expect(await under.port.spentByKey(accountId, { day, monthDay })).toEqual(wanted)
        }
      }
    })

    test('totals and charges of keys begin with their hour', async () => {
      for (const hour of [startHour - 5, startHour + 30, startHour + 1_000]) {
        const later = made.filter(({ createdAtMs }) => createdAtMs >= hour * HOUR_MS)
        const totals = await under.port.totalsSince(hour)
        for (const sum of totalSums) {
          const wanted = later.reduce((total, record) => total + BigInt(sumsOf(record)[sum]), 0n)
          expect([sum, totals[sum]]).toEqual([sum, wanted])
        }
        const charges = new Map<string, bigint>()
        for (const { accountId, keyId, createdAtMs, charged } of later) {
          const at = `${accountId} ${keyId} ${Math.floor(createdAtMs / DAY_MS)}`
          charges.set(at, (charges.get(at) ?? 0n) + charged)
        }
        const found = (await under.port.chargedByDay(hour)).map(
          ({ accountId, keyId, day, charged }): [string, bigint] => [`${accountId} ${keyId} ${day}`, charged],
        )
        expect(new Map(found)).toEqual(charges)
      }
    })
  })
}

/** Runs the part of the suite for two instances on one store. */
export function describeRollupsOfInstances(
  name: string,
  open: () => Promise<InstancesUnderTest<RollupsUnderTest>>,
): void {
  describe(`${name} keeps the contract of the sums of usage between instances`, () => {
    test('a report has the requests of all instances, before and after one of them sums up days', () =>
      withPort(open, async ({ first, second }) => {
        const dice = new Dice(SEED)
        const startMs = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS
        const made = Array.from({ length: 200 }, () => randomRecord(dice, startMs + dice.below(2 * DAY_MS)))
        for (const id of ['a', 'b']) await first.addAccount(id)
        await Promise.all(
          made.map((record, i) => {
            const under = i % 2 === 0 ? first : second
            return written(under, under.records.steps(record))
          }),
        )
        const [fromHour, toHour] = [startMs / HOUR_MS, startMs / HOUR_MS + 100]
        const compare = async (): Promise<void> => {
          for (const { port } of [first, second]) {
            for (const by of [undefined, ...usageGroups]) {
              for (const stepHours of [1, 24] as const) {
                const query = { accountId: dice.pick('a', undefined), fromHour, toHour, stepHours, shifts: utc, by }
                expect(rowsText(await port.rows(query), query)).toEqual(reportOf(made, query))
              }
            }
            expect((await port.totalsSince(fromHour)).requests).toBe(200n)
            const hours = made
              .filter(({ accountId }) => accountId === 'a')
              .map(({ createdAtMs }) => createdAtMs / HOUR_MS)
            const used = [...(await port.lastUsed('a', fromHour)).values()]
            expect(Math.max(...used)).toBe(Math.floor(Math.max(...hours)))
          }
        }
        await compare()
        await shifted(startMs + 4 * DAY_MS + SUMMED_UP_MS - Date.now(), () => first.port.sweep())
        await compare()
        // An open hold of the other instance keeps a day open.
        const release = await second.hold('a', startMs + 5 * DAY_MS)
        await shifted(startMs + 8 * DAY_MS - Date.now(), () => first.port.sweep())
        expect(first.port.daysUntil).toBe(startMs / DAY_MS + 5 - 1)
        await release()
        await shifted(startMs + 8 * DAY_MS - Date.now(), () => second.port.sweep())
        expect(second.port.daysUntil).toBe(startMs / DAY_MS + 7)
        await compare()
      }))
  })
}
