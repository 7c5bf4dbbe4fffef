/** A whole reply of the Converse format from the events of its stream, and the events of a whole reply. */
import type { SseEvent } from '../../lib/http/sse.ts'
import type { ReplyCollector } from '../core/contract.ts'
import {
  asFields,
  asList,
  asText,
  fieldListIn,
  fieldsIn,
  parseExactFields,
  parseFields,
  textIn,
  type Fields,
} from '../core/fields.ts'

/** A block while its pieces arrive. Only one of the members is filled. */
type Block = {
  text: string
  thought: string
  signature: string
  readonly redacted: string[]
  call: Fields | undefined
  input: string
  isOpen: boolean
}

export class ConverseCollector implements ReplyCollector {
  private readonly blocks = new Map<number, Block>()
  private stopReason: unknown
  private usage: unknown
  private isCut = false

  add({ name, data }: SseEvent): void {
    const event = asFields(parseFields(data))
    const index = Number(event['contentBlockIndex'])
    switch (name) {
      case 'contentBlockStart':
        this.block(index).call = fieldsIn(asFields(event['start'])['toolUse'])
        return
      case 'contentBlockDelta':
        return this.grow(this.block(index), asFields(event['delta']))
      case 'contentBlockStop':
        this.block(index).isOpen = false
        return
      case 'messageStop':
        this.stopReason = event['stopReason']
        return
      case 'metadata':
        this.usage = event['usage']
        return
      default: // The start of the message, and future events of the format.
    }
  }

  cutAtLength(): void {
    this.isCut = true
  }

  text(): string {
    const { usage } = this
    const blocks = [...this.blocks].toSorted(([a], [b]) => a - b).flatMap(([, block]) => this.blockText(block))
    const rest = JSON.stringify({
      stopReason: this.stopReason ?? 'max_tokens',
      ...(usage === undefined ? {} : { usage }),
    })
    return `{"output":{"message":{"role":"assistant","content":[${blocks.join(',')}]}},${rest.slice(1)}`
  }

  private block(index: number): Block {
    const found = this.blocks.get(index)
    if (found) return found
    const block = { text: '', thought: '', signature: '', redacted: [], call: undefined, input: '', isOpen: true }
    this.blocks.set(index, block)
    return block
  }

  private grow(block: Block, { text, toolUse, reasoningContent }: Fields): void {
    const thought = asFields(reasoningContent)
    block.text += asText(text)
    block.input += asText(asFields(toolUse)['input'])
    block.thought += asText(thought['text'])
    block.signature += asText(thought['signature'])
    if (typeof thought['redactedContent'] === 'string') block.redacted.push(thought['redactedContent'])
  }

  /** The input of a call keeps its digits. A cut input is not JSON, so it is returned as text. */
  private blockText(block: Block): string[] {
    const { text, thought, signature, redacted, call, input } = block
    if (call) {
      const isCut = this.isCut && block.isOpen
      const json = input === '' && !isCut ? '{}' : parseFields(input) ? input : JSON.stringify(input)
      const head = JSON.stringify({ toolUseId: asText(call['toolUseId']), name: asText(call['name']) })
      return [`{"toolUse":${head.slice(0, -1)},"input":${json}}}`]
    }
    if (redacted.length > 0) {
      return redacted.map((redactedContent) => JSON.stringify({ reasoningContent: { redactedContent } }))
    }
    if (thought !== '' || signature !== '') {
      const reasoningText = { text: thought, ...(signature === '' ? {} : { signature }) }
      return [JSON.stringify({ reasoningContent: { reasoningText } })]
    }
    return text === '' ? [] : [JSON.stringify({ text })]
  }
}

const event = (name: string, body: object): SseEvent => ({ name, data: JSON.stringify(body) })

/** A whole reply as the events of its stream. Some models do not stream a request with tools. */
export function eventsOfWhole(text: string): readonly SseEvent[] {
  const { output, stopReason, usage } = parseExactFields(text) ?? {}
  const blocks = fieldListIn(asFields(asFields(output)['message'])['content'])
  // No event of the format, so the stream ends without an answer.
  if (!blocks) return [{ name: undefined, data: text }]
  return [
    event('messageStart', { role: 'assistant' }),
    ...blocks.flatMap(eventsOfBlock),
    event('messageStop', { stopReason }),
    event('metadata', { usage }),
  ]
}

function eventsOfBlock(block: Fields, contentBlockIndex: number): SseEvent[] {
  const piece = (delta: object): SseEvent => event('contentBlockDelta', { contentBlockIndex, delta })
  const stop = event('contentBlockStop', { contentBlockIndex })
  const { toolUse, reasoningContent } = block
  if (toolUse !== undefined) {
    const { toolUseId, name, input = {} } = asFields(toolUse)
    const start = event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } })
    return [start, piece({ toolUse: { input: JSON.stringify(input) } }), stop]
  }
  if (reasoningContent !== undefined) {
    const { reasoningText, redactedContent } = asFields(reasoningContent)
    const { text, signature } = asFields(reasoningText)
    const pieces = [{ text }, { signature }, { redactedContent }].filter((one) =>
      Object.values(one).every((value) => typeof value === 'string'),
    )
    return [...pieces.map((one) => piece({ reasoningContent: one })), stop]
  }
  const cited = asList(asFields(block['citationsContent'])['content']).map((one) => asText(asFields(one)['text']))
  return [piece({ text: textIn(block['text']) ?? cited.join('') }), stop]
}
