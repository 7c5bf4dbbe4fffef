/**
 * The messages of a turn in the form of this format: roles alternate, tool results come first, and nothing is empty.
 */
import type {
  FilePart,
  ImagePart,
  InputPart,
  MediaSource,
  Message,
  OutputPart,
  TextPart,
  Turn,
} from '../../domain/turn.ts'
import { parseExactFields } from '../core/fields.ts'
import type { ClaudeFamily } from '../../vendors/claude-families.ts'

type Block = { type: string; cache_control?: object; [field: string]: unknown }
type WireMessage = { readonly role: 'user' | 'assistant' | 'system'; content: Block[] }

export type MessageHistory = {
  readonly system: readonly Block[]
  readonly messages: readonly WireMessage[]
  /** The fields that could not be written. */
  readonly dropped: ReadonlySet<string>
  /**
   * Whether a tool result answers a message whose thinking is lost. Models with a thinking budget refuse to continue
   * it.
   */
  readonly lostThought: boolean
}

/** The most cache marks in one request (Anthropic, 2026-11). */
const CACHE_MARKS_MAX = 4
/** The user's text before a conversation that begins with the assistant, or after one that must not end with it. */
const CONTINUE: Block = { type: 'text', text: 'Continue.' }

type Places = Pick<ClaudeFamily, 'systemInside' | 'prefill'>

export function conversationOf({ messages }: Turn, places: Places): MessageHistory {
  const writer = new Writer(places)
  for (const message of messages) writer.add(message)
  return writer.finish()
}

class Writer {
  private readonly system: Block[] = []
  private readonly messages: WireMessage[] = []
  private readonly dropped = new Set<string>()
  private readonly places: Places

  constructor(places: Places) {
    this.places = places
  }

  add(message: Message): void {
    switch (message.role) {
      case 'system': {
        const blocks = message.parts.flatMap(textBlock)
        if (this.messages.length === 0) this.system.push(...blocks)
        // No message may stand between a call and its result. There, and for older models, the user says it.
        else if (this.places.systemInside && !this.hasOpenCall()) this.last('system').push(...blocks)
        else this.last('user').push(...blocks)
        return
      }
      case 'user':
        this.last('user').push(...message.parts.flatMap((part) => this.input(part)))
        return
      case 'tool': {
        const content = message.parts.flatMap((part) => this.input(part))
        const result: Block = { type: 'tool_result', tool_use_id: message.callId }
        if (content.length > 0) result['content'] = content
        if (message.isError === true) result['is_error'] = true
        const blocks = this.last('user')
        const first = blocks.findIndex(({ type }) => type !== 'tool_result')
        blocks.splice(first === -1 ? blocks.length : first, 0, result)
        return
      }
      case 'assistant':
        this.last('assistant').push(...message.parts.flatMap((part) => this.output(part)))
    }
  }

  finish(): MessageHistory {
    const said = this.messages.filter(({ content }) => content.length > 0)
    // A system prompt alone becomes a message, because the format demands one.
    if (said.length === 0) said.push({ role: 'user', content: this.system.splice(0) })
    if (said[0]?.content.length === 0) said[0].content.push(CONTINUE)
    if (said[0]?.role === 'assistant') said.unshift({ role: 'user', content: [CONTINUE] })
    const end = said.at(-1)
    const prefill = end?.role === 'assistant' ? end.content.at(-1) : undefined
    if (prefill?.type === 'text') prefill['text'] = String(prefill['text']).trimEnd()
    if (end?.role === 'assistant' && !this.places.prefill) said.push({ role: 'user', content: [CONTINUE] })
    this.limitMarks(said)
    return { system: this.system, messages: said, dropped: this.dropped, lostThought: lostThought(said) }
  }

  /** The blocks of the last message if it has this role. Two messages of one role become one. */
  private last(role: WireMessage['role']): Block[] {
    const last = this.messages.at(-1)
    if (last?.role === role) return last.content
    const message: WireMessage = { role, content: [] }
    this.messages.push(message)
    return message.content
  }

