/** Answers of Gemini's API as neutral ones. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { Delta, OutputPart, Reply } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { asFields, asList, asText, fieldListIn, numberIn, parseExactFields, type Fields } from '../fields.ts'
import type { Decoded, StreamDecoder } from '../format.ts'
import { readGeminiError } from './failure.ts'
import { finishOf, isBrokenFinish, readParts } from './parts.ts'
import { readGeminiUsage } from './usage.ts'

type Failed = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const failed = (failure: UpstreamFailure): Failed => ({ kind: 'failed', failure })

/** The prompt itself was blocked: there are no candidates, and the reason stands beside them. */
function blocked(response: Fields): Failed | undefined {
  const { blockReason } = asFields(response['promptFeedback'])
  if (typeof blockReason !== 'string' || asList(response['candidates']).length > 0) return undefined
  return failed({ kind: 'policy', status: 200, message: `The prompt was blocked by the vendor (${blockReason}).` })
}

/** The model broke its own format, and another try may do better. */
export const brokenFinish = (reason: unknown): Failed =>
  failed({ kind: 'server', status: 200, code: asText(reason), message: `the answer ended with ${asText(reason)}` })

export function readNeutralReply(text: string): { readonly kind: 'reply'; readonly reply: Reply } | Failed {
  const response = parseExactFields(text)
  if (!response) return failed({ kind: 'garbage', status: 200, message: 'the reply is not a JSON object' })
  if (response['error']) return failed(readGeminiError(undefined, response))
  const stopped = blocked(response)
  if (stopped) return stopped
  const candidates = fieldListIn(response['candidates']) ?? []
  if (candidates.length === 0) return failed({ kind: 'garbage', status: 200, message: 'the reply has no candidates' })
  const choices = candidates.map((candidate) => {
    const parts = readParts(candidate)
    const hasCalls = parts.some(({ kind }) => kind === 'tool_call')
    return { parts, finish: finishOf(candidate['finishReason'], hasCalls) }
  })
  const malformed = candidates.find(
    (candidate, i) => isBrokenFinish(candidate['finishReason']) && !choices[i]?.parts.length,
  )
  if (malformed) return brokenFinish(malformed['finishReason'])
  return { kind: 'reply', reply: { choices, usage: readGeminiUsage(response['usageMetadata']) } }
}

/** Reads the responses of a stream. There is no terminator: it ends with its last finish reason. */
export class GeminiDecoder implements StreamDecoder {
  usage: Usage | undefined
  private readonly running = new Set<number>()
  private ended = 0
  /** How many calls each candidate has made so far. */
  private readonly calls = new Map<number, number>()

  get finished(): boolean {
    return this.ended > 0 && this.running.size === 0
  }

  decode({ data }: SseEvent): Decoded {
    if (data === '') return { kind: 'deltas', deltas: [] }
    const response = parseExactFields(data)
    if (!response) return failed({ kind: 'garbage', message: 'an event is not a JSON object' })
    if (response['error']) return failed(readGeminiError(undefined, response))
    // A running total: the last one counts.
    this.usage = readGeminiUsage(response['usageMetadata']) ?? this.usage
    const stopped = blocked(response)
    if (stopped) return stopped
    const deltas: Delta[] = []
    for (const candidate of asList(response['candidates']).map(asFields)) {
      const reason = candidate['finishReason']
      const choice = numberIn(candidate['index']) ?? 0
      const before = deltas.length
      for (const part of readParts(candidate)) this.part(choice, part, deltas)
      if (deltas.length > before) this.running.add(choice)
      if (typeof reason !== 'string') continue
      if (isBrokenFinish(reason)) return brokenFinish(reason)
      this.running.delete(choice)
      this.ended++
      deltas.push({ kind: 'finish', choice, reason: finishOf(reason, this.calls.has(choice)) })
    }
    return { kind: 'deltas', deltas }
  }

  private part(choice: number, part: OutputPart, deltas: Delta[]): void {
    switch (part.kind) {
      case 'tool_call': {
        const call = this.calls.get(choice) ?? 0
        this.calls.set(choice, call + 1)
        const { id, name, tool, sealed } = part
        deltas.push({ kind: 'call', choice, call, id, name, tool, sealed })
        deltas.push({ kind: 'arguments', choice, call, text: part.arguments })
        return
      }
      case 'reasoning':
        if (part.text !== '') deltas.push({ kind: 'reasoning', choice, text: part.text })
        if (part.sealed) deltas.push({ kind: 'sealed', choice, sealed: part.sealed })
        return
      default:
        deltas.push({ kind: part.kind, choice, text: part.text })
    }
  }
}
