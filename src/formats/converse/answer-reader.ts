/** Reads the blocks of an answer, and why it ended. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { FinishReason, OutputPart, SealedData } from '../../domain/turn.ts'
import { asFields, asList, asText, ownIn, textIn, type Fields } from '../core/fields.ts'

/** `StopReason` of the service model (boto/botocore, 2026-08). */
const finishes: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** Why an answer ended, which must fit its content. */
export function finishOf(reason: unknown, hasCalls: boolean): FinishReason {
  const finish = ownIn(finishes, asText(reason)) ?? 'stop'
  if (finish === 'stop' && hasCalls) return 'tool_calls'
  return finish === 'tool_calls' && !hasCalls ? 'stop' : finish
}

type FailedAnswer = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

/** The model broke its own format. A prompt can cause this, and another attempt may succeed. */
export function brokenEnd(reason: unknown): FailedAnswer | undefined {
  const code = asText(reason)
  if (code !== 'malformed_model_output' && code !== 'malformed_tool_use') return undefined
  const message = `the answer ended with ${code}`
  return { kind: 'failed', failure: { kind: 'server', status: 200, message, code, isDoubtful: true } }
}

export const noAnswer = (message: string): FailedAnswer => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})

/** Most models do not sign their thoughts. */
export const signedSeal = (signature: string): SealedData | undefined =>
  signature === '' ? undefined : { origin: 'converse', data: signature }
export const hiddenSeal = (data: string): SealedData => ({ origin: 'converse', form: 'redacted', data })

export function blockParts(block: Fields): OutputPart[] {
  const { text, toolUse, reasoningContent, citationsContent } = block
  if (typeof text === 'string') return [{ kind: 'text', text }]
  if (toolUse !== undefined) return [callOf(asFields(toolUse))]
  if (reasoningContent !== undefined) return [thoughtOf(asFields(reasoningContent))]
  const cited = asList(asFields(citationsContent)['content']).map((one) => asText(asFields(one)['text']))
  return cited.length === 0 ? [] : [{ kind: 'text', text: cited.join('') }]
}

function callOf({ toolUseId, name, input }: Fields): OutputPart {
  // A collected reply has the cut input of a call as text.
  const json = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  return { kind: 'tool_call', id: asText(toolUseId), name: asText(name), arguments: json, tool: 'function' }
}

function thoughtOf({ reasoningText, redactedContent }: Fields): OutputPart {
  const redacted = textIn(redactedContent)
  if (redacted !== undefined) return { kind: 'reasoning', text: '', sealed: hiddenSeal(redacted) }
  const { text, signature } = asFields(reasoningText)
  return { kind: 'reasoning', text: asText(text), sealed: signedSeal(asText(signature)) }
}