  private hasOpenCall(): boolean {
    const last = this.messages.at(-1)
    return last?.role === 'assistant' && last.content.some(({ type }) => type === 'tool_use')
  }

  private input(part: InputPart): Block[] {
    switch (part.kind) {
      case 'text':
        return textBlock(part)
      case 'image':
        if (part.detail !== undefined && part.detail !== 'auto') this.dropped.add('detail')
        return [{ type: 'image', source: imageSource(part) }]
      case 'file':
        return [documentBlock(part)]
      case 'audio':
        return [] // Refused earlier: see obstacleOf.
    }
  }

  private output(part: OutputPart): Block[] {
    switch (part.kind) {
      case 'text':
        return textBlock(part)
      case 'refusal':
        return textBlock({ kind: 'text', text: part.text })
      case 'reasoning': {
        const { sealed, text } = part
        if (sealed?.origin !== 'messages') {
          this.dropped.add('reasoning')
          return []
        }
        if (sealed.form === 'redacted') return [{ type: 'redacted_thinking', data: sealed.data }]
        return [{ type: 'thinking', thinking: text, signature: sealed.data }]
      }
      case 'tool_call': {
        if (part.sealed) this.dropped.add('reasoning')
        const input = argumentsOf(part.arguments)
        return [{ type: 'tool_use', id: part.id, name: part.name, input }]
      }
    }
  }

  /** The last marks are kept, because they cover the most. */
  private limitMarks(messages: readonly WireMessage[]): void {
    const marked = [...this.system, ...messages.flatMap(({ content }) => content)].filter((one) => one.cache_control)
    for (const block of marked.slice(0, -CACHE_MARKS_MAX)) {
      delete block.cache_control
      this.dropped.add('cache_control')
    }
  }
}

function textBlock({ text, cache }: TextPart): Block[] {
  if (text.trim() === '') return []
  const block: Block = { type: 'text', text }
  if (cache) block.cache_control = cache === '1h' ? { type: 'ephemeral', ttl: cache } : { type: 'ephemeral' }
  return [block]
}

const mediaOf = (source: MediaSource): object =>
  source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.base64 }

const imageSource = ({ source }: ImagePart): object => mediaOf(source)

function documentBlock({ source, name }: FilePart): Block {
  const title = name === undefined ? {} : { title: name }
  if (source.kind === 'url' || !isText(source.mediaType)) return { type: 'document', source: mediaOf(source), ...title }
  const data = Buffer.from(source.base64, 'base64').toString()
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
}

const isText = (mediaType: string): boolean => mediaType.startsWith('text/') || mediaType === 'application/json'

/** Arguments that are no JSON object are put into one, so that the model sees what it wrote. */
const argumentsOf = (text: string): object => parseExactFields(text) ?? (text.trim() === '' ? {} : { arguments: text })

function lostThought(messages: readonly WireMessage[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const isAnswered = messages.slice(at + 1).some(({ content }) => content[0]?.type === 'tool_result')
  if (at === -1 || !isAnswered) return false
  const first = messages[at]?.content[0]?.type
  return first !== 'thinking' && first !== 'redacted_thinking'
}

const IMAGE_TYPES = /^image\/(?:png|jpeg|jpg|gif|webp)$/i

/** The kind of part that this format cannot express. Undefined if there is none. */
export function unsayable(parts: readonly InputPart[]): string | undefined {
  for (const part of parts) {
    if (part.kind === 'audio') return 'audio'
    if (part.kind === 'image' && part.source.kind === 'data' && !IMAGE_TYPES.test(part.source.mediaType)) {
      return part.source.mediaType
    }
    if (part.kind !== 'file' || part.source.kind === 'url') continue
    const { mediaType } = part.source
    if (mediaType !== 'application/pdf' && !isText(mediaType)) return mediaType
  }
  return undefined
}
