import { expect, test } from 'bun:test'
import { en } from './i18n/en.ts'
import type { Dictionary } from './language.ts'
import { zh } from './i18n/zh.ts'
import type { UnitPrices } from './models.ts'
import { pieceRanges } from './pieces.ts'

const free = { input: '0', cached_input: '0', cache_write: '0', cache_write_1h: '0', output: '0', reasoning: '0' }
const card = (each: UnitPrices['each']): UnitPrices => ({ ...free, image_input: '0', image_output: '0', each })
const said = (each: UnitPrices['each'], words: Dictionary = en): string | undefined =>
  pieceRanges(card(each), (key, { amount = '' } = {}) => words[key].replace('{amount}', String(amount)))

test('a price by the piece says what the piece is', () => {
  expect(said({ 'second/720p': '150000000', 'second/1080p': '400000000' })).toBe('$0.15 – $0.40 / s')
  expect(said({ 'image/1024x1024/hd': '80000000', 'image/512x512': '80000000' })).toBe('$0.08 / image')
  expect(said({ image: '40000000' }, zh)).toBe('$0.04 / 张')
})

test('a token is no image, and the enlarging of a video is not in its price', () => {
  expect(said({ token: '7000', upscale: '10000000' })).toBe('$0.000007 / token')
  expect(said({ 'token/720p': '7000', 'token/1080p': '7700' }, zh)).toBe('$0.000007 – $0.0000077 / token')
})

test('a card of several units has a range of each, never one over all', () => {
  expect(said({ 'token/1080p': '7000', 'second/480p': '100000000', 'second/720p': '150000000' })).toBe(
    '$0.000007 / token · $0.10 – $0.15 / s',
  )
})

test('a unit without a word is a bare range, and no pieces are nothing', () => {
  expect(said({ page: '1000000', 'page/a4': '2000000' })).toBe('$0.001 – $0.002')
  expect(said({})).toBeUndefined()
  expect(said({ upscale: '20000000' })).toBeUndefined()
})
