import { expect, test } from 'bun:test'
import { axisMoney, columnOf, cost, exact, fine, inLine, money, nanoOf, typedDollars } from './money.ts'

test.each([
  ['0', '$0.00'],
  ['1', '< $0.000001'],
  ['499', '< $0.000001'],
  ['500', '$0.000001'],
  ['4125000', '$0.004125'],
  ['9999999', '$0.010000'],
  ['10000000', '$0.01'],
  ['14999999', '$0.01'],
  ['15000000', '$0.02'],
  ['1234567890000', '$1,234.57'],
  ['4000000000000000000', '$4,000,000,000.00'],
  ['-25000000000', '−$25.00'],
  ['-4125000', '−$0.004125'],
  ['-1', '> −$0.000001'],
])('%s nano-dollars are %s', (amount, text) => {
  expect(money(amount)).toBe(text)
})

test('a column of costs has six places, and says where that is too coarse', () => {
  expect(['0', '1', '4125499', '4125500', '12000000000'].map(cost)).toEqual([
    '$0.000000',
    '< $0.000001',
    '$0.004125',
    '$0.004126',
    '$12.000000',
  ])
})

test('costs that are taken away are as fine', () => {
  expect(['-1', '-207000', '-12000000000', '-1000000000000'].map(cost)).toEqual([
    '> −$0.000001',
    '−$0.000207',
    '−$12.000000',
    '−$1,000.00',
  ])
})

test('a column is in cents, or all of it in as many places as its finest amount needs', () => {
  const shown = (...amounts: string[]): readonly string[] => amounts.map(columnOf(amounts))
  expect(shown('5000000000', '0')).toEqual(['$5.00', '$0.00'])
  expect(shown('5000000000', '-207000', '4999793000')).toEqual(['$5.000000', '−$0.000207', '$4.999793'])
  expect(shown('1000000000000', '-126000000', '-126000000', '999748000000')).toEqual([
    '$1,000.000',
    '−$0.126',
    '−$0.126',
    '$999.748',
  ])
  expect(shown('-1000000000000', '1')).toEqual(['−$1,000.000000000', '$0.000000001'])
})

test('whoever adds up a column by what it says comes to what it says', () => {
  const digits = (text: string): bigint => BigInt(text.replaceAll(/[$,.]/g, '').replace('−', '-'))
  const moves = ['1234567890000000001', '-126000000', '-126500000', '-1', '-999', '40000000000']
  const amounts = [...moves, moves.reduce((sum, move) => sum + BigInt(move), 0n).toString()]
  const shown = amounts.map(columnOf(amounts)).map(digits)
  expect(shown.slice(0, -1).reduce((sum, amount) => sum + amount)).toBe(shown.at(-1) ?? 0n)
})

test('the exact amount loses nothing, and has no zeros without need', () => {
  const amounts = ['0', '1', '4125000', '10000000', '1234567890123456789', '-1500000000']
  expect(amounts.map(exact)).toEqual([
    '$0.00',
    '$0.000000001',
    '$0.004125',
    '$0.01',
    '$1,234,567,890.123456789',
    '−$1.50',
  ])
})

test('what is typed is taken as it is meant, or not at all', () => {
  expect(['5', '$1,250.50', ' 0.000000001 ', '5.', '-1', '1e3', '', '0.0000000001'].map(typedDollars)).toEqual([
    '5',
    '1250.50',
    '0.000000001',
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(['1,250', '1,250,000.5', '0,5', '1,5', '12,34', '1,2500', '0,500', ',500'].map(typedDollars)).toEqual([
    '1250',
    '1250000.5',
    ...Array<undefined>(6).fill(undefined),
  ])
  expect(nanoOf('1250.5')).toBe(1_250_500_000_000n)
  expect(nanoOf('0.000000001')).toBe(1n)
})

test.each([
  [[0, 0.002, 0.004], '$0 $0.002 $0.004'],
  [[0, 0.1, 0.2, 0.3], '$0 $0.10 $0.20 $0.30'],
  [[0, 0.5, 1, 1.5], '$0 $0.50 $1 $1.50'],
  [[0, 1, 2, 3], '$0 $1 $2 $3'],
  [[0, 5, 10], '$0 $5 $10'],
  [[0, 500, 1_000, 1_500], '$0 $500 $1K $1.5K'],
  [[0, 1_000_000, 2_000_000], '$0 $1M $2M'],
])('an axis of %p is short, and in one notation', (ticks, text) => {
  expect(ticks.map(axisMoney).join(' ')).toBe(text)
})

test.each([
  ['0', '$0.00'],
  ['1505000', '$0.001505'],
  ['150.5', '$0.0000001505'],
  ['0.000001', '$0.000000000000001'],
  ['1234567890123.25', '$1,234.56789012325'],
  ['-150.5', '−$0.0000001505'],
])('a line of %s nano-dollars is %s, unrounded', (amount, text) => {
  expect(fine(amount)).toBe(text)
})

test('amounts below each other have their points below each other, and lose nothing', () => {
  expect(inLine(['$0.000008', '$0.0002', '$1,250.50'])).toEqual(['$0.000008', '$0.000200', '$1,250.500000'])
  expect(inLine(['$0.30', '−$0.05'])).toEqual(['$0.30', '−$0.05'])
})
