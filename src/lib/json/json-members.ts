/** Where the members of a JSON object's text stand. Most are never asked for: no text and no object is made of them. */
export type Span = { readonly start: number; readonly end: number }

/** A value, and where its member begins: at the key's opening quote. */
export type Member = Span & { readonly keyStart: number }

/** Of each member: its key's two quotes, and its value with the white space round it. */
const PLACES = 4
/** So many names are compared with one another where they stand; more are put into a set. */
const FEW = 16

export class Members {
  private readonly text: string
  readonly places: readonly number[]
  /** Names in the whole text, those of objects inside included. */
  readonly namesWithin: number
  /** A name that is written with escapes is not where its characters are. */
  private readonly hasEscapes: boolean
  private named: ReadonlyMap<string, Member> | undefined

  /** `places`: for each member the positions of its key's quotes, then from where to where its value is. */
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

  /** Whether two of them have one name. */
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

  /** Looks at each character once, however many names there are. */
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
    return raw // Malformed escapes are JSON.parse's to report.
  }
}
