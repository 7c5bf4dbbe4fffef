import type { SseEvent } from '../../lib/http/sse.ts'
import { asList, asFields, asText, type Fields } from '../core/fields.ts'

const event = (body: object): SseEvent => ({ name: undefined, data: JSON.stringify(body) })

/** A whole message as the events of its stream, without a usage. */
export function eventsOfMessage({ content, stop_reason, stop_sequence = null, ...head }: Fields): SseEvent[] {
  const usage = { input_tokens: 0, output_tokens: 0 }
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
  return [
    event({ type: 'message_start', message }),
    ...asList(content).flatMap((block, index) => eventsOfBlock(asFields(block), index)),
    event({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 0 } }),
    event({ type: 'message_stop' }),
  ]
}

/** Text and thoughts come after the start of their block, and clients add them up. Other blocks begin complete. */
function eventsOfBlock(block: Fields, index: number): SseEvent[] {
  const { type, text, thinking, signature, citations, ...rest } = block
  const piece = (delta: object): SseEvent => event({ type: 'content_block_delta', index, delta })
  const start = (content_block: object): SseEvent => event({ type: 'content_block_start', index, content_block })
  const stop = event({ type: 'content_block_stop', index })
  if (type === 'text') {
    const cited = asList(citations).map((citation) => piece({ type: 'citations_delta', citation }))
    const list = Array.isArray(citations) ? { citations: [] } : {}
    return [
      start({ type, text: '', ...list, ...rest }),
      ...cited,
      piece({ type: 'text_delta', text: asText(text) }),
      stop,
    ]
  }
  if (type !== 'thinking') return [start(block), stop]
  const signed = signature === undefined ? [] : [piece({ type: 'signature_delta', signature })]
  const thought = piece({ type: 'thinking_delta', thinking: asText(thinking) })
  return [start({ type, thinking: '', signature: '', ...rest }), thought, ...signed, stop]
}
