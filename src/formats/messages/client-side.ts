/** Writes neutral answers in the Messages format. */
import type { Failure } from '../../domain/failure.ts'
import type { Delta, FinishReason, OutputPart, Reply, SealedData } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { namedEvent } from '../../lib/http/sse.ts'
import { parseExactFields } from '../core/fields.ts'
import type { AnswerFacts, ClientSide, StreamEncoder } from '../core/contract.ts'
import { writeMessagesFailure } from './failure.ts'
import { signatureOf } from './seal.ts'
import { writeMessagesUsage } from './usage.ts'

export type ClientWish = {
  /**
   * The estimated input tokens. A stream states them at its start, when no other dialect's upstream has stated any. The
   * end states the real number.
   */
  readonly inputTokens: number
  readonly showThoughts: boolean
}

export const messagesClientSide = (wish: ClientWish): ClientSide => ({
  dialect: 'messages',
  reply: (reply, answer, usage) => writeReply(reply, answer, { usage, wish }),
  encoder: (answer) => new MessagesEncoder(answer, wish),
})

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/**
 * Other dialects have a field for refusals. Clients of this one read the stop reason, since the text may be anything.
 */
const stopReasonOf = (finish: FinishReason, isRefused: boolean): string =>
  isRefused && finish === 'stop' ? 'refusal' : stopReasons[finish]

const headOf = ({ requestId, publicModel }: AnswerFacts): object => ({
  id: requestId.replace(/^req_/, 'msg_'),
  type: 'message',
  role: 'assistant',
  model: publicModel,
})

type EncoderOptions = { readonly usage: Usage; readonly wish: ClientWish }

function writeReply({ choices }: Reply, answer: AnswerFacts, { usage, wish }: EncoderOptions): string {
  const [choice] = choices
  return JSON.stringify({
    ...headOf(answer),
    content: choice?.parts.flatMap((part) => blocksOf(part, wish)) ?? [],
    stop_reason: stopReasonOf(choice?.finish ?? 'stop', choice?.parts.some(({ kind }) => kind === 'refusal') ?? false),
    stop_sequence: null,
    usage: writeMessagesUsage(usage),
  })
}

function blocksOf(part: OutputPart, { showThoughts }: ClientWish): object[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      if (isAfterthought(part.sealed) || (!showThoughts && !part.sealed)) return []
      return [thought(showThoughts ? part.text : '', isSaid(part.sealed, showThoughts) ? undefined : part.sealed)]
    case 'tool_call': {
      const { id, name, sealed } = part
      const call = { type: 'tool_use', id, name, input: parseExactFields(part.arguments) ?? {} }
      return sealed ? [{ type: 'thinking', thinking: '', signature: signatureOf(sealed, 'call') }, call] : [call]
    }
  }
}

/**
 * Gemini signs its text, and the signature comes after the text. Agents take the last block for the answer (Claude Code
 * 2.1, 2026-11), and the vendor demands the signatures of calls only. So this one gets no block of its own.
 */
const isAfterthought = (sealed: SealedData | undefined): boolean =>
  sealed?.origin === 'gemini' && sealed.form === 'text'

/** Whether the client sees the sealed text anyway. */
const isSaid = (sealed: SealedData | undefined, showThoughts: boolean): boolean =>
  sealed?.origin === 'chat' && showThoughts

const thought = (text: string, sealed: SealedData | undefined): object =>
  sealed?.origin === 'messages' && sealed.form === 'redacted'
    ? { type: 'redacted_thinking', data: sealed.data }
    : { type: 'thinking', thinking: text, signature: signatureOf(sealed) }

type OpenBlock = { readonly kind: 'text' | 'refusal' | 'thinking' | 'call'; readonly index: number }

type WireEvent = { readonly type: string; readonly [field: string]: unknown }
const event = (body: WireEvent): string => namedEvent(body.type, JSON.stringify(body))

class MessagesEncoder implements StreamEncoder {
  private readonly answer: AnswerFacts
  private readonly wish: ClientWish
  private begun = false
  private blocks = 0
  private open: OpenBlock | undefined
  /** The block of each call's arguments. They may continue after another block has begun. */
  private readonly calls = new Map<number, number>()
  private finish: FinishReason = 'stop'
  private isRefused = false

