import { expect, test } from 'bun:test'
import { makeKey } from '../../../src/accounts/key-format.ts'
import { readAddress, withoutSecret, writeAddress } from './search.ts'

test('what is written stands without quotes, and is read as it was', () => {
  for (const [values, text] of [
    [{ q: '12', month: '2026-11' }, '?q=12&month=2026-11'],
    [{ from: '2026-11-25T10:00:00Z', to: 'true' }, '?from=2026-11-25T10%3A00%3A00Z&to=true'],
    [{ q: 'null', model: 'a/b' }, '?q=null&model=a%2Fb'],
    [
      { wish: { seconds: '5', audio: 'on' } },
      `?wish=${encodeURIComponent('{"seconds":"5","audio":"on"}').replaceAll('%20', '+')}`,
    ],
    [{ q: '"quoted"' }, `?q=${encodeURIComponent(JSON.stringify('"quoted"'))}`],
    [{}, ''],
  ] as const) {
    expect([values, writeAddress(values)]).toEqual([values, text])
    expect(readAddress(text)).toEqual(values)
  }
})

test('addresses of before lead where they led, and what is left out is left out', () => {
  expect(readAddress('?q=%2212%22&min_cost=%220.1%22')).toEqual({ q: '12', min_cost: '0.1' })
  expect(writeAddress({ q: undefined, tab: 'x' })).toBe('?tab=x')
  expect(readAddress('?wish={broken}')).toEqual({ wish: '{broken}' })
})

test('a key in an address by hand is as if it were not there', () => {
  const key = makeKey()
  expect(readAddress(`?q=${key}&tab=x`)).toEqual({ tab: 'x' })
  expect(withoutSecret(`http://h/console/operator/accounts?q=${key}&tab=x`)).toBe(
    'http://h/console/operator/accounts?tab=x',
  )
  expect(withoutSecret('http://h/console/operator/accounts?q=name')).toBe(undefined)
})
