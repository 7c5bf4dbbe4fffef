import type { Filled, Random } from '../random.ts'

/**
 * A text that matches a regular expression, as far as a page of code goes: literals, classes, groups, alternatives and
 * quantifiers. Assertions and back-references are passed over, so the caller must check the text it gets.
 */
export function exampleMatch(pattern: string, random: Random): string {
  return new PatternReader(pattern, random).alternatives()()
}

type Writer = () => string

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('')
const DIGITS = '0123456789'.split('')
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(33 + index))
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  d: DIGITS,
  w: [...LETTERS, ...DIGITS],
  s: [' '],
  D: LETTERS,
  W: ['-'],
  S: LETTERS,
  n: ['\n'],
  r: ['\r'],
  t: ['\t'],
}
/** Enough of a range such as `\u0000-\uffff` to choose from. */
const RANGE_MAX = 94
/** What `*`, `+` and `{2,}` add at most to their least. */
const EXTRA_MAX = 2
/** Nested quantifiers multiply; what they repeat is bounded all the same. */
const REPEATS_MAX = 10_000

class PatternReader {
  readonly #pattern: readonly string[]
  readonly #random: Random
  #at = 0
  #repeatsLeft = REPEATS_MAX

  constructor(pattern: string, random: Random) {
    this.#pattern = Array.from(pattern)
    this.#random = random
  }

  alternatives(): Writer {
    const branches: [Writer, ...Writer[]] = [this.#sequence()]
    while (this.#skip('|')) branches.push(this.#sequence())
    return () => this.#random.pick(branches)()
  }

  #sequence(): Writer {
    const writers: Writer[] = []
    while (this.#at < this.#pattern.length && this.#peek() !== '|' && this.#peek() !== ')') {
      writers.push(this.#quantified(this.#atom()))
    }
    return () => writers.map((write) => write()).join('')
  }

  #atom(): Writer {
    const char = this.#take()
    if (char === '(') return this.#group()
    if (char === '[') return this.#oneOf(this.#class())
    if (char === '.') return this.#oneOf(LETTERS)
    if (char === '^' || char === '$') return () => ''
    return char === '\\' ? this.#oneOf(this.#escape()) : () => char
  }

  #group(): Writer {
    const isAssertion = ['?=', '?!', '?<=', '?<!'].some((mark) => this.#skip(mark))
    if (!isAssertion && !this.#skip('?:') && this.#skip('?<')) this.#takeUntil('>')
    const inner = this.alternatives()
    this.#skip(')')
    return isAssertion ? () => '' : inner
  }

  #quantified(write: Writer): Writer {
    const [least, most] = this.#bounds()
    this.#skip('?')
    if (least === 1 && most === 1) return write
    return () => {
      const times = least + this.#random.below(Math.min(most - least, EXTRA_MAX) + 1)
      let text = ''
      for (let time = 0; time < times && this.#repeatsLeft > 0; time += 1) {
        this.#repeatsLeft -= 1
        text += write()
      }
      return text
    }
  }

  #bounds(): [number, number] {
    if (this.#skip('*')) return [0, Infinity]
    if (this.#skip('+')) return [1, Infinity]
    if (this.#skip('?')) return [0, 1]
    const written = /^\{(\d+)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at, this.#at + 24).join(''))
    if (!written) return [1, 1]
    const [whole, least, comma, most] = written
    this.#at += whole.length
    if (comma === '') return [Number(least), Number(least)]
    return [Number(least), most === '' ? Infinity : Number(most)]
  }

  #class(): readonly string[] {
    const isNegated = this.#skip('^')
    const chars: string[] = []
    while (this.#at < this.#pattern.length && !this.#skip(']')) {
      const char = this.#take()
      const some = char === '\\' ? this.#escape() : [char]
      const isRange = this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']' && some.length === 1
      if (isRange) chars.push(...this.#range(some[0] ?? ''))
      else chars.push(...some)
    }
    return isNegated ? PRINTABLE.filter((char) => !chars.includes(char)) : chars
  }

  #range(first: string): string[] {
    this.#skip('-')
    const char = this.#take()
    const last = char === '\\' ? (this.#escape()[0] ?? first) : char
    const from = first.codePointAt(0) ?? 0
    const length = Math.min((last.codePointAt(0) ?? from) - from + 1, RANGE_MAX)
    return Array.from({ length: Math.max(length, 0) }, (_, index) => String.fromCodePoint(from + index))
  }

  #escape(): readonly string[] {
    const char = this.#take()
    if (char === 'b' || char === 'B') return ['']
    if (char === 'p' || char === 'P') return this.#takeUntil('}').includes('N') ? DIGITS : LETTERS
    if (char === 'x') return [this.#codePoint(2)]
    if (char === 'u') return [this.#skip('{') ? codePointOf(this.#takeUntil('}')) : this.#codePoint(4)]
    return CLASSES[char] ?? [char]
  }

  #codePoint(digits: number): string {
    this.#at += digits
    return codePointOf(this.#pattern.slice(this.#at - digits, this.#at).join(''))
  }

  #oneOf(chars: readonly string[]): Writer {
    const [first = '', ...rest] = chars
    const filled: Filled<string> = [first, ...rest]
    return () => this.#random.pick(filled)
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #take(): string {
    this.#at += 1
    return this.#pattern[this.#at - 1] ?? ''
  }

  #takeUntil(end: string): string {
    const from = this.#at
    while (this.#at < this.#pattern.length && this.#take() !== end);
    return this.#pattern.slice(from, this.#at - 1).join('')
  }

  #skip(mark: string): boolean {
    const isThere = Array.from(mark).every((char, index) => this.#pattern[this.#at + index] === char)
    if (isThere) this.#at += mark.length
    return isThere
  }
}

function codePointOf(hex: string): string {
  const code = Number.parseInt(hex, 16)
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
