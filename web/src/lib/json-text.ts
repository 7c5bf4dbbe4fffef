/** Parses typed JSON, or finds the place of the first error. Browsers describe errors in different ways. */
/** Lines and columns count from 1. */
export type ReadJson =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly line: number; readonly column: number }

export function readJson(text: string): ReadJson {
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown }
  } catch {
    const before = text.slice(0, new Scan(text).brokenAt()).split('\n')
    return { kind: 'broken', line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }
}

const space = /[ \t\n\r]*/y
const scalar =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null/iuy
const DEPTH_MAX = 200

class Scan {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  /** The place where the text stops being JSON. */
  brokenAt(): number {
    if (this.value(0)) this.skip()
    return this.at
  }

  private skip(): string {
    space.lastIndex = this.at
    space.test(this.text)
    this.at = space.lastIndex
    return this.text[this.at] ?? ''
  }

  private take(character: string): boolean {
    if (this.skip() !== character) return false
    this.at++
    return true
  }

  private value(depth: number): boolean {
    if (depth > DEPTH_MAX) return false
    const next = this.skip()
    if (next === '[') return this.list(']', () => this.value(depth + 1))
    if (next === '{') return this.list('}', () => this.name() && this.take(':') && this.value(depth + 1))
    scalar.lastIndex = this.at
    if (!scalar.test(this.text)) return false
    this.at = scalar.lastIndex
    return true
  }

  private name(): boolean {
    return this.skip() === '"' && this.value(0)
  }

  private list(end: string, item: () => boolean): boolean {
    this.at++
    if (this.take(end)) return true
    while (item()) {
      if (this.take(end)) return true
      if (!this.take(',')) return false
    }
    return false
  }
}
