import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { divideUp, formatUsd, nanoDigits, parseUsd } from './money.ts'

test('dollars are read exactly, to the nano-dollar', () => {
  expect(parseUsd('1.25')).toBe(1_250_000_000n)
  expect(parseUsd('$0.000000001')).toBe(1n)
  expect(parseUsd('-3')).toBe(-3_000_000_000n)
})

test('an inexact amount is refused', () => {
  for (const text of ['', 'x', '1.0000000001', '1e3', '0x10', '1,5', 'NaN', '12345678901'])
    expect(parseUsd(text)).toBeUndefined()
})

test('writing and reading are inverse', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (amount) => {
      expect(parseUsd(formatUsd(amount))).toBe(amount)
    }),
  )
})

test('an amount keeps its cents and drops further trailing zeros', () => {
  const amount = fc.oneof(fc.bigInt(0n, 2n * 10n ** 12n), fc.bigInt(0n, 10n ** 6n), fc.bigInt(0n, 10n ** 18n))
  fc.assert(
    fc.property(amount, (nano) => {
      const decimals = (nano % 10n ** 9n).toString().padStart(9, '0')
      const shown = `${nano / 10n ** 9n}.${decimals.slice(0, 2)}${decimals.slice(2).replace(/0+$/, '')}`
      expect([formatUsd(nano), formatUsd(-nano)]).toEqual([shown, nano === 0n ? shown : `-${shown}`])
    }),
    { numRuns: 5_000 },
  )
})

test('digits are exact, even for amounts beyond the safe integers', () => {
  const amount = fc.oneof(fc.bigInt(-(10n ** 6n), 10n ** 6n), fc.bigInt(-(2n ** 63n), 2n ** 63n))
  fc.assert(fc.property(amount, (nano) => expect(nanoDigits(nano)).toBe(nano.toString())))
  expect(nanoDigits(2n ** 60n + 1n)).toBe('1152921504606846977')
})

test('division rounds up only if there is a remainder', () => {
  expect(divideUp(0n, 5n)).toBe(0n)
  expect(divideUp(10n, 5n)).toBe(2n)
  expect(divideUp(11n, 5n)).toBe(3n)
})
