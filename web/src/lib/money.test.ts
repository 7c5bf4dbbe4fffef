import { expect, test } from 'bun:test'
import { axisMoney, columnOf, exact, money, nanoOf, perPiece, shortPrice, typedDollars } from './money.ts'

test.each([
  ['0', '$0.00'],
  ['1', '$0.000000001'],
  ['499', '$0.0000005'],
  ['4125000', '$0.0041'],
  ['9999999', '$0.01'],
  ['10000000', '$0.01'],
  ['14999999', '$0.015'],
  ['99900000', '$0.10'],
  ['15000000', '$0.015'],
  ['126000000', '$0.13'],
  ['1061027276943', '$1,061.03'],
  ['4000000000000000000', '$4,000,000,000.00'],
  ['-25000000000', '−$25.00'],
  ['-4125000', '−$0.0041'],
  ['-1', '−$0.000000001'],
])('%s nano-dollars are %s', (amount, text) => {
  expect(money(amount)).toBe(text)
})

const column = (...amounts: string[]): readonly string[] => amounts.map(columnOf(amounts))

test('a column is in cents, or all of it in as many places as show two digits of its smallest amount', () => {
  expect(column('5000000000', '0')).toEqual(['$5.00', '$0.00'])
  expect(column()).toEqual([])
  expect(column('0', '0')).toEqual(['$0.00', '$0.00'])
  expect(column('1061027276943', '-61221922943', '1249805354000')).toEqual(['$1,061.03', '−$61.22', '$1,249.81'])
  expect(column('120000000', '396000', '32000000', '42250000')).toEqual([
    '$0.12000',
    '$0.00040',
    '$0.03200',
    '$0.04225',
  ])
  expect(column('5000000000', '50000000')).toEqual(['$5.00', '$0.05'])
})

test('the largest amount of a column bounds its places, and what they hide is less than the least', () => {
  expect(column('1000000000000', '-126000000', '-4')).toEqual(['$1,000.000', '−$0.126', '> −$0.001'])
  expect(column('4000000000000000000', '1')).toEqual(['$4,000,000,000.00', '< $0.01'])
  expect(column('1000000000', '1')).toEqual(['$1.000000', '< $0.000001'])
  expect(column('0.5', '4')).toEqual(['< $0.000001', '< $0.000001'])
})

test('nothing that is not zero is shown as zero, and nothing that is zero as anything else', () => {
  const sizes = Array.from({ length: 22 }, (_, i) => 10n ** BigInt(i))
  const amounts = sizes.flatMap((size) => [size, -size, size * 4n, size / 2n, -(size - 1n)]).map(String)
  const isNought = (text: string): boolean => /^−?\$0\.0+$/.test(text)
  for (const [name, show] of Object.entries({ money, shortPrice, exact, column: columnOf(amounts) })) {
    const wrong = amounts.filter((amount) => isNought(show(amount)) !== (BigInt(amount) === 0n))
    expect(`${name}: ${wrong.join()}`).toBe(`${name}: `)
  }
})

test.each([
  ['150000000', '$0.15'],
  ['37500000', '$0.0375'],
  ['42187500', '$0.04219'],
  ['1875000000', '$1.875'],
  ['12345000000', '$12.35'],
  ['1250000500000000', '$1,250,000.50'],
  ['2500000123456789', '$2,500,000.12'],
  ['0', '$0.00'],
  ['1', '$0.000000001'],
])('a price of %s nano-dollars for a million is %s', (amount, text) => {
  expect(shortPrice(amount)).toBe(text)
})

test('a price of one piece is that of a million, divided', () => {
  expect(['40000000000000', '1', '1500000', '0'].map((each) => exact(perPiece(each)))).toEqual([
    '$0.04',
    '$0.000000000000001',
    '$0.0000000015',
    '$0.00',
  ])
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
])('a line of %s nano-dollars is exactly %s', (amount, text) => {
  expect(exact(amount)).toBe(text)
})
