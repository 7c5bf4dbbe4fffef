/**
 * Writes the event stream of a response from neutral deltas. The same deltas always make the same events.
 * Over 300 lines: one class numbers all events of a stream and closes what it opened.
 */
import type { Delta, FinishReason, OwnDelta, SealedData } from '../../domain/turn.ts'
import { asText, type Fields } from '../core/fields.ts'
import { isAgentCall } from './agent-tools.ts'
import {
  callItem,
  messageItem,
  reasoningItem,
  refusalPart,
  shapeOfCall,
  summaryPart,
  textPart,
  type ItemStatus,
  type OwnFields,
} from './output.ts'
import { outputItemId, type Item } from './items.ts'
import { responseOf, RUNNING, shownItem, type ShowOptions, type ResponseStatus } from './response.ts'
import type { CallShape, CallNames } from './call-names.ts'

/** The fields of the `error` event besides its message. */
export type ErrorWords = { readonly type: string; readonly code: string; readonly param: string | null }

export type EventOptions = ShowOptions & {
  /** The number of the last event that is not wanted. -1 for all events. */
  readonly after: number
  /** The names under which the model knows the client's tools. */
  readonly names: CallNames
}

type Message = {
  readonly kind: 'message'
  readonly index: number
  readonly done: Fields[]
  part: Part | undefined
  own: OwnFields
}
type Part = { readonly kind: 'text' | 'refusal'; text: string }
type Reasoning = {
  readonly kind: 'reasoning'
  readonly index: number
  text: string
  sealed: SealedData | undefined
  isOfCall: boolean
  own: OwnFields
}
type CallItem = {
  readonly index: number
  readonly begun: Extract<Delta, { kind: 'call' }>
  readonly shape: CallShape
  input: string
  own: OwnFields
}

const DONE = 'data: [DONE]\n\n'

export class ResponseEvents {
  private readonly head: Fields
  private readonly id: string
  private readonly options: EventOptions
  private sequence = 0
  private begun = false
  /** By output index, the finished items. */
  private readonly items: (Item | undefined)[] = []
  private current: Message | Reasoning | undefined
  /** The fields of the message that begins next. */
  private ofNext: OwnFields
  private readonly calls = new Map<number, CallItem>()
  finish: FinishReason | undefined

  constructor(head: Fields, options: EventOptions) {
    this.head = head
    this.id = String(head['id'])
    this.options = options
  }

  add(deltas: readonly Delta[]): string {
    let text = this.begin()
    for (const delta of deltas) if (delta.choice === 0) text += this.one(delta)
    return text
  }

  /** Ends the stream. Items that were open when an answer broke are incomplete. */
  end(standing: ResponseStatus, words: ErrorWords): string {
    let text = this.begin()
    const { status, error } = standing
    const whole = status === 'completed' || status === 'incomplete'
    if (whole) text += this.closeAll()
    if (error) {
      const told = { type: words.type, code: words.code, message: error.message, param: words.param }
      // Both forms in one: some clients read the flat form, others the nested form.
      text += this.event('error', { code: told.code, message: told.message, param: told.param, error: told })
    }
    const name = status === 'completed' || status === 'failed' ? status : 'incomplete'
    return `${text}${this.event(`response.${name}`, { response: this.response(standing, this.output()) })}${DONE}`
  }

  /** All items. Those that are still open are incomplete. */
  output(): Item[] {
    const items = [...this.items]
    if (this.current) items[this.current.index] = this.openItem(this.current, 'incomplete')
    for (const call of this.calls.values()) items[call.index] = this.openCall(call, 'incomplete')
    return items.filter((item) => item !== undefined)
  }

  private begin(): string {
    if (this.begun) return ''
    this.begun = true
    const response = this.response(RUNNING, [])
    return this.event('response.created', { response }) + this.event('response.in_progress', { response })
  }

  private response(standing: ResponseStatus, output: readonly Item[]): Fields {
    const shown = output.map((item) => shownItem(item, this.options))
    return responseOf(this.head, standing, shown)
  }

