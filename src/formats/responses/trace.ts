/**
 * How the stream of a response was cut into deltas. Together with the items it is enough to make the same events again.
 * It takes a few bytes an event, so that no text is stored twice.
 */
import type { Delta, FinishReason, OwnDelta, SealedData } from '../../domain/turn.ts'
import { asFields, asList, asText, textIn, type Fields } from '../core/fields.ts'
import type { ErrorWords } from './events.ts'
import { readAgentCall } from './agent-tools.ts'
import { sealedFrom, sealOfCall } from './sealed.ts'
import type { CallNames } from './call-names.ts'
import { shapeOfItem } from './turn.ts'
import { isCall } from './item-kinds.ts'

/** The first letter of a delta's kind, and its length, its call, or its reason. */
type Mark = readonly [string, ...(string | number | OwnDelta)[]]

type Trace = { readonly marks: readonly Mark[]; readonly words: ErrorWords }

export function traceOf(deltas: readonly Delta[], words: ErrorWords): string {
  const marks = deltas.filter(({ choice }) => choice === 0).map(markOf)
  return JSON.stringify({ marks, words } satisfies Trace)
}

function markOf(delta: Delta): Mark {
  switch (delta.kind) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return [delta.kind, delta.text.length]
    case 'sealed':
      return ['sealed']
    case 'own':
      return ['own', delta]
    case 'call':
      return ['call', delta.call]
    case 'arguments':
      return ['arguments', delta.call, delta.text.length]
    case 'finish':
      return ['finish', delta.reason]
  }
}

/** The deltas of a trace, with the text of the output items. */
export function deltasOf(
  trace: string,
  { output, names }: { readonly output: readonly Fields[]; readonly names: CallNames },
): { deltas: Delta[]; words: ErrorWords } {
  const { marks, words } = JSON.parse(trace) as Trace
  const source = new TraceSource(output, names)
  return { deltas: marks.map((mark) => source.delta(mark)), words }
}

/** The text of all items, taken piece by piece. */
class TraceSource {
  private readonly texts: Record<'text' | 'refusal' | 'reasoning', string> = { text: '', refusal: '', reasoning: '' }
  private readonly taken = new Map<string | number, number>()
  private readonly seals: string[] = []
  private readonly calls: Fields[] = []
  /** By the number of calls before theirs. */
  private readonly sealsOfCalls = new Map<number, SealedData>()
  private readonly callsBegun: number[] = []
  private readonly names: CallNames

  constructor(output: readonly Fields[], names: CallNames) {
    this.names = names
    for (const item of output) {
      const { type, content, summary } = item
      if (isCall(type)) this.calls.push(item)
      const ofCall = sealOfCall(item)
      if (ofCall) this.sealsOfCalls.set(this.calls.length, ofCall)
      for (const part of asList(summary)) this.texts.reasoning += asText(asFields(part)['text'])
      for (const part of type === 'message' ? asList(content) : []) {
        const { text, refusal } = asFields(part)
        this.texts.text += asText(text)
        this.texts.refusal += asText(refusal)
      }
      const seal = textIn(item['encrypted_content'])
      if (seal !== undefined && !ofCall) this.seals.push(seal)
    }
  }

  delta([kind, ...rest]: Mark): Delta {
    switch (kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return { kind, choice: 0, text: this.take(kind, this.texts[kind], Number(rest[0])) }
      case 'sealed':
        return { kind, choice: 0, sealed: sealedFrom(this.seals.shift() ?? '') }
      case 'call':
        return this.begin(Number(rest[0]))
      case 'arguments': {
        const call = Number(rest[0])
        const item = this.calls[this.callsBegun.indexOf(call)] ?? {}
        const words = readAgentCall(item)?.words
        // No client got these in pieces, and their arguments may have been written differently.
        if (words !== undefined) return { kind, choice: 0, call, text: this.take(call, words, words.length) }
        const text = asText(item['arguments'] ?? item['input'])
        return { kind, choice: 0, call, text: this.take(call, text, Number(rest[1])) }
      }
      case 'own':
        return rest[0] as OwnDelta
      default:
        return { kind: 'finish', choice: 0, reason: rest[0] as FinishReason }
    }
  }

  private begin(call: number): Delta {
    const place = this.callsBegun.length
    const item = this.calls[place] ?? {}
    this.callsBegun.push(call)
    return {
      kind: 'call',
      choice: 0,
      call,
      id: asText(item['call_id']),
      name: this.names.claim(shapeOfItem(item)),
      tool: item['type'] === 'custom_tool_call' ? 'custom' : 'function',
      sealed: this.sealsOfCalls.get(place),
    }
  }

  private take(from: string | number, text: string, length: number): string {
    const at = this.taken.get(from) ?? 0
    this.taken.set(from, at + length)
    return text.slice(at, at + length)
  }
}
