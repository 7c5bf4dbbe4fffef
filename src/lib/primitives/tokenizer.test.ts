import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { Tokenizer } from './tokenizer.ts'

const TEXTS = Number(process.env['TOLLGATE_TOKENIZER_TEXTS'] ?? 2_000)
const SEED = Number(process.env['TOLLGATE_SEED'] ?? Date.now() % 1_000_000)

const tokenizer = new Tokenizer(readFileSync(new URL(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'))))
/** The library's count of a text that is short enough for one piece. */
const expected = (text: string): number => countTokens(text, { disallowedSpecial: new Set<string>() })

let state = SEED
/** mulberry32: a whole number below `below`. */
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below
}
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T
const point = (from: number, to: number): string => String.fromCodePoint(from + random(to - from))

const SOURCE = readFileSync(import.meta.path, 'utf8')
const PROSE = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const partOf = (text: string): string => text.slice(random(text.length)).slice(0, 1 + random(60))

/** The kinds of pieces of a generated text. */
const makers: Record<string, () => string> = {
  prose: () => partOf(PROSE),
  code: () => partOf(SOURCE),
  letters: () => point(0x41, 0x7b),
  'one letter, often': () => point(0x61, 0x7b).repeat(1 + random(80)),
  latin: () => point(0xa0, 0x250),
  'greek to hebrew': () => point(0x370, 0x600),
  'arabic to thai': () => point(0x600, 0xe80),
  chinese: () => point(0x4e00, 0x9fff),
  kana: () => point(0x3040, 0x3100),
  hangul: () => point(0xac00, 0xd7a4),
  emoji: () => pick(['👩‍👩‍👧', '🇨🇭', '👍🏽', '❤️', point(0x1f300, 0x1f700)]),
  marks: () => point(0x300, 0x370),
  'any of the first plane': () => point(0, 0xd800),
  'any above it': () => point(0x10000, 0x110000),
  'half of a pair': () => String.fromCharCode(0xd800 + random(0x800)),
  digits: () => String(random(10 ** (1 + random(9)))),
  'other digits': () => point(0x660, 0x66a) + point(0x2160, 0x2180),
  blanks: () => pick([' ', '\t', '\n', '\r\n', '\u00a0', '\u2003', '\u3000', '\v']).repeat(1 + random(12)),
  punctuation: () => point(0x21, 0x30).repeat(1 + random(4)),
  suffixes: () => pick(["'s", "'LL", "'Ve", "'", '’s', "can't", "DON'T", "O'Re"]),
  paths: () => pick(['/', '//\n', 'https://', '\\', '/\r\n/']),
  'control-like': () => pick(['<|endoftext|>', '<|im_start|>', '<|fim_prefix|>', '<|', '|>', '[INST]', '<s>']),
  controls: () => point(0, 0x20),
}

describe(`seed ${SEED}: counts like the library`, () => {
  // The library drops a byte order mark, and so never finds tokens that contain one.
  const shortText = (make: () => string): string => {
    let text = ''
    const pieces = 1 + random(40)
    for (let i = 0; i < pieces; i++) text += make()
    return text.replaceAll('\ufeff', '').slice(0, 1 + random(512))
  }
  const agree = (text: string): void => {
    const count = tokenizer.count(text)
    if (count !== expected(text)) throw new Error(`${count}, not ${expected(text)}: ${JSON.stringify(text)}`)
  }

  test.each(Object.entries(makers))('%s', (_, make) => {
    for (let i = 0; i < TEXTS / 10; i++) agree(shortText(make))
  })

  test('all of them mixed', () => {
    const all = Object.values(makers)
    for (let i = 0; i < TEXTS; i++) agree(shortText(() => pick(all)()))
  })

  test('every character of the first plane, alone, after a space and between letters', () => {
    for (let code = 0; code < 0x10000; code += 1 + random(8)) {
      if (code === 0xfeff) continue
      const char = String.fromCharCode(code)
      for (const text of [char, ` ${char}`, `a${char}b`]) agree(text)
    }
  })
})

test('a long text is the sum of its pieces', () => {
  const text = SOURCE.repeat(3)
  let sum = 0
  for (let at = 0; at < text.length; at += 512) sum += expected(text.slice(at, at + 512))
  expect(tokenizer.count(text)).toBe(sum)
  expect(tokenizer.count('')).toBe(0)
})

test('a byte order mark is a token', () => {
  expect(tokenizer.count('\ufeff')).toBe(1)
  expect(tokenizer.count('\ufeffhello')).toBe(2)
})

test('an endless word takes linear time', () => {
  const startedMs = performance.now()
  for (const letter of ['a', '中', '𐍈']) tokenizer.count(letter.repeat(64 * 1024))
  expect(performance.now() - startedMs).toBeLessThan(10_000)
})

describe('long words', () => {
  const longWords: Record<string, () => string> = {
    'one letter': () => point(0x61, 0x7b).repeat(100 + random(412)),
    letters: () => Array.from({ length: 100 + random(412) }, () => point(0x61, 0x7b)).join(''),
    'two letters': () => Array.from({ length: 100 + random(412) }, () => pick(['a', 'b'])).join(''),
    chinese: () => Array.from({ length: 40 + random(472) }, () => point(0x4e00, 0x9fff)).join(''),
    punctuation: () => Array.from({ length: 100 + random(412) }, () => pick(['#', '%', '=', '-', '>'])).join(''),
  }

  test.each(Object.entries(longWords))('%s: counted like the library', (_, make) => {
    for (let i = 0; i < 60; i++) {
      const text = make()
      expect([text, tokenizer.count(text)]).toEqual([text, expected(text)])
    }
  })

  test('take about as long as prose', () => {
    const cost = (text: string): number => {
      tokenizer.count(text)
      const before = process.cpuUsage().user
      for (let i = 0; i < 3; i++) tokenizer.count(text)
      return process.cpuUsage().user - before
    }
    const prose = cost(PROSE.repeat(20).slice(0, 131_072))
    for (const text of ['\u4e00', '漢字仮名', 'ab', '#=', '\u{1f300}'].map((word) =>
      word.repeat(131_072).slice(0, 131_072),
    ))
      expect(cost(text)).toBeLessThan(10 * prose + 50_000)
  })
})
