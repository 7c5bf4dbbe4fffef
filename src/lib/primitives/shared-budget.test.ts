import { expect, test } from 'bun:test'
import { NO_EXCEPTION, SharedBudget } from './shared-budget.ts'

test('no owner has more than a share, all together have no more than the total, and returned room can be taken again', () => {
  const shares = new SharedBudget({ max: 25, shareMax: 10 })
  const [a, b, c] = [shares.of('a'), shares.of('b'), shares.of('c')]
  expect(shares.of('a')).toBe(a)
  expect([a.take(6, 0), a.take(5, 0), a.take(4, 0), a.take(1, 0)]).toEqual([
    'taken',
    'share_full',
    'taken',
    'share_full',
  ])
  expect([b.take(10, 0), c.take(6, 0), c.take(5, 0)]).toEqual(['taken', 'full', 'taken'])
  a.give(4)
  expect([c.take(4, 0), b.take(1, 0), a.take(1, 0)]).toEqual(['taken', 'share_full', 'full'])
  b.give(10)
  expect(a.take(4, 0)).toBe('taken')
})

test('a single user may have more than a share, and two may not', () => {
  const shares = new SharedBudget({ max: 25, shareMax: 10 })
  const [a, b] = [shares.of('a'), shares.of('b')]
  expect([a.take(9, 0), a.take(9, 9), a.take(20, 18)]).toEqual(['taken', 'taken', 'taken'])
  expect([a.take(1, 0), b.take(1, 0)]).toEqual(['share_full', 'full'])
  // With another of its account, it is one of two.
  a.give(5)
  a.give(25)
  expect([a.take(1, 0), a.take(3, 8)]).toEqual(['taken', 'share_full'])
})

test('with NO_EXCEPTION no owner has more than a share, and room in use is counted in any case', () => {
  const budget = new SharedBudget({ shareMax: 10 })
  const a = budget.of('a')
  expect([a.take(11, NO_EXCEPTION), a.take(10, NO_EXCEPTION), a.take(1, NO_EXCEPTION)]).toEqual([
    'share_full',
    'taken',
    'share_full',
  ])
  a.count(5)
  expect([budget.takenBy('a'), budget.takenBy('b')]).toEqual([15, 0])
  a.give(6)
  expect(a.take(1, NO_EXCEPTION)).toBe('taken')
  a.give(100)
  expect(a.taken).toBe(0)
})
