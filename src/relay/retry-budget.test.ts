import { expect, test } from 'bun:test'
import { RetryBudget } from './retry-budget.ts'

const spendAll = (budget: RetryBudget, nowMs: number): number => {
  let spent = 0
  while (budget.spend(nowMs)) spent++
  return spent
}

test('allows a hundred at once, then ten per second', () => {
  const budget = new RetryBudget()
  expect(spendAll(budget, 1_000)).toBe(100)
  expect(spendAll(budget, 1_000)).toBe(0)
  expect(spendAll(budget, 1_500)).toBe(5)
  expect(spendAll(budget, 100_000)).toBe(100)
})

test('every fifth request earns one retry', () => {
  const budget = new RetryBudget()
  spendAll(budget, 0)
  for (let i = 0; i < 50; i++) budget.earn()
  expect(spendAll(budget, 0)).toBeWithin(9, 11)
})

test('hedges leave half of the budget to requests that have failed', () => {
  const budget = new RetryBudget()
  let hedged = 0
  while (budget.spendSpare(1_000)) hedged++
  expect([hedged, spendAll(budget, 1_000)]).toEqual([50, 50])
  for (let i = 0; i < 300; i++) budget.earn()
  expect(budget.spendSpare(1_000)).toBe(true)
})
