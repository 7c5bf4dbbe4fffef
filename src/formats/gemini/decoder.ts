/** Reads answers of Gemini's API as neutral ones. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { Delta, OutputPart, Reply, Turn } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, asList, fieldListIn, numberIn, parseExactFields, type Fields } from '../core/fields.ts'
import type { DecodedEvent, StreamDecoder } from '../core/contract.ts'
import { runningUsage } from '../core/running-usage.ts'
import {
  failureOfFinish,
  finishOfGemini,
  hasContent,
  isEnd,
  silentEnd,
  type FailedAnswer,
  type Silence,
} from './ends.ts'
import { readGeminiError } from '../core/google-failure.ts'
import { readParts } from './parts.ts'
import { readGeminiUsage } from './usage.ts'

const failed = (failure: UpstreamFailure): FailedAnswer => ({ kind: 'failed', failure })

/** Whether the prompt was blocked. Such a response has no candidates, and the reason stands beside them. */
function blocked(response: Fields): FailedAnswer | undefined {
  const { blockReason } = asFields(response['promptFeedback'])
  if (typeof blockReason !== 'string' || asList(response['candidates']).length > 0) return undefined
  return failed({ kind: 'policy', status: 200, message: `The prompt was blocked by the vendor (${blockReason}).` })
}

/**
 * Whether an empty answer may be a valid one. A stop sequence may come first, and a tool's result may need no answer.
 */
export const silenceOf = ({ stop, messages, choices }: Pick<Turn, 'stop' | 'messages' | 'choices'>): Silence =>
  choices > 1 || (stop?.length ?? 0) > 0 || messages.at(-1)?.role === 'tool' ? 'at_stop' : 'failure'

export function readNeutralReply(
  text: string,
  silence: Silence,
): { readonly kind: 'reply'; readonly reply: Reply } | FailedAnswer {
  const response = parseExactFields(text)
  if (!response) return failed({ kind: 'garbage', status: 200, message: 'the reply is not a JSON object' })
  if (response['error']) return failed(readGeminiError(undefined, response))
  const stopped = blocked(response)
  if (stopped) return stopped
  const candidates = fieldListIn(response['candidates']) ?? []
  if (candidates.length === 0) return failed({ kind: 'garbage', status: 200, message: 'the reply has no candidates' })
  const noEnd = noEndIn(candidates, silence)
  if (noEnd) return noEnd
  const choices = candidates.map((candidate) => {
    const parts = readParts(candidate)
    const hasCalls = parts.some(({ kind }) => kind === 'tool_call')
    return { parts, finish: finishOfGemini(candidate['finishReason'], hasCalls) }
  })
  return { kind: 'reply', reply: { choices, usage: readGeminiUsage(response['usageMetadata']) } }
}

/** A finish reason that is a failure, whatever came before it. */
function noEndIn(candidates: readonly Fields[], silence: Silence): FailedAnswer | undefined {
  for (const { finishReason } of candidates) {
    const end = failureOfFinish(finishReason)
    if (end) return end
  }
  return candidates.some(hasContent) ? undefined : silentEnd(candidates[0]?.['finishReason'], silence)
}

/** A few signatures wait for their content. If the answer ends without content, the next offer can still be tried. */
const EARLY_MAX = 8

/** Reads the responses of a stream. The dialect has no terminator: a stream ends with its last finish reason. */
export class GeminiDecoder implements StreamDecoder {
  usage: Usage | undefined
  private readonly running = new Set<number>()
  private ended = 0
  /** The number of calls of each candidate so far. */
  private readonly calls = new Map<number, number>()
  private readonly silence: Silence
  private hasContent = false
  /** Signatures that came before anything else. */
  private early: Delta[] | undefined = []

  constructor(silence: Silence) {
    this.silence = silence
  }

  get finished(): boolean {
    return this.ended > 0 && this.running.size === 0
  }

  decode({ data }: SseEvent): DecodedEvent {
    if (data === '') return { kind: 'deltas', deltas: [] }
    const response = parseExactFields(data)
    if (!response) return failed({ kind: 'garbage', message: 'an event is not a JSON object' })
    if (response['error']) return failed(readGeminiError(undefined, response))
    this.usage = runningUsage(this.usage, readGeminiUsage(response['usageMetadata']))
    const stopped = blocked(response)
    if (stopped) return stopped
    const deltas: Delta[] = []
    for (const candidate of asList(response['candidates']).map(asFields)) {
      const reason = candidate['finishReason']
      const choice = numberIn(candidate['index']) ?? 0
      const before = deltas.length
      this.hasContent ||= hasContent(candidate)
      for (const part of readParts(candidate)) this.part(choice, part, deltas)
      if (deltas.length > before) this.running.add(choice)
      if (!isEnd(reason)) continue
      const noEnd = failureOfFinish(reason) ?? (this.hasContent ? undefined : silentEnd(reason, this.silence))
      if (noEnd) return noEnd
      this.running.delete(choice)
      this.ended++
      deltas.push({ kind: 'finish', choice, reason: finishOfGemini(reason, this.calls.has(choice)) })
    }
    return { kind: 'deltas', deltas: this.withEarly(deltas) }
  }

  private withEarly(deltas: Delta[]): Delta[] {
    const { early } = this
    if (!early) return deltas
    const all = [...early, ...deltas]
    const isEarly = all.length < EARLY_MAX && all.every(({ kind }) => kind === 'sealed')
    this.early = isEarly ? all : undefined
    return isEarly ? [] : all
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