  private event(type: string, fields: Fields): string {
    const sequence = this.sequence++
    if (sequence <= this.options.after) return ''
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`
  }

  private one(delta: Delta): string {
    switch (delta.kind) {
      case 'text':
      case 'refusal':
        return this.say(delta.kind, delta.text)
      case 'reasoning':
        return this.think(delta.text)
      case 'sealed':
        return this.seal(delta.sealed)
      case 'call':
        return this.call(delta)
      case 'arguments':
        return this.argue(delta.call, delta.text)
      case 'own':
        return this.told(delta)
      case 'finish':
        this.finish = delta.reason
        return this.closeAll()
    }
  }

  private told({ what, call, fields }: OwnDelta): string {
    if (what === 'message') {
      const events = this.closeCurrent('completed')
      this.ofNext = fields
      return events
    }
    if (what === 'item') {
      const events = this.closeCurrent('completed')
      const item = { ...fields, type: asText(fields['type']), id: asText(fields['id']) }
      return events + this.open(item) + this.close(this.items.length - 1, item)
    }
    if (what === 'call_rest') {
      const begun = this.calls.get(call ?? -1)
      if (begun) begun.own = fields
      return ''
    }
    if (what === 'reasoning_rest') {
      const events = this.current?.kind === 'reasoning' ? '' : this.beginReasoning()
      if (this.current) this.current.own = fields
      return events
    }
    if (this.current?.kind !== 'message') return ''
    this.current.own = { ...this.current.own, ...fields }
    return this.closeCurrent('completed')
  }

  private open(item: Item): string {
    this.items.push(undefined)
    return this.event('response.output_item.added', { output_index: this.items.length - 1, item: this.shown(item) })
  }

  private shown(item: Item): Fields {
    return shownItem(item, this.options)
  }

  private close(index: number, item: Item): string {
    this.items[index] = item
    return this.event('response.output_item.done', { output_index: index, item: this.shown(item) })
  }

  private say(kind: Part['kind'], text: string): string {
    let events = ''
    if (this.current?.kind !== 'message') {
      events = this.closeCurrent('completed')
      this.current = { kind: 'message', index: this.items.length, done: [], part: undefined, own: this.ofNext }
      this.ofNext = undefined
      events += this.open(this.openItem(this.current, 'in_progress'))
    }
    const message = this.current
    if (message.part?.kind !== kind) {
      events += this.closePart(message)
      message.part = { kind, text: '' }
      const part = kind === 'text' ? textPart('') : refusalPart('')
      events += this.event('response.content_part.added', { ...this.partAt(message), part })
    }
    if (message.part) message.part.text += text
    const at = this.partAt(message)
    if (kind === 'refusal') return events + this.event('response.refusal.delta', { ...at, delta: text })
    return events + this.event('response.output_text.delta', { ...at, delta: text, logprobs: [] })
  }

  private itemAt({ kind, index }: Message | Reasoning): Fields {
    return { item_id: outputItemId(this.id, kind, index), output_index: index }
  }

  private partAt(message: Message): Fields {
    return { ...this.itemAt(message), content_index: message.done.length }
  }

  private closePart(message: Message): string {
    const { part } = message
    if (!part) return ''
    const at = this.partAt(message)
    const { kind, text } = part
    const done = kind === 'text' ? textPart(text) : refusalPart(text)
    message.part = undefined
    message.done.push(done)
    const ended =
      kind === 'text'
        ? this.event('response.output_text.done', { ...at, text, logprobs: [] })
        : this.event('response.refusal.done', { ...at, refusal: text })
    return ended + this.event('response.content_part.done', { ...at, part: done })
  }

  private think(text: string): string {
    let events = ''
    if (this.current?.kind !== 'reasoning') {
      events = this.beginReasoning()
    }
    const reasoning = this.current as Reasoning
    const at = { ...this.itemAt(reasoning), summary_index: 0 }
    if (reasoning.text === '') {
      events += this.event('response.reasoning_summary_part.added', { ...at, part: summaryPart('') })
    }
    reasoning.text += text
    return events + this.event('response.reasoning_summary_text.delta', { ...at, delta: text })
  }

  private beginReasoning(): string {
    const events = this.closeCurrent('completed')
    this.current = {
      kind: 'reasoning',
      index: this.items.length,
      text: '',
      sealed: undefined,
      isOfCall: false,
      own: undefined,
    }
    return events + this.open(this.openItem(this.current, 'in_progress'))
  }

  private seal(sealed: SealedData, isOfCall = false): string {
    const events = this.current?.kind === 'reasoning' ? '' : this.beginReasoning()
    const reasoning = this.current as Reasoning
    reasoning.sealed = sealed
    reasoning.isOfCall = isOfCall
    return events + this.closeCurrent('completed')
  }

  private call(begun: Extract<Delta, { kind: 'call' }>): string {
    const events = begun.sealed ? this.seal(begun.sealed, true) : this.closeCurrent('completed')
    const shape = shapeOfCall(begun, this.options.names)
    const call: CallItem = { index: this.items.length, begun, shape, input: '', own: undefined }
    // Several calls may be open at once. They end together.
    this.calls.set(begun.call, call)
    // The input of such a call is not text and cannot come in pieces. The event is sent when it is whole.
    if (isAgentCall(shape.type)) this.items.push(undefined)
    else return events + this.open(this.openCall(call, 'in_progress'))
    return events
  }

  private argue(number: number, text: string): string {
    const call = this.calls.get(number)
    if (!call) return ''
    call.input += text
    if (isAgentCall(call.shape.type)) return ''
    const name = call.shape.type === 'custom_tool_call' ? 'custom_tool_call_input' : 'function_call_arguments'
    const { id } = this.openCall(call, 'in_progress')
    return this.event(`response.${name}.delta`, { item_id: id, output_index: call.index, delta: text })
  }

  private openCall({ index, begun, shape, input, own }: CallItem, status: ItemStatus): Item {
    const { id: callId, name, tool } = begun
    return callItem(this.id, index, { call: { status, callId, name, tool, input, own }, shape })
  }

  private openItem(open: Message | Reasoning, status: ItemStatus): Item {
    const { index } = open
    if (open.kind === 'reasoning') return reasoningItem(this.id, index, { ...open, status })
    const { part, own } = open
    const last = part && (part.kind === 'text' ? textPart(part.text) : refusalPart(part.text))
    return messageItem(this.id, index, { status, content: last ? [...open.done, last] : [...open.done], own })
  }

  private closeCurrent(status: ItemStatus): string {
    const { current } = this
    if (!current) return ''
    let events = ''
    if (current.kind === 'message') events = this.closePart(current)
    else if (current.text !== '') {
      const at = { ...this.itemAt(current), summary_index: 0 }
      const { text } = current
      events = this.event('response.reasoning_summary_text.done', { ...at, text })
      events += this.event('response.reasoning_summary_part.done', { ...at, part: summaryPart(text) })
    }
    events += this.close(current.index, this.openItem(current, status))
    this.current = undefined
    return events
  }

  /** The limit cut off the last item, so it is incomplete. */
  private closeAll(): string {
    const last = this.finish === 'length' || this.finish === 'content_filter' ? 'incomplete' : 'completed'
    let events = this.closeCurrent(this.calls.size === 0 ? last : 'completed')
    for (const [number, call] of this.calls) {
      this.calls.delete(number)
      const item = this.openCall(call, this.calls.size === 0 ? last : 'completed')
      events += this.wholeCall(call, item) + this.close(call.index, item)
    }
    return events
  }

  private wholeCall({ index, shape, input }: CallItem, item: Item): string {
    const at = { item_id: item.id, output_index: index }
    const { type, name } = shape
    if (type === 'custom_tool_call') return this.event('response.custom_tool_call_input.done', { ...at, input })
    if (type === 'function_call')
      return this.event('response.function_call_arguments.done', { ...at, name, arguments: input })
    return this.event('response.output_item.added', {
      output_index: index,
      item: this.shown({ ...item, status: 'in_progress' }),
    })
  }
}
