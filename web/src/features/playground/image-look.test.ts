import { expect, test } from 'bun:test'
import { imageFamilies } from '../../../../src/vendors/image-families.ts'
import { lookOf, nothing } from './image-look.ts'

test('what was wanted of one model and another cannot do is in the way of nothing', () => {
  const wanted = { ...nothing, background: 'transparent', format: 'jpeg' }
  const clear = { ...imageFamilies['gpt-image'], backgrounds: ['transparent', 'opaque'], formats: ['png', 'jpeg'] }
  expect(lookOf(clear, wanted)).toMatchObject({ background: 'transparent', format: '' })
  expect(lookOf({ ...clear, backgrounds: ['opaque'] }, wanted)).toMatchObject({ background: '', format: 'jpeg' })
})

test.each([
  ['2.5', 2],
  ['0.5', 1],
  ['-3', 1],
  ['1e9', 4],
  ['x', 1],
])('%s images are %d', (count, expected) => {
  expect(lookOf({ ...imageFamilies['gpt-image'], countMax: 4 }, { ...nothing, count }).count).toBe(expected)
})
