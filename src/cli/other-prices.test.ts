import { expect, test } from 'bun:test'
import { otherPrices, tokenPrice, type PriceCardView } from './other-prices.ts'

const words: PriceCardView = {
  input_usd_per_million: '1.00',
  output_usd_per_million: '4.00',
  image_input_usd_per_million: '1.00',
  image_output_usd_per_million: '0.00',
  each_usd: {},
}

test('a price card for text alone has no other prices', () => {
  expect(otherPrices(words, 2)).toBeUndefined()
})

test('images and pieces are named with their prices, and the rest is counted', () => {
  const each = { 'second/480p': '0.03', 'second/720p': '0.06', upscale: '0.01' }
  const video = { ...words, image_output_usd_per_million: '30.00', each_usd: each }
  expect(otherPrices(video, 9)).toBe('image output $30.00/1M, second/480p $0.03, second/720p $0.06, upscale $0.01')
  expect(otherPrices(video, 2)).toBe('image output $30.00/1M, second/480p $0.03, 2 more')
  expect(otherPrices({ ...words, each_usd: { image: '0.04' } }, 1)).toBe('image $0.04')
})

test('a zero price by tokens is omitted if the card sells something else, and shown if text is free', () => {
  const card = {
    input_usd_per_million: '5.00',
    output_usd_per_million: '0.00',
    image_input_usd_per_million: '5.00',
    image_output_usd_per_million: '40.00',
    each_usd: {},
  }
  expect([tokenPrice(card, '5.00'), tokenPrice(card, '0.00')]).toEqual(['5.00', undefined])
  const free = { ...card, image_input_usd_per_million: '0.00', image_output_usd_per_million: '0.00' }
  expect(tokenPrice(free, '0.00')).toBe('0.00')
})
