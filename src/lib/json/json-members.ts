/** The places of members in the text of a JSON object. Most members are never read, so no strings are made of them. */
export type Span = { readonly start: number; readonly end: number }

/** The span of a value, and the start of its member, which is the opening quote of the key. */
export type Member = Span & { readonly keyStart: number }

/** The places of each member: the two quotes of its key, and start and end of its value with white space around it. */
const PLACES = 4
/** Up to this number, names are compared with one another in place. More are put into a set. */
const FEW = 16

export class Members {
  private readonly text: string
  readonly places: readonly number[]
  /** The number of names in the whole text, including those of nested objects. */
  readonly namesWithin: number
  /** Whether a name has escapes. Such a name cannot be found by its characters. */
  private readonly hasEscapes: boolean
  private named: ReadonlyMap<string, Member> | undefined

  /** `places`: for each member the positions of its key's quotes, then start and end of its value. */
  constructor(text: string, places: readonly number[], namesWithin = places.length / PLACES) {
    this.text = text
    this.places = places
    this.namesWithin = namesWithin
    this.hasEscapes = this.someEscapes()
  }

  get size(): number {
    return this.places.length / PLACES
  }

  get(name: string): Member | undefined {
    if (this.hasEscapes || this.named) return this.byName().get(name)
    for (let at = 0; at < this.places.length; at += PLACES) {
      const start = this.place(at) + 1
      if (this.place(at + 1) - start === name.length && this.text.startsWith(name, start)) return this.member(at)
    }
    return undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  names(): Iterable<string> {
    return this.byName().keys()
  }

  /** In the order of the text. */
  [Symbol.iterator](): Iterator<[string, Member]> {
    return this.byName()[Symbol.iterator]()
  }

  /** Whether two members have the same name. */
  get isRepeating(): boolean {
    const { places, size } = this
    if (this.hasEscapes || size > FEW) return this.byName().size < size
    for (let one = 0; one < places.length; one += PLACES) {
      for (let other = one + PLACES; other < places.length; other += PLACES) if (this.sameName(one, other)) return true
    }
    return false
  }

  private sameName(one: number, other: number): boolean {
    const from = this.place(one)
    const to = this.place(other)
    const length = this.place(one + 1) - from
    if (this.place(other + 1) - to !== length) return false
    for (let i = 1; i < length; i++) if (this.text.charCodeAt(from + i) !== this.text.charCodeAt(to + i)) return false
    return true
  }

  /** Reads each character once, for any number of names. */
  private someEscapes(): boolean {
    let next = 0
    for (let at = 0; at < this.places.length; at += PLACES) {
      const start = this.place(at)
      if (next < start) next = this.text.indexOf('\\', start)
      if (next === -1) return false
      if (next > start && next < this.place(at + 1)) return true
    }
    return false
  }

  private byName(): ReadonlyMap<string, Member> {
    if (this.named) return this.named
    const named = new Map<string, Member>()
    for (let at = 0; at < this.places.length; at += PLACES) {
      const raw = this.text.slice(this.place(at) + 1, this.place(at + 1))
      named.set(raw.includes('\\') ? unescape(raw) : raw, this.member(at))
    }
    return (this.named = named)
  }

  private member(at: number): Member {
    let start = this.place(at + 2)
    let end = this.place(at + 3)
    while (start < end && isSpace(this.text.charCodeAt(start))) start++
    while (end > start && isSpace(this.text.charCodeAt(end - 1))) end--
    return { keyStart: this.place(at), start, end }
  }

  private place(at: number): number {
    return this.places[at] as number
  }
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw // JSON.parse reports malformed escapes.
  }
}
