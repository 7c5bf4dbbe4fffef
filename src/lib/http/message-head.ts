/** The first line and the headers of an HTTP/1.1 message, read strictly and in one pass (RFC 9112 §2 to §5). */
import { limit } from '../primitives/limit.ts'

/** Look-ups of headers. Names are lower case. */
export type HeaderFields = Pick<ReadonlyMap<string, string>, 'get' | 'has'>

export const HEADERS_MAX = limit(
  'headersMax',
  100,
  'A request with more headers is refused. An answer with more counts as a failed attempt.',
)
/** Headers that may not repeat, because two values would mean two messages or two callers. */
const single = ['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']

const TAB = 0x09
const CR = 0x0d
const LF = 0x0a
const COLON = 0x3a

/** The kinds of characters in a head. A name is a token (RFC 9110, 5.6.2). */
const IN_NAME = 1
const UPPER = 2
const CONTROL = 4
const TO_LOWER = 0x20
const kindOf = new Uint8Array(256)
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") kindOf[char.charCodeAt(0)] = IN_NAME
for (let code = 0x41; code <= 0x5a; code++) kindOf[code] = IN_NAME | UPPER
for (let code = 0; code < 0x20; code++) kindOf[code] = code === TAB ? 0 : CONTROL
kindOf[0x7f] = CONTROL

/** Undefined beyond the end, and for a character that is no byte. Undefined matches no kind. */
const kindAt = (text: string, at: number): number => kindOf[text.charCodeAt(at)] as number

/** Reads a head without its final blank line. Undefined if it is malformed. */
export function parseHead(text: string): Fields | undefined {
  const startEnd = lineEnd(text, 0)
  const places: number[] = []
  let at = startEnd
  while (at !== -1 && at < text.length) {
    at = places.length === HEADERS_MAX * PLACES ? -1 : readHeader(text, at + 2, places)
  }
  if (at === -1) return undefined
  const fields = new Fields(text, startEnd, places)
  for (const name of single) if (fields.isRepeated(name)) return undefined
  return fields
}

/** Notes the places of the header that begins at `from`. Returns the end of its line, or -1 if it is malformed. */
function readHeader(text: string, from: number, places: number[]): number {
  let colon = from
  while ((kindAt(text, colon) & IN_NAME) !== 0) colon++
  // Folded lines and most request smuggling begin with a name that contains a space or is empty.
  if (colon === from || text.charCodeAt(colon) !== COLON) return -1
  const end = lineEnd(text, colon + 1)
  if (end === -1) return -1
  let valueFrom = colon + 1
  let valueTo = end
  // `trim` would remove more than spaces and tabs. A length of `\xa05` must stay invalid.
  while (valueFrom < valueTo && isBlank(text.charCodeAt(valueFrom))) valueFrom++
  while (valueTo > valueFrom && isBlank(text.charCodeAt(valueTo - 1))) valueTo--
  places.push(from, colon, valueFrom, valueTo)
  return end
}

/** The end of the line that contains `from`. -1 if the line has a control character or half of a line end. */
function lineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && kindAt(text, at) !== CONTROL) at++
  if (at === text.length) return at
  return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? at : -1
}

const isBlank = (code: number): boolean => code === 0x20 || code === TAB

/** The places of each header: start and end of its name, and of its value. */
const PLACES = 4

/** Headers as places in the head. A vendor sends two dozen, and three are read. The others are never made strings. */
class Fields implements HeaderFields {
  /** The end of the first line. */
  readonly startEnd: number
  private readonly text: string
  private readonly places: readonly number[]

  constructor(text: string, startEnd: number, places: readonly number[]) {
    this.text = text
    this.startEnd = startEnd
    this.places = places
  }

  /** Repeated headers are joined by a comma. */
  get(name: string): string | undefined {
    let at = this.next(name, 0)
    if (at === -1) return undefined
    let value = this.value(at)
    for (at = this.next(name, at + PLACES); at !== -1; at = this.next(name, at + PLACES)) value += `, ${this.value(at)}`
    return value
  }

  has(name: string): boolean {
    return this.next(name, 0) !== -1
  }

  isRepeated(name: string): boolean {
    const first = this.next(name, 0)
    return first !== -1 && this.next(name, first + PLACES) !== -1
  }

  /** For headers that are read many times. */
  toMap(): Map<string, string> {
    const map = new Map<string, string>()
    for (let at = 0; at < this.places.length; at += PLACES) {
      const name = this.text.slice(this.place(at), this.place(at + 1)).toLowerCase()
      const before = map.get(name)
      map.set(name, before === undefined ? this.value(at) : `${before}, ${this.value(at)}`)
    }
    return map
  }

  /** The index of the next header of that name, or -1. */
  private next(name: string, from: number): number {
    for (let at = from; at < this.places.length; at += PLACES) {
      const start = this.place(at)
      if (this.place(at + 1) - start === name.length && this.isNamed(name, start)) return at
    }
    return -1
  }

  private isNamed(name: string, start: number): boolean {
    for (let i = 0; i < name.length; i++) {
      const code = this.text.charCodeAt(start + i)
      if (name.charCodeAt(i) !== ((kindOf[code] as number) & UPPER ? code | TO_LOWER : code)) return false
    }
    return true
  }

  private value(at: number): string {
    return this.text.slice(this.place(at + 2), this.place(at + 3))
  }

  private place(at: number): number {
    return this.places[at] as number
  }
}
