import { expect, test } from 'bun:test'
import { soldChoice, type ImageOptions } from './image.ts'
import { imageFamilies } from '../vendors/image-families.ts'
import { unitPrices, type PriceCard } from './price.ts'

const card = (units: Record<string, bigint>): PriceCard => ({
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: { ...unitPrices({ input: 0n, output: 0n }), ...units },
})
const model = (units: Record<string, bigint>) => ({
  kind: 'image',
  sale: card(units),
  limits: { image: imageFamilies['gpt-image'] },
})
const wish = (size?: string, quality?: string): ImageOptions => ({ count: 1, size, quality, partials: 0, inputs: 0 })
const holes = model({
  'piece:image/1024x1024/low': 1n,
  'piece:image/1024x1024/medium': 2n,
  'piece:image/1024x1024/high': 3n,
  'piece:image/1536x1024/high': 4n,
})

test('a request without options gets a kind that has a price, if the card prices only some kinds', () => {
  expect(soldChoice(wish(), holes)).toEqual({ size: '1024x1024', quality: 'medium' })
  expect(soldChoice(wish('1536x1024'), holes)).toEqual({ size: '1536x1024', quality: 'high' })
  expect(soldChoice(wish(undefined, 'low'), holes)).toEqual({ size: '1024x1024', quality: 'low' })
})

test('nothing is chosen if all kinds have a price, none has, or images are sold by tokens', () => {
  expect(soldChoice(wish(), model({ ...holes.sale.nanoPerMillion, 'piece:image': 9n }))).toBeUndefined()
  expect(soldChoice(wish('1024x1536', 'low'), holes)).toBeUndefined()
  expect(soldChoice(wish(), model({}))).toBeUndefined()
})
