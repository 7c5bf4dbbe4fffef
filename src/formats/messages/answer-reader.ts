/** Reads the blocks of an answer for a turn. The structured answer may come as a tool call. */
import type { FinishReason, OutputPart, SealedData, Turn } from '../../domain/turn.ts'
import { asFields, asText, ownIn, textIn, type Fields } from '../core/fields.ts'
import { stopReasonIn } from './lawful-answer.ts'

/** The tool by which models without structured output give it. Its name differs from those of the client's tools. */
export function answerToolName({ tools }: Turn): string {
  let name = 'structured_answer'
  while (tools.some((tool) => tool.name === name)) name += '_'
  return name
}

const finishes: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

export type CallKind = 'function' | 'answer'

/** Servers of other models send thinking without a signature. */
export const thoughtSeal = (signature: string): SealedData | undefined =>
  signature === '' ? undefined : { origin: 'messages', data: signature }
export const redactedSeal = (data: string): SealedData => ({ origin: 'messages', form: 'redacted', data })

export class AnswerReader {
  private readonly answerTool: string | undefined
  private hasCalled = false

  constructor(turn: Turn) {
    this.answerTool = turn.format?.kind === 'json_schema' ? answerToolName(turn) : undefined
  }

  kindOf(name: string): CallKind {
    if (name === this.answerTool) return 'answer'
    this.hasCalled = true
    return 'function'
  }

  /** Why the answer ended. A call of the answer tool counts as the answer. */
  finishOf(stopReason: unknown): FinishReason {
    return ownIn(finishes, stopReasonIn(stopReason, this.hasCalled) ?? '') ?? 'stop'
  }

  part(block: Fields): OutputPart[] {
    switch (block['type']) {
      case 'text':
        return [{ kind: 'text', text: asText(block['text']) }]
      case 'thinking':
        return [{ kind: 'reasoning', text: asText(block['thinking']), sealed: thoughtSeal(asText(block['signature'])) }]
      case 'redacted_thinking':
        return [{ kind: 'reasoning', text: '', sealed: redactedSeal(asText(block['data'])) }]
      case 'tool_use':
        return [this.call(block)]
      default:
        return [] // The vendor's own tools, which the request did not have.
    }
  }

  private call({ id, name, input }: Fields): OutputPart {
    const called = asText(name)
    const kind = this.kindOf(called)
    // A collected reply has the cut input of a call as text.
    const json = typeof input === 'string' ? input : JSON.stringify(input ?? {})
    if (kind === 'answer') return { kind: 'text', text: json }
    return { kind: 'tool_call', id: asText(id), name: called, arguments: json, tool: kind }
  }

  choice(parts: OutputPart[], reply: Fields): { parts: OutputPart[]; finish: FinishReason } {
    const refusal = refusalOf(reply)
    const finish = this.finishOf(reply['stop_reason'])
    return { parts: refusal === undefined ? parts : [...parts, { kind: 'refusal', text: refusal }], finish }
  }
}

/** Why the vendor refused, if it says so. */
export function refusalOf({ stop_reason: reason, stop_details: details }: Fields): string | undefined {
  return reason === 'refusal' ? textIn(asFields(details)['explanation']) : undefined
}
