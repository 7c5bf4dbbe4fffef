import type { Budget } from '../budget.ts'
import type { NonEmpty, Random } from '../random.ts'

/** The source of chance for an example, and its limits. */
export type ExampleContext = { random: Random; budget: Budget; charsMax: number }

export type Pattern = {
  /** A text that matches, as far as the pattern is understood. It is cut if there is no more room. */
  example(making: ExampleContext): string
  /** Whether a text is known to match. */
  matches(text: string): boolean
}

/**
 * A generator of texts from a regular expression. It understands literals, classes, groups, alternatives and
 * quantifiers. It skips assertions and back-references, so the caller must check the text.
 */
export function readPattern(written: string, budget: Budget): Pattern {
  const write = new PatternReader(written, budget).alternatives()
  const tried = triedOn(written)
  return {
    example(making) {
      const draft = new Draft(making)
      write(draft)
      return draft.text
    },
    matches: (text) => tried !== undefined && text.length <= TRIED_CHARS_MAX && tried.test(text),
  }
}

/** The bound of pattern and text for a test, because a search is quadratic in the longer of the two. */
const TRIED_CHARS_MAX = 300

/**
 * Clients write the patterns, and one that backtracks could stop the process. So only patterns with a single quantifier
 * and no group are run. Texts that are made from a pattern need no test.
 */
function triedOn(written: string): RegExp | undefined {
  if (written.length > TRIED_CHARS_MAX || (written.match(/[*+?{(]/g) ?? []).length > 1) return undefined
  try {
    return new RegExp(written, 'u')
  } catch {
    // The pattern is in another dialect, so nothing is known about it.
    return undefined
  }
}

/** An unfinished text. */
class Draft {
  readonly random: Random
  #repeatsLeft = REPEATS_MAX
  readonly #budget: Budget
  readonly #parts: string[] = []
  #charsLeft: number

  constructor({ random, budget, charsMax }: ExampleContext) {
    this.random = random
    this.#budget = budget
    this.#charsLeft = charsMax
  }

  get isFull(): boolean {
    return this.#charsLeft <= 0 || this.#budget.isSpent
  }

  get mayRepeat(): boolean {
    return this.#repeatsLeft > 0 && !this.isFull
  }

  get text(): string {
    return this.#parts.join('')
  }

  repeat(): void {
    this.#repeatsLeft -= 1
    this.#budget.spendSteps(1)
  }

  write(text: string): void {
    this.#budget.spendSteps(1)
    this.#charsLeft -= text.length
    this.#parts.push(text)
  }
}

type Writer = (draft: Draft) => void

const NOTHING: Writer = () => undefined
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
/** The characters that are used of a range such as `\u0000-\uffff`. */
const RANGE_MAX = 94
/** The characters that are used of a class. */
const CLASS_MAX = 1_000
/** The most repetitions of `*`, `+` and `{2,}` beyond their minimum. */
const EXTRA_MAX = 2
/** The bound of all repetitions together, because nested quantifiers multiply. */
const REPEATS_MAX = 10_000
/** Groups that are nested deeper are skipped. */
const DEPTH_MAX = 100

class PatternReader {
  readonly #pattern: readonly string[]
  readonly #budget: Budget
  #at = 0
  #depth = 0

  constructor(pattern: string, budget: Budget) {
    this.#pattern = Array.from(pattern)
    this.#budget = budget
    budget.spendSteps(pattern.length >> 1)
  }

  alternatives(): Writer {
    const branches: [Writer, ...Writer[]] = [this.#sequence()]
    while (this.#isOpen && this.#skip('|')) branches.push(this.#sequence())
    return (draft) => draft.random.pick(branches)(draft)
  }

  #sequence(): Writer {
    const writers: Writer[] = []
    while (this.#isOpen && this.#peek() !== '|' && this.#peek() !== ')') {
      const write = this.#quantified(this.#atom())
      if (write !== NOTHING) writers.push(write)
    }
    return (draft) => {
      for (const write of writers) {
        if (draft.isFull) return
        write(draft)
      }
    }
  }

  #atom(): Writer {
    const char = this.#take()
    if (char === '(') return this.#group()
    if (char === '[') return this.#oneOf(this.#class())
    if (char === '.') return this.#oneOf(LETTERS)
    if (char === '^' || char === '$') return NOTHING
    return char === '\\' ? this.#oneOf(this.#escape()) : (draft) => draft.write(char)
  }

  #group(): Writer {
    if (this.#depth >= DEPTH_MAX) return NOTHING
    this.#depth += 1
    const isAssertion = ['?=', '?!', '?<=', '?<!'].some((mark) => this.#skip(mark))
    if (!isAssertion && !this.#skip('?:') && this.#skip('?<')) this.#takeUntil('>')
    const inner = this.alternatives()
    this.#skip(')')
    this.#depth -= 1
    return isAssertion ? NOTHING : inner
  }

  #quantified(write: Writer): Writer {
    const [least, most] = this.#bounds()
    this.#skip('?')
    if (write === NOTHING || (least === 1 && most === 1)) return write
    return (draft) => {
      const times = least + draft.random.below(Math.min(most - least, EXTRA_MAX) + 1)
      for (let time = 0; time < times && draft.mayRepeat; time += 1) {
        draft.repeat()
        write(draft)
      }
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
    while (this.#isOpen && !this.#skip(']')) {
      const char = this.#take()
      const some = char === '\\' ? this.#escape() : [char]
      const isRange = this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']' && some.length === 1
      const more = isRange ? this.#range(some[0] ?? '') : some
      if (chars.length < CLASS_MAX) chars.push(...more)
    }
    this.#budget.spendSteps(2 + (chars.length >> 2))
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
    const filled: NonEmpty<string> = [first, ...rest]
    return (draft) => draft.write(draft.random.pick(filled))
  }

  /** Whether there is more to read, and budget for it. */
  get #isOpen(): boolean {
    return this.#at < this.#pattern.length && !this.#budget.isSpent
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
