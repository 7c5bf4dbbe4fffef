import { expect, test } from 'bun:test'
import { makeVoucher, voucherOf } from './signed-token.ts'

test('a code is recognised in any typing, and nothing else is a code', () => {
  const code = makeVoucher()
  expect(code).toMatch(/^TG(?:-[0-9A-HJKMNP-TV-Z]{5}){4}$/)
  for (const typed of [
    code,
    code.toLowerCase(),
    code.replaceAll('-', ''),
    ` ${code.replaceAll('-', ' ')} `,
    code.slice(3),
  ]) {
    expect(voucherOf(typed)).toBe(code)
  }
  expect(voucherOf(code.replaceAll('0', 'o').replaceAll('1', 'l'))).toBe(code)
  for (const typed of [
    '',
    'TG',
    `${code}A`,
    code.slice(0, -1),
    code.replace(/.$/, '€'),
    'TG-UUUUU-UUUUU-UUUUU-UUUUU',
  ]) {
    expect(voucherOf(typed)).toBeUndefined()
  }
  expect(new Set(Array.from({ length: 1_000 }, makeVoucher)).size).toBe(1_000)
})
