import { frameOf, type Frame } from '../reply.ts'
import { tokensOf } from '../tokens.ts'
import type { MessagesAnswer, Block } from './answer.ts'

/** The answer as one body. */
export function messageBody(answer: MessagesAnswer): object {
  const { stopReason, stopSequence, stopDetails, blocks } = answer
  return {
    ...headOf(answer),
    content: blocks.map(wholeBlock),
    stop_reason: stopReason,
    stop_sequence: stopSequence,
    stop_details: stopDetails,
    usage: usageOf(answer, answer.outputTokens),
  }
}

const headOf = ({ id, model }: MessagesAnswer): object => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  container: null,
})

/** Undefined if a fault withholds the usage, so that the JSON omits it. */
function usageOf({ input, thinkingTokens, faults }: MessagesAnswer, outputTokens: number): object | undefined {
  if (faults.noUsage) return undefined
  const { fresh, read, written, ttl } = input
  return {
    input_tokens: fresh,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: ttl === '5m' ? written : 0,
      ephemeral_1h_input_tokens: ttl === '1h' ? written : 0,
    },
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: Math.min(thinkingTokens, outputTokens) },
    server_tool_use: null,
    service_tier: 'standard',
  }
}

function wholeBlock(block: Block): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: block.signature }
    case 'redacted_thinking':
      return block
    case 'tool_use': {
      const { id, name, input } = block
      return { type: 'tool_use', id, name, input: parsed(input), caller: { type: 'direct' } }
    }
  }
}

/** Arguments that `max_tokens` cut are invalid JSON, so a whole reply does not show them. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {} // A whole reply cannot contain half an object.
  }
}

/** The events of a streamed answer, with one token each. */
export function* messagesFrames(answer: MessagesAnswer): Generator<Frame> {
  const { stopReason, stopSequence, stopDetails, blocks, outputTokens, faults } = answer
  const usage = usageOf(answer, 1)
  const opening = { content: [], stop_reason: null, stop_sequence: null, stop_details: null }
  yield event('message_start', { message: { ...headOf(answer), ...opening, usage } })
  for (const [index, block] of blocks.entries()) {
    yield event('content_block_start', { index, content_block: startOf(block) })
    if (index === 0) yield event('ping', {})
    for (const [delta, tokens] of deltasOf(block)) yield event('content_block_delta', { index, delta }, tokens)
    yield event('content_block_stop', { index })
  }
  const delta = { stop_reason: stopReason, stop_sequence: stopSequence, stop_details: stopDetails, container: null }
  const total = faults.noUsage ? {} : { usage: usageOf(answer, outputTokens) }
  yield event('message_delta', { delta, ...total })
  yield { ...event('message_stop', {}), isTerminator: true }
}

const event = (type: string, fields: object, tokens = 0): Frame =>
  frameOf(JSON.stringify({ type, ...fields }), tokens, type)

function startOf(block: Block): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'redacted_thinking':
      return block
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: {}, caller: { type: 'direct' } }
  }
}

/** The deltas of a block, with the number of their tokens. */
function* deltasOf(block: Block): Generator<[object, number]> {
  switch (block.type) {
    case 'text':
      for (const text of tokensOf(block.text)) yield [{ type: 'text_delta', text }, 1]
      return
    case 'thinking':
      for (const thinking of tokensOf(block.text)) yield [{ type: 'thinking_delta', thinking }, 1]
      yield [{ type: 'signature_delta', signature: block.signature }, 0]
      return
    case 'redacted_thinking':
      return
    case 'tool_use': {
      yield [{ type: 'input_json_delta', partial_json: '' }, block.nameTokens]
      // Like the vendor, the sandbox sends no empty arguments.
      if (block.input === '{}') return
      for (const json of tokensOf(block.input)) yield [{ type: 'input_json_delta', partial_json: json }, 1]
    }
  }
}