  constructor(answer: AnswerFacts, wish: ClientWish) {
    this.answer = answer
    this.wish = wish
  }

  encode(deltas: readonly Delta[]): string {
    let text = this.start()
    for (const delta of deltas) if (delta.choice === 0) text += this.one(delta)
    return text
  }

  private one(delta: Delta): string {
    switch (delta.kind) {
      case 'text':
        return this.within('text') + this.piece({ type: 'text_delta', text: delta.text })
      case 'refusal':
        this.isRefused = true
        return this.within('refusal') + this.piece({ type: 'text_delta', text: delta.text })
      case 'reasoning':
        if (!this.wish.showThoughts) return ''
        return this.within('thinking') + this.piece({ type: 'thinking_delta', thinking: delta.text })
      case 'sealed':
        if (isAfterthought(delta.sealed) || isSaid(delta.sealed, this.wish.showThoughts)) return ''
        return this.seal(delta.sealed)
      case 'call':
        return this.call(delta)
      case 'arguments':
        return this.piece({ type: 'input_json_delta', partial_json: delta.text }, this.calls.get(delta.call))
      case 'finish':
        this.finish = delta.reason
        return ''
      case 'own':
        return ''
    }
  }

  private start(): string {
    if (this.begun) return ''
    this.begun = true
    const usage = { input_tokens: this.wish.inputTokens, output_tokens: 0 }
    const message = { ...headOf(this.answer), content: [], stop_reason: null, stop_sequence: null, usage }
    return event({ type: 'message_start', message })
  }

  /** Continues a block of this kind, or begins one. */
  private within(kind: 'text' | 'refusal' | 'thinking'): string {
    if (this.open?.kind === kind) return ''
    const block = kind === 'thinking' ? { type: kind, thinking: '', signature: '' } : { type: 'text', text: '' }
    return this.begin(kind, block)
  }

  private begin(kind: OpenBlock['kind'], block: object): string {
    const before = this.close()
    const index = this.blocks++
    this.open = { kind, index }
    return before + event({ type: 'content_block_start', index, content_block: block })
  }

  private piece(delta: object, index = this.open?.index ?? 0): string {
    return event({ type: 'content_block_delta', index, delta })
  }

  /** Ends the open block. Unsigned thinking gets the gateway's stamp, so that no vendor takes it for its own. */
  private close(): string {
    const { open } = this
    if (!open) return ''
    this.open = undefined
    const signature = signatureOf(undefined)
    const stamp = open.kind === 'thinking' ? this.piece({ type: 'signature_delta', signature }, open.index) : ''
    return stamp + event({ type: 'content_block_stop', index: open.index })
  }

  private seal(sealed: SealedData): string {
    // The block is complete at its start. The kind 'call' keeps anything from continuing in it.
    if (sealed.origin === 'messages' && sealed.form === 'redacted') return this.begin('call', thought('', sealed))
    const before = this.within('thinking')
    const index = this.open?.index ?? 0
    this.open = undefined
    const sealing = this.piece({ type: 'signature_delta', signature: signatureOf(sealed) }, index)
    return before + sealing + event({ type: 'content_block_stop', index })
  }

  private call({ call, id, name, sealed }: Extract<Delta, { kind: 'call' }>): string {
    let text = ''
    if (sealed) {
      // Some clients take the signature only from its delta.
      text = this.begin('call', { type: 'thinking', thinking: '', signature: '' })
      text += this.piece({ type: 'signature_delta', signature: signatureOf(sealed, 'call') })
    }
    text += this.begin('call', { type: 'tool_use', id, name, input: {} })
    this.calls.set(call, this.blocks - 1)
    return text
  }

  end(usage: Usage): string {
    const delta = { stop_reason: stopReasonOf(this.finish, this.isRefused), stop_sequence: null }
    const last = { type: 'message_delta', delta, usage: writeMessagesUsage(usage) }
    return this.start() + this.close() + event(last) + event({ type: 'message_stop' })
  }

  fail(failure: Failure): string {
    return namedEvent('error', writeMessagesFailure(failure, this.answer.requestId).body)
  }
}
