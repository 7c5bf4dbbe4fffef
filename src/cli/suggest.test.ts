import { expect, test } from 'bun:test'
import { didYouMean, nearest } from './suggest.ts'

const known = ['account', 'key', 'provider', 'model', 'serve', 'verify-ledger']

test('one typing error still finds the word', () => {
  expect(nearest('acount', known)).toBe('account')
  expect(nearest('modle', known)).toBe('model')
  expect(nearest('srve', known)).toBe('serve')
  expect(nearest('kye', known)).toBe('key')
})

test('the only word that begins so is meant', () => expect(nearest('verify', known)).toBe('verify-ledger'))

test('a word unlike all others suggests nothing', () => {
  expect(nearest('xyzzy', known)).toBeUndefined()
  expect(didYouMean('xyzzy', known)).toBe('')
  expect(nearest('usage', ['image', 'key'])).toBeUndefined()
  expect(nearest('inage', ['image', 'key'])).toBe('image')
  expect(nearest('omage', ['image', 'key'])).toBe('image')
})
