/** A message from the events of its stream. */
import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, asText, numberIn, ownIn, parseExactFields, parseFields, type Fields } from '../core/fields.ts'
import type { ReplyCollector } from '../core/contract.ts'
import { gather, withoutNulls } from '../core/gather.ts'

/** Fields that the stream fills later. */
type Block = { [field: string]: unknown }

export class MessagesCollector implements ReplyCollector {
  private message: Block = {}
  private readonly usage: Block = {}
  private readonly blocks = new Map<number, Block>()
  /** The input of tools as JSON text, so that numbers keep their digits. */
  private readonly inputs = new Map<number, string>()
  /** Open blocks. */
  private readonly open = new Set<number>()

  add({ data }: SseEvent): void {
    const event = parseExactFields(data)
    const index = numberIn(event?.['index']) ?? 0
    switch (event?.['type']) {
      case 'message_start':
        this.message = { ...asFields(event['message']) }
        return this.addUsage(this.message['usage'])
      case 'content_block_start':
        this.open.add(index)
        return void this.blocks.set(index, { ...asFields(event['content_block']) })
      case 'content_block_stop':
        return void this.open.delete(index)
      case 'content_block_delta':
        return this.addDelta(index, asFields(event['delta']))
      case 'message_delta': {
        const { type: _, delta, usage, ...rest } = event
        gather(this.message, { ...rest, ...asFields(delta) })
        return this.addUsage(usage)
      }
      default: // Pings, and an end without content.
    }
  }

  cutAtLength(): void {
    for (const index of this.open) {
      const block = this.blocks.get(index)
      // The input of a cut call is never whole, not even the empty input at its start.
      if (block && 'input' in block) block['input'] = this.inputs.get(index) ?? ''
      this.inputs.delete(index)
    }
  }

  text(): string {
    const { message, usage } = this
    const stop = message['stop_reason'] ?? 'max_tokens'
    const head = JSON.stringify({ stop_sequence: null, ...message, content: undefined, stop_reason: stop, usage })
    const content = [...this.blocks].toSorted(([a], [b]) => a - b).map(([index, block]) => this.blockText(index, block))
    return `${head.slice(0, -1)},"content":[${content.join(',')}]}`
  }

  /** A cut input is not JSON, so it is returned as text. */
  private blockText(index: number, block: Block): string {
    const input = this.inputs.get(index)
    if (input === undefined || input === '') return JSON.stringify(block)
    const written = JSON.stringify({ ...block, input: undefined })
    return `${written.slice(0, -1)},"input":${parseFields(input) ? input : JSON.stringify(input)}}`
  }

  private addUsage(usage: unknown): void {
    gather(this.usage, withoutNulls(asFields(usage)))
  }

  private addDelta(index: number, { type, ...delta }: Fields): void {
    const block = this.blocks.get(index)
    if (!block) return
    if (type === 'input_json_delta') {
      this.inputs.set(index, (this.inputs.get(index) ?? '') + asText(delta['partial_json']))
    } else if (type === 'citations_delta') {
      block['citations'] = longer(Array.isArray(block['citations']) ? block['citations'] : [], [delta['citation']])
    } else {
      // Text, thinking, signatures, and future fields of the format.
      for (const [name, value] of Object.entries(delta)) block[name] = longer(ownIn(block, name), value)
    }
  }
}

function longer(before: unknown, piece: unknown): unknown {
  if (typeof before === 'string' && typeof piece === 'string') return before + piece
  if (Array.isArray(before) && Array.isArray(piece)) {
    // The list grows in place. A copy for every event would take longer with each.
    for (const one of piece as unknown[]) before.push(one)
    return before
  }
  return piece ?? before
}
