import { expect, test } from 'bun:test'
import { withExtraHeaders, withExtraQuery } from './extras.ts'

test('a provider’s headers win, and lists of features are joined', () => {
  const options = { headers: { 'anthropic-version': '2', 'anthropic-beta': 'b', 'x-more': '1' } }
  const own = { 'anthropic-version': '1', 'anthropic-beta': 'a' }
  expect(withExtraHeaders(own, { options })).toEqual({
    'anthropic-version': '2',
    'anthropic-beta': 'a,b',
    'x-more': '1',
  })
  expect(withExtraHeaders(own, { options: undefined })).toBe(own)
})

test('parameters follow those of the path, which stay as they are', () => {
  const options = { query: { 'api-version': '2024-10-21', alt: 'json', odd: 'a b&c' } }
  expect(withExtraQuery('/chat', { options })).toBe('/chat?api-version=2024-10-21&alt=json&odd=a%20b%26c')
  expect(withExtraQuery('/m:stream?alt=sse', { options })).toBe(
    '/m:stream?alt=sse&api-version=2024-10-21&odd=a%20b%26c',
  )
  expect(withExtraQuery('/chat', { options: {} })).toBe('/chat')
  // The version of a deployment is a default.
  expect(withExtraQuery('/deployments/d/chat?api-version=1', { options })).toBe(
    '/deployments/d/chat?api-version=2024-10-21&alt=json&odd=a%20b%26c',
  )
})
