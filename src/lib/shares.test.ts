import { expect, test } from 'bun:test'
import { Shares } from './shares.ts'

test('nobody has more than a share, all together no more than there is, and what is given back can be taken again', () => {
  const shares = new Shares({ max: 25, shareMax: 10 })
  const [a, b, c] = [shares.of('a'), shares.of('b'), shares.of('c')]
  expect(shares.of('a')).toBe(a)
  expect([a.take(6), a.take(5), a.take(4), a.take(1)]).toEqual(['taken', 'share_full', 'taken', 'share_full'])
  expect([b.take(10), c.take(6), c.take(5)]).toEqual(['taken', 'full', 'taken'])
  a.give(4)
  expect([c.take(4), b.take(1), a.take(1)]).toEqual(['taken', 'share_full', 'full'])
  b.give(10)
  expect(a.take(4)).toBe('taken')
})
