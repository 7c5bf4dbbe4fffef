import { expect, test } from 'bun:test'
import { amountsOf, priceText } from './amounts.ts'

test('a column is in cents, or in the decimals that show two digits of its smallest amount', () => {
  expect(amountsOf([])).toEqual([])
  expect(amountsOf(['1200.5', '0'])).toEqual(['$1200.50', '$0.00'])
  expect(amountsOf(['1061.027276943', '-61.221922943'])).toEqual(['$1061.03', '-$61.22'])
  expect(amountsOf(['0.12', '0.000396', '0.04225'])).toEqual(['$0.12000', '$0.00040', '$0.04225'])
  expect(amountsOf(['5', '0.05'])).toEqual(['$5.00', '$0.05'])
})

test('the largest amount bounds the decimals, and a hidden amount is shown as less than the smallest step', () => {
  expect(amountsOf(['1000', '-0.126', '0.000000004', '-0.000000004'])).toEqual([
    '$1000.000',
    '-$0.126',
    '<$0.001',
    '>-$0.001',
  ])
  expect(amountsOf(['4000000000', '0.000000001'])).toEqual(['$4000000000.00', '<$0.01'])
  expect(amountsOf(['1', '0.000000001'])).toEqual(['$1.000000', '<$0.000001'])
})

test('a price is in short form', () => {
  const prices = ['0', '2.5', '0.0375', '0.0421875', '1.875', '12.345', '1250000.5', '0.000000001', '0.1']
  expect(prices.map(priceText)).toEqual([
    '$0.00',
    '$2.50',
    '$0.0375',
    '$0.04219',
    '$1.875',
    '$12.35',
    '$1250000.50',
    '$0.000000001',
    '$0.10',
  ])
})
