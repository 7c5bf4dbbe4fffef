/** The content of a conversation, and the check that a vendor gets all of it, in order and digit by digit. */
import { parseExact } from '../../../src/lib/json/exact-json.ts'
import { CONVERSE_SEAL, GEMINI_SEAL, MESSAGES_SEAL, RESPONSES_SEAL } from '../refusals.ts'
import { fieldsOf, type SeenRequest, type SeenCall, type SeenMessage, type SeenResult } from '../seen.ts'

export type TrueResult = {
  readonly text: string
  readonly pictures: readonly string[]
  readonly isError: boolean
  readonly structured: boolean
}
export type TrueCall = {
  /** Which of the client's tools. */
  readonly tool: number
  readonly name: string
  readonly kind: 'function' | 'custom'
  readonly args: string
  result: TrueResult | undefined
}
export type Step =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly text: string; readonly pictures: readonly string[] }
  | { readonly kind: 'assistant'; readonly text: string; readonly calls: readonly TrueCall[] }

export class Violation extends Error {}
export const violated = (message: string): never => {
  throw new Violation(message)
}

/** JSON without white space, its numbers as they stand. */
export const compact = (json: string): string => {
  try {
    return JSON.stringify(parseExact(json.trim() === '' ? '{}' : json))
  } catch {
    return json
  }
}

type Token = { readonly mark: string; readonly words: string }
/** Every text begins with its mark: who said it, and the how manieth it is. */
const MARK = /\[([a-z]\d+)\]/

function tokensIn(text: string): Token[] {
  const parts = text.split(MARK)
  return parts.flatMap((mark, i) => (i % 2 === 1 ? [{ mark, words: (parts[i + 1] ?? '').trim() }] : []))
}

/** A line for each thing that was said, in its order; results stand behind their calls, in the order of these. */
function linesOf(steps: readonly Step[]): string[] {
  let calls = 0
  return steps.flatMap((step) => {
    if (step.kind === 'system') return []
    const words = tokensIn(step.text).map(line)
    if (step.kind === 'user') return words
    const called = step.calls.map((call, i) => `call ${calls + i} of tool ${call.tool}: ${argsOf(call)}`)
    const results = step.calls.flatMap(({ result }, i) => (result ? [resultLine(calls + i, result.text)] : []))
    calls += step.calls.length
    return [...words, ...called, ...results]
  })
}

const line = ({ mark, words }: Token): string => `${mark}: ${words}`
const argsOf = ({ kind, args }: TrueCall): string => (kind === 'custom' ? args : compact(args))
const resultLine = (call: number, text: string): string => `result of call ${call}: ${compact(text).trim()}`

/** The same of what a vendor was told. */
class ToldFacts {
  readonly lines: string[] = []
  readonly system: string[]
  private readonly calls: SeenCall[] = []
  private readonly answered = new Set<number>()
  /** Of the calls that are answered now: the first one's number. */
  private group = 0
  private isCalling = false
  private results = new Map<number, string>()
  private readonly seen: SeenRequest
  private readonly truth: readonly TrueCall[]

  constructor(seen: SeenRequest, truth: readonly TrueCall[]) {
    this.seen = seen
    this.truth = truth
    this.system = tokensIn(seen.system).map(line)
    for (const message of seen.messages) this.add(message)
    this.flush()
  }

  private add({ role, results, text, calls }: SeenMessage): void {
    for (const result of results) this.result(result)
    if (results.length === 0 || text !== '') this.flush()
    for (const token of tokensIn(text)) {
      if (token.mark.startsWith('s')) this.system.push(line(token))
      else this.lines.push(line(token))
    }
    if (role !== 'assistant') this.isCalling = false
    for (const call of calls) this.call(call)
  }

  private call(call: SeenCall): void {
    const at = this.calls.push(call) - 1
    if (!this.isCalling) this.group = at
    this.isCalling = true
    const tool = this.seen.tools.indexOf(call.name)
    const isWrapped = this.truth[at]?.kind === 'custom' && !this.seen.customTools.includes(call.name)
    const args = isWrapped ? fieldsOf(JSON.parse(call.args))['input'] : call.args
    this.lines.push(
      `call ${at} of tool ${tool}: ${this.truth[at]?.kind === 'custom' ? String(args) : compact(call.args)}`,
    )
  }

  private result({ id, text }: SeenResult): void {
    const isIts = (at: number): boolean => !this.answered.has(at) && (id === '' || this.calls[at]?.id === id)
    const numbers = [...this.calls.keys()]
    const at = numbers.slice(this.group).find(isIts) ?? numbers.findLast(isIts)
    if (at === undefined) return violated(`a result of '${id}', which no call has: ${text.slice(0, 100)}`)
    this.answered.add(at)
    // One without a mark stands for a result that there is none of.
    if (MARK.test(text) || this.truth[at]?.result) this.results.set(at, resultLine(at, text))
  }

  private flush(): void {
    this.lines.push(...[...this.results].toSorted(([a], [b]) => a - b).map(([, text]) => text))
    this.results = new Map()
  }
}

/** Throws where a vendor is not told what was said. */
export function checkTold(steps: readonly Step[], seen: SeenRequest): void {
  const truth = steps.flatMap((step) => (step.kind === 'assistant' ? step.calls : []))
  const told = new ToldFacts(seen, truth)
  compare(linesOf(steps), told.lines)
  compare(
    steps.flatMap((step) => (step.kind === 'system' ? tokensIn(step.text).map(line) : [])),
    told.system,
  )
  const pictures = steps.flatMap((step) => {
    if (step.kind === 'user') return step.pictures
    return step.kind === 'system' ? [] : step.calls.flatMap(({ result }) => result?.pictures ?? [])
  })
  compare(pictures.toSorted(), seen.messages.flatMap((message) => message.pictures).toSorted())
}

function compare(expected: readonly string[], told: readonly string[]): void {
  const length = Math.max(expected.length, told.length)
  for (let i = 0; i < length; i++) {
    if (expected[i] === told[i]) continue
    violated(`the vendor was told\n  ${told[i] ?? 'nothing more'}\ninstead of\n  ${expected[i] ?? 'nothing more'}`)
  }
}

const SEAL_PREFIXES = [RESPONSES_SEAL, MESSAGES_SEAL, GEMINI_SEAL, CONVERSE_SEAL]
const SEALS = new RegExp(`(?:${SEAL_PREFIXES.join('|')})([A-Za-z0-9+/]+=*)`, 'g')
/** How the gateway marks what it carries through clients of other dialects. */
const STAMPS = ['tollgate', 'tgs1_', 'eyJ0b2xsZ2F0ZSI6', 'reasoning.sealed']

export const sealFor = (turn: number, maker: string): string => `seal ${turn} of ${maker}`

/** The seals in a request, which its vendor must have made; nothing of ours may be in it. */
export function sealsIn(body: string, maker: string): string[] {
  for (const stamp of STAMPS) if (body.includes(stamp)) violated(`${maker} was sent '${stamp}'`)
  const seals = [...body.matchAll(SEALS)].map(([, data = '']) => Buffer.from(data, 'base64').toString())
  for (const seal of seals) if (!seal.endsWith(` of ${maker}`)) violated(`${maker} was sent the '${seal}'`)
  return seals
}
