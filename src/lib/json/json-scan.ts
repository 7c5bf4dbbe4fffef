/**
 * A structural pass over JSON text before it is parsed. It bounds depth and size, which JSON.parse does not: a 10 MB
 * depth bomb blocks it for over a second. It also notes the places of the members of the outermost object, so that
 * single values can be replaced without a change to any other byte.
 */
import { nextTurn } from '../runtime/end-of-tick.ts'
import { Members } from './json-members.ts'
import { limit } from '../primitives/limit.ts'

export type ScanLimits = {
  readonly depthMax: number
  /** Objects, arrays and strings together. */
  readonly nodesMax: number
  /** Commas, which bound long arrays of numbers. */
  readonly commasMax: number
  /** Members of one object. Each name of a very large object costs more to keep. */
  readonly membersMax: number
  /** Characters outside of strings: white space and digits (reading a number of 32 MB takes 120 ms). */
  readonly bareMax: number
  /** Backslash escapes. Reading 16 million takes 220 ms, and as many plain characters 10 ms. */
  readonly escapesMax: number
  /** Characters of a name in the outermost object, as written. */
  readonly keyCharsMax: number
}

export type Scan =
  | { readonly kind: 'scanned'; readonly members: Members }
  | { readonly kind: 'too_deep' | 'too_many_nodes' | 'too_dense' | 'key_too_long' | 'malformed' | 'repeated_key' }

/** The last three keep every step of reading the largest body below 100 ms (test/load/malformed.test.ts). */
export const requestScanLimits: ScanLimits = {
  depthMax: limit('jsonDepthMax', 64, 'A more deeply nested request body is refused.'),
  nodesMax: limit('jsonNodesMax', 200_000, 'A request body with more objects, arrays and strings is refused.'),
  commasMax: limit('jsonCommasMax', 400_000, 'A request body with more list items and members is refused.'),
  membersMax: limit('jsonMembersMax', 10_000, 'A request body that contains an object with more members is refused.'),
  bareMax: limit('jsonBareCharsMax', 6_000_000, 'A request body with more white space and digits is refused.'),
  escapesMax: limit('jsonEscapesMax', 1_000_000, 'A request body with more backslash escapes is refused.'),
  keyCharsMax: limit('jsonNameCharsMax', 1_000, 'A request body with a longer field name is refused.'),
}

/** More than any `depthMax`. */
const DEPTH_MAX = 128

/**
 * Limits of one answer or event. They keep every step of reading it below 100 ms, whatever it contains: each value
 * costs half a microsecond, each new name costs one, and some are read twice. Long lists of numbers and long strings,
 * such as images, cost little. Answers with the probabilities of many tokens exceed these limits, and another thread
 * reads them.
 */
export const answerLimits: ScanLimits = {
  depthMax: limit('answerDepthMax', 128, 'A more deeply nested answer is treated as invalid.'),
  nodesMax: limit('answerValuesMax', 60_000, 'An answer with more values is treated as invalid.'),
  commasMax: limit('answerCommasMax', 1_000_000, 'An answer with more list items is treated as invalid.'),
  membersMax: limit('answerMembersMax', 10_000, 'An answer with a larger object is treated as invalid.'),
  bareMax: limit('answerBareCharsMax', 6_000_000, 'An answer with more white space and digits is treated as invalid.'),
  escapesMax: limit('answerEscapesMax', 2_000_000, 'An answer with more backslash escapes is treated as invalid.'),
  keyCharsMax: 1_000,
}
/**
 * Limits of a reply with the probabilities of many tokens, which another thread reads: 20 for each of 30,000 tokens.
 */
export const largeAnswerLimits: ScanLimits = {
  ...answerLimits,
  nodesMax: limit(
    'largeAnswerValuesMax',
    5_000_000,
    'An answer with token probabilities and more values is treated as invalid.',
  ),
  commasMax: limit(
    'largeAnswerCommasMax',
    10_000_000,
    'An answer with token probabilities and more list items is treated as invalid.',
  ),
  bareMax: limit(
    'largeAnswerBareCharsMax',
    32_000_000,
    'An answer with token probabilities and more white space and digits is treated as invalid.',
  ),
}

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The characters of JSON's structure. */
const STRUCTURAL = /["{}[\],:]/g
/** After this number of characters without structure, the expression goes on, because it is faster on long runs. */
const RUN_CHARS = 64

function nextStructural(text: string, from: number): number {
  STRUCTURAL.lastIndex = from
  return STRUCTURAL.test(text) ? STRUCTURAL.lastIndex - 1 : text.length
}

/** One escaped quote often follows another. This number of characters is read before a search for the next. */
const NEAR_CHARS = 8

/** Position of the quote that closes the string opened at `open`, or -1. */
export function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
    at++
    for (const nearEnd = Math.min(at + NEAR_CHARS, text.length); at < nearEnd; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) return at
      if (code === BACKSLASH) at++
    }
  }
  return -1
}

/** Whether there are more escapes than allowed. An escape has two characters, so most texts are too short. */
function hasTooManyEscapes(text: string, escapesMax: number): boolean {
  if (text.length <= 2 * escapesMax) return false
  let escapes = 0
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at + 2)) if (++escapes > escapesMax) return true
  return false
}

/** Notes the places of the members of the outermost object during the scan. */
class MemberNotes {
  readonly places: number[] = []
  isKeyTooLong = false
  private keyStart = -1
  private keyEnd = -1
  private valueStart = -1
  private readonly keyCharsMax: number

