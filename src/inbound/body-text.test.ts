import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { ArrivingText, decodeBody, type BodyText } from './body-text.ts'

const BLOCK = 1024 * 1024
const strict = new TextDecoder('utf-8', { fatal: true })

/** The platform's result for the whole body at once. */
function readAtOnce(bytes: Buffer): BodyText {
  try {
    return { kind: 'read', text: strict.decode(bytes), bytes: bytes.length }
  } catch {
    return { kind: 'not_utf8' }
  }
}

function readInPieces(bytes: Buffer, sizes: readonly number[], bytesMax = bytes.length): BodyText {
  const arriving = new ArrivingText(bytesMax, undefined)
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number
    expect(arriving.push(bytes.subarray(at, at + size))).toBe('taken')
    at += size
  }
  return arriving.end()
}

const SIGNS = ['a', 'é', 'ж', '漢', '\ufeff', '\ufffd', '😀', '\u{10ffff}']
/** A lone lead or trailer, overlong forms, half a surrogate pair, beyond Unicode, an invalid first byte. */
const WRONG = ['c3', '80', 'c080', 'e08080', 'eda080', 'f4908080', 'f8888080', 'ff', 'e6bc', 'f09f98']

test('a body in pieces gives the same as in one piece, wherever characters and blocks are cut', () => {
  const part = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...SIGNS).map((sign) => Buffer.from(sign)) },
    { weight: 1, arbitrary: fc.constantFrom(...WRONG).map((hex) => Buffer.from(hex, 'hex')) },
  )
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0, BLOCK - 20, 2 * BLOCK - 20),
      fc.boolean(),
      (parts, sizes, before, isKnown) => {
        const end = Buffer.concat(parts)
        const bytes = Buffer.concat([Buffer.alloc(before, 'x'), end])
        const pieces = before === 0 ? sizes : [before, ...sizes.flatMap((size) => Array<number>(30).fill(size))]
        const read = readInPieces(bytes, pieces, isKnown ? bytes.length : 32 * 1024 * 1024)
        expect(read).toEqual(readAtOnce(bytes))
        expect(decodeBody(bytes, 0, bytes.length)).toEqual(readAtOnce(bytes))
      },
    ),
    { numRuns: 1_000 },
  )
})

test('a character stays whole if a block ends within it', () => {
  for (const sign of SIGNS) {
    for (let shift = 0; shift < 8; shift++) {
      const text = 'x'.repeat(shift) + sign.repeat(Math.ceil((2 * BLOCK + 9) / Buffer.byteLength(sign)))
      const bytes = Buffer.from(text)
      const read = readInPieces(bytes, [700_001, 3, 1])
      expect(read.kind === 'read' && Bun.hash(read.text)).toBe(Bun.hash(strict.decode(bytes)))
      const cut = bytes.subarray(0, -1)
      expect(readInPieces(cut, [cut.length]).kind).toBe(Buffer.byteLength(sign) > 1 ? 'not_utf8' : 'read')
    }
  }
})

test('a byte order mark is dropped at the very beginning, and only one', () => {
  const mark = '\ufeff'
  const bytes = Buffer.from(mark + mark + 'x'.repeat(BLOCK - 6) + mark)
  const read = readInPieces(bytes, [1, 100_000])
  expect(read).toMatchObject({ kind: 'read', bytes: bytes.length })
  expect(read.kind === 'read' && read.text === mark + 'x'.repeat(BLOCK - 6) + mark).toBe(true)
})

test('arriving bytes count against the share, up to the longest possible body, and are given back', () => {
  const shares = new SharedBudget({ max: 10_000_000, shareMax: 6_000_000 })
  const share = shares.of('a')
  const [first, second] = [new ArrivingText(5_000_000, share), new ArrivingText(5_000_000, share)]
  const piece = Buffer.alloc(1_000_000, 'x')
  for (let i = 0; i < 5; i++) expect(first.push(piece)).toBe('taken')
  expect(second.push(piece)).toBe('taken')
  expect(second.push(piece)).toBe('share_full')
  second.release()
  expect(share.take(1_000_000, 1)).toBe('taken')
  expect(share.take(1, 1)).toBe('share_full')
  first.release()
  expect(share.take(5_000_000, 1)).toBe('taken')
})

test('text that takes two bytes for a character is counted with both', () => {
  const shares = new SharedBudget({ max: 10_000_000, shareMax: 10_000_000 })
  const arriving = new ArrivingText(40_000_000, shares.of('a'))
  expect(shares.of('b').take(1, 0)).toBe('taken')
  const piece = Buffer.from(`漢${'x'.repeat(BLOCK - 3)}`)
  const taken = Array.from({ length: 6 }, () => arriving.push(piece))
  // Four blocks of text that count double, and one block of bytes.
  expect(taken).toEqual(['taken', 'taken', 'taken', 'taken', 'taken', 'full'])
})

test('a body takes no more memory once it is known not to be UTF-8', () => {
  const shares = new SharedBudget({ max: 4_000_000, shareMax: 4_000_000 })
  const arriving = new ArrivingText(40_000_000, shares.of('a'))
  const piece = Buffer.alloc(BLOCK, 0xff)
  for (let i = 0; i < 20; i++) expect(arriving.push(piece)).toBe('taken')
  expect(shares.of('b').take(2_500_000, 1)).toBe('taken')
  expect(arriving.end()).toEqual({ kind: 'not_utf8' })
})
