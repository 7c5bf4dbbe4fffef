/** Writes neutral answers in the chat format. */
import type { Failure } from '../../domain/failure.ts'
import type { Delta, FinishReason, OutputPart, Reply } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { dataEvent } from '../../lib/http/sse.ts'
import type { AnswerFacts, ClientSide, StreamEncoder } from '../core/contract.ts'
import { writeCallSignature } from './call-signature.ts'
import { writeFailure } from '../core/openai-failure.ts'
import { detailOf, type ReasoningDetail } from './reasoning-details.ts'
import { writeChatUsage } from '../core/openai-usage.ts'

/** `usageAsked`: the client wants the usage chunk of a stream. */
export const chatClientSide = (usageAsked: boolean): ClientSide => ({
  dialect: 'chat',
  reply: writeReply,
  encoder: (answer) => new ChatEncoder(answer, usageAsked),
})

const idOf = ({ requestId }: AnswerFacts): string => requestId.replace(/^req_/, 'chatcmpl-')

function writeReply({ choices }: Reply, answer: AnswerFacts, usage: Usage): string {
  const head = {
    id: idOf(answer),
    object: 'chat.completion',
    created: Math.floor(answer.createdAtMs / 1000),
    model: answer.publicModel,
    choices: choices.map(({ parts, finish }, index) => ({
      index,
      message: messageOf(parts),
      logprobs: null,
      finish_reason: finish,
    })),
  }
  return `${JSON.stringify(head).slice(0, -1)},"usage":${writeChatUsage(usage)}}`
}

function messageOf(parts: readonly OutputPart[]): object {
  const words = (kind: 'text' | 'refusal' | 'reasoning'): string =>
    parts.map((part) => (part.kind === kind ? part.text : '')).join('')
  const calls = parts.flatMap((part) => (part.kind === 'tool_call' ? [callOf(part)] : []))
  const content = words('text')
  const reasoning = words('reasoning')
  const details = parts.flatMap((part) =>
    part.kind === 'reasoning' && part.sealed ? [detailOf(part.text, part.sealed)] : [],
  )
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: words('refusal') || null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

type OutputCall = Extract<OutputPart, { kind: 'tool_call' }>

const callOf = ({ id, name, tool, sealed, ...call }: OutputCall): object =>
  tool === 'custom'
    ? { id, type: 'custom', custom: { name, input: call.arguments }, ...writeCallSignature(sealed) }
    : { id, type: 'function', function: { name, arguments: call.arguments }, ...writeCallSignature(sealed) }

class ChatEncoder implements StreamEncoder {
  private readonly head: string
  /** The text around every choice, framed as an event. JSON of our own has no line break to escape. */
  private readonly before: string
  private readonly after: string
  private readonly usageAsked: boolean
  private readonly begun = new Set<number>()
  private readonly custom = new Set<string>()
  /** By choice: the current thought, and the sealed ones. They are sent with the finish, in one piece. */
  private readonly thoughts = new Map<number, { text: string; details: ReasoningDetail[] }>()

  constructor(answer: AnswerFacts, usageAsked: boolean) {
    this.usageAsked = usageAsked
    const created = Math.floor(answer.createdAtMs / 1000)
    const head = { id: idOf(answer), object: 'chat.completion.chunk', created, model: answer.publicModel }
    this.head = `${JSON.stringify(head).slice(0, -1)},"choices":`
    this.before = `data: ${this.head}[{"index":`
    this.after = usageAsked ? '}],"usage":null}\n\n' : '}]}\n\n'
  }

  encode(deltas: readonly Delta[]): string {
    let text = ''
    for (const delta of deltas) text += this.one(delta)
    return text
  }

  private one(delta: Delta): string {
    const { choice } = delta
    let text = ''
    if (!this.begun.has(choice)) {
      this.begun.add(choice)
      text = this.chunk(choice, { role: 'assistant', content: '' }, null)
    }
    switch (delta.kind) {
      case 'text':
        return text + this.chunk(choice, { content: delta.text }, null)
      case 'refusal':
        return text + this.chunk(choice, { refusal: delta.text }, null)
      case 'reasoning':
        this.thoughtsOf(choice).text += delta.text
        return text + this.chunk(choice, { reasoning_content: delta.text }, null)
      case 'call':
        return text + this.chunk(choice, { tool_calls: [this.begin(delta)] }, null)
      case 'arguments': {
        const { call: index, text: part } = delta
        const isCustom = this.custom.has(`${choice}/${index}`)
        const call = isCustom ? { index, custom: { input: part } } : { index, function: { arguments: part } }
        return text + this.chunk(choice, { tool_calls: [call] }, null)
      }
      case 'finish': {
        const details = this.thoughts.get(choice)?.details ?? []
        return text + this.chunk(choice, details.length === 0 ? {} : { reasoning_details: details }, delta.reason)
      }
      case 'own':
        return text
      case 'sealed': {
        const thoughts = this.thoughtsOf(choice)
        thoughts.details.push(detailOf(thoughts.text, delta.sealed))
        thoughts.text = ''
        return text
      }
    }
  }

  private thoughtsOf(choice: number): { text: string; details: ReasoningDetail[] } {
    const thoughts = this.thoughts.get(choice) ?? { text: '', details: [] }
    this.thoughts.set(choice, thoughts)
    return thoughts
  }

  private begin({ choice, call: index, id, name, tool, sealed }: Extract<Delta, { kind: 'call' }>): object {
    if (tool === 'function') {
      return { index, id, type: 'function', function: { name, arguments: '' }, ...writeCallSignature(sealed) }
    }
    this.custom.add(`${choice}/${index}`)
    return { index, id, type: 'custom', custom: { name, input: '' }, ...writeCallSignature(sealed) }
  }

  private chunk(index: number, delta: object, finish: FinishReason | null): string {
    const ended = finish === null ? 'null' : `"${finish}"`
    return `${this.before}${index},"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${ended}${this.after}`
  }

  end(usage: Usage): string {
    const event = this.usageAsked ? dataEvent(`${this.head}[],"usage":${writeChatUsage(usage)}}`) : ''
    return event + dataEvent('[DONE]')
  }

  fail(failure: Failure): string {
    return dataEvent(writeFailure(failure).body)
  }
}
