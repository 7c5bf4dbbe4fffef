import { expect, test } from 'bun:test'
import { otherPrices, type Priced } from './other-prices.ts'

const words: Priced = {
  input_usd_per_million: '1.00',
  output_usd_per_million: '4.00',
  image_input_usd_per_million: '1.00',
  image_output_usd_per_million: '0.00',
  each_usd: {},
}

test('words alone have no other prices', () => {
  expect(otherPrices(words, 2)).toBeUndefined()
})

test('images and pieces are named with their prices, and what is too much is counted', () => {
  const each = { 'second/480p': '0.03', 'second/720p': '0.06', upscale: '0.01' }
  const video = { ...words, image_output_usd_per_million: '30.00', each_usd: each }
  expect(otherPrices(video, 9)).toBe('image output $30.00/1M, second/480p $0.03, second/720p $0.06, upscale $0.01')
  expect(otherPrices(video, 2)).toBe('image output $30.00/1M, second/480p $0.03, 2 more')
  expect(otherPrices({ ...words, each_usd: { image: '0.04' } }, 1)).toBe('image $0.04')
})
