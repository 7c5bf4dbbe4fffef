/** A response from the events of its stream. */
import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, asList, asText, numberIn, ownIn, parseExactFields, type Fields } from '../core/fields.ts'
import type { ReplyCollector } from '../core/contract.ts'

type Item = { [field: string]: unknown }

/** The list and the field to which an event adds text, by the event's type. */
const ADDED_TO: Readonly<Record<string, readonly ['content' | 'summary', string, string]>> = {
  'response.output_text.delta': ['content', 'output_text', 'text'],
  'response.refusal.delta': ['content', 'refusal', 'refusal'],
  'response.reasoning_text.delta': ['content', 'reasoning_text', 'text'],
  'response.reasoning_summary_text.delta': ['summary', 'summary_text', 'text'],
}

export class ResponsesCollector implements ReplyCollector {
  /** The response from its last event. It is complete once `isWhole` is set. */
  private response: Fields = {}
  private isWhole = false
  private readonly items = new Map<number, Item>()

  add({ data }: SseEvent): void {
    const event = parseExactFields(data) ?? {}
    const type = asText(event['type'])
    const index = numberIn(event['output_index']) ?? 0
    const place = ownIn(ADDED_TO, type)
    if (place) return addWords(this.item(index), place, event)
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.response = asFields(event['response'])
        return
      case 'response.completed':
      case 'response.incomplete':
        this.response = asFields(event['response'])
        this.isWhole = true
        return
      case 'response.output_item.added':
      case 'response.output_item.done':
        return void this.items.set(index, { ...asFields(event['item']) })
      case 'response.function_call_arguments.delta':
        return addText(this.item(index), 'arguments', event['delta'])
      case 'response.custom_tool_call_input.delta':
        return addText(this.item(index), 'input', event['delta'])
      default: // Events that only repeat earlier ones.
    }
  }

  text(): string {
    const output = [...this.items].toSorted(([a], [b]) => a - b).map(([, item]) => item)
    // Some servers leave the output out of the event that ends the response.
    if (this.isWhole && asList(this.response['output']).length > 0) return JSON.stringify(this.response)
    if (this.isWhole) return JSON.stringify({ ...this.response, output })
    const reason = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    return JSON.stringify({ ...this.response, ...reason, output: output.map(asCut) })
  }

  private item(index: number): Item {
    const item = this.items.get(index) ?? {}
    this.items.set(index, item)
    return item
  }
}

/** Items that were in progress when the answer was cut are incomplete. */
const asCut = (item: Item): Item => (item['status'] === 'in_progress' ? { ...item, status: 'incomplete' } : item)

/** The most parts of one item. */
const PARTS_MAX = 1_024

function addText(item: Item, field: string, text: unknown): void {
  item[field] = asText(item[field]) + asText(text)
}

function addWords(item: Item, [list, type, field]: (typeof ADDED_TO)[string], event: Fields): void {
  const at = numberIn(event['content_index'] ?? event['summary_index']) ?? 0
  // The index comes from the vendor. A list beyond this bound is no real answer.
  if (!Number.isInteger(at) || at < 0 || at >= PARTS_MAX) return
  const parts = [...asList(item[list])] as Item[]
  const part = { type, ...parts[at] }
  addText(part, field, event['delta'])
  parts[at] = part
  item[list] = parts
}