  constructor(keyCharsMax: number) {
    this.keyCharsMax = keyCharsMax
  }

  string(start: number, end: number): void {
    if (this.valueStart === -1) {
      this.keyStart = start
      this.keyEnd = end
    }
  }

  colon(at: number): void {
    if (this.valueStart === -1) this.valueStart = at + 1
  }

  close(at: number): void {
    if (this.keyEnd - this.keyStart > this.keyCharsMax) this.isKeyTooLong = true
    else if (this.valueStart !== -1 && this.keyStart !== -1) {
      this.places.push(this.keyStart, this.keyEnd, this.valueStart, at)
    }
    this.keyStart = this.valueStart = -1
  }
}

/** The number of members so far of each open object, by its depth. */
const membersByDepth = (): Uint32Array => new Uint32Array(DEPTH_MAX + 1)

/** Shared by all scans that do not pause, because each of them runs to its end. */
const sharedMembersAt = membersByDepth()

/** A scan that can pause. */
class JsonScan {
  private readonly text: string
  private readonly limits: ScanLimits
  private readonly membersAt: Uint32Array
  private readonly notes: MemberNotes
  private at = 0
  private bare = 0
  private depth = 0
  private nodes = 0
  private commas = 0
  private names = 0

  constructor(text: string, limits: ScanLimits, membersAt = membersByDepth()) {
    this.text = text
    this.limits = limits
    this.membersAt = membersAt
    this.notes = new MemberNotes(limits.keyCharsMax)
    membersAt[0] = 0
  }

  /** Scans the given number of characters outside of strings. Undefined: it pauses there. */
  advance(chars: number): Scan | undefined {
    const { text, limits, membersAt, notes } = this
    let { at, bare, depth, nodes, commas, names } = this
    /** The start of the run without structure. */
    let runStart = at
    const bareEnd = Math.min(bare + chars, limits.bareMax)
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (++bare > bareEnd) {
        if (bare > limits.bareMax) return { kind: 'too_dense' }
        Object.assign(this, { at, bare: bare - 1, depth, nodes, commas, names })
        return undefined
      }
      if (code === QUOTE) {
        const end = closingQuote(text, at)
        if (end === -1) return { kind: 'malformed' }
        if (depth === 1) notes.string(at, end)
        if (++nodes > limits.nodesMax) return { kind: 'too_many_nodes' }
        at = end
      } else if (code === COMMA) {
        if (depth === 1) notes.close(at)
        if (++commas > limits.commasMax) return { kind: 'too_many_nodes' }
      } else if (code === COLON) {
        if (depth === 1) notes.colon(at)
        names++
        const members = (membersAt[depth] as number) + 1
        if (members > limits.membersMax) return { kind: 'too_many_nodes' }
        membersAt[depth] = members
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        if (++depth > limits.depthMax) return { kind: 'too_deep' }
        if (++nodes > limits.nodesMax) return { kind: 'too_many_nodes' }
        membersAt[depth] = 0
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (depth === 1) notes.close(at)
        if (--depth < 0) return { kind: 'malformed' }
      } else if (at - runStart < RUN_CHARS) continue
      else {
        const last = nextStructural(text, at) - 1
        bare += last - at
        at = last
      }
      runStart = at + 1
    }
    if (bare > limits.bareMax) return { kind: 'too_dense' }
    if (notes.isKeyTooLong) return { kind: 'key_too_long' }
    const members = new Members(text, notes.places, names)
    // Of two equal keys, one parser takes the first and another the last. The upstream could read another value than
    // we.
    if (members.isRepeating) return { kind: 'repeated_key' }
    return depth === 0 ? { kind: 'scanned', members } : { kind: 'malformed' }
  }
}

/** Scans JSON text. It accepts some text that is not JSON, which JSON.parse then refuses. */
export function scanJson(text: string, limits: ScanLimits): Scan {
  if (hasTooManyEscapes(text, limits.escapesMax)) return { kind: 'too_dense' }
  return new JsonScan(text, limits, sharedMembersAt).advance(Infinity) as Scan
}

/**
 * Characters outside of strings that are scanned in one turn of the loop. The engine may run the scan in a slow form
 * after many kinds of text, or long after the last scan. Six million characters in one turn would then take 150 ms.
 */
const TURN_CHARS = 500_000

/** Scans a long text, in turns of the loop. */
export async function scanLongJson(text: string, limits: ScanLimits, turnChars = TURN_CHARS): Promise<Scan> {
  if (hasTooManyEscapes(text, limits.escapesMax)) return { kind: 'too_dense' }
  const scan = new JsonScan(text, limits)
  for (;;) {
    await nextTurn()
    const found = scan.advance(turnChars)
    if (found) return found
  }
}

/** A name without escapes, or as written if it is not valid JSON. */
function unescaped(word: string): string {
  try {
    return JSON.parse(word) as string
  } catch {
    return word
  }
}

/** The first name that an object repeats. The text must have been scanned. */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = []
  let word = ''
  for (let at = nextStructural(text, 0); at < text.length; at = nextStructural(text, at + 1)) {
    const code = text.charCodeAt(at)
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) open.push(new Set())
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop()
    else if (code === QUOTE) {
      const start = at
      at = closingQuote(text, start)
      word = text.slice(start, at + 1)
    } else if (code === COLON) {
      const name = unescaped(word)
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}
