/**
 * The messages of a turn in this format: roles alternate, the user begins, results come first, and nothing is empty.
 * What the service refuses, in its words: "A conversation must alternate between user and assistant roles",
 * "A conversation must start with a user message", "The text field in the ContentBlock object … is blank", "A text
 * block must be included when using documents" (https://github.com/Portkey-AI/gateway/issues/748,
 * https://github.com/langgenius/dify/issues/12340, https://github.com/earendil-works/pi/issues/4975,
 * https://github.com/archestra-ai/archestra/pull/4220; read on 2026-11-26).
 */
import type { CacheHint, InputPart, Message, OutputPart, TextPart } from '../../domain/turn.ts'
import type { ConverseFamily } from '../../vendors/converse-families.ts'
import { parseExactFields } from '../core/fields.ts'
import { audioBlock, documentBlock, DocumentNames, imageBlock } from './media.ts'
import type { Block, WireMessage } from './wire.ts'

export type ConverseHistory = {
  readonly system: readonly Block[]
  readonly messages: readonly WireMessage[]
  /** The fields that could not be written. */
  readonly dropped: ReadonlySet<string>
  /** Whether a tool result answers a message whose thinking is lost. */
  readonly lostThought: boolean
}

export type HistoryOptions = {
  readonly family: ConverseFamily
  /** Whether the last message may be the assistant's, to be continued. */
  readonly prefill: boolean
}

/** The most cache points in one request (`_MAX_CACHE_POINTS` of langchain-ai/langchain-aws, 2026-08). */
const CACHE_POINTS_MAX = 4
/** Stand for messages and texts that the service demands and that nobody has written. */
const CONTINUE: Block = { text: 'Continue.' }
const UNDERSTOOD: Block = { text: 'Understood.' }
const SEE_DOCUMENT: Block = { text: 'See the document.' }
const NO_OUTPUT: Block = { text: '(no output)' }

export function converseHistory(messages: readonly Message[], options: HistoryOptions): ConverseHistory {
  const writer = new Writer(options)
  for (const message of messages) writer.add(message)
  return writer.finish()
}

const isIn = (kind: string) => (block: Block) => kind in block
const isToolBlock = (block: Block): boolean => 'toolUse' in block || 'toolResult' in block
const isCachePoint = isIn('cachePoint')

class Writer {
  private readonly system: Block[] = []
  private readonly messages: WireMessage[] = []
  private readonly dropped = new Set<string>()
  private readonly documents = new DocumentNames()
  private readonly options: HistoryOptions
  /** The results at the beginning of the last message. */
  private leadingResults = 0

  constructor(options: HistoryOptions) {
    this.options = options
  }

  add(message: Message): void {
    switch (message.role) {
      case 'system': {
        const isApart = this.messages.length === 0 && this.options.family.system
        const blocks = message.parts.flatMap((part) => this.text(part))
        if (isApart) this.system.push(...blocks)
        else this.say('user', blocks)
        return
      }
      case 'user':
        return this.say('user', withText(message.parts.flatMap((part) => this.input(part))))
      case 'tool':
        return this.result(message)
      case 'assistant':
        this.say(
          'assistant',
          message.parts.flatMap((part) => this.output(part)),
        )
    }
  }

  finish(): ConverseHistory {
    const { system, dropped, options } = this
    // A system prompt alone becomes a message, because the service demands one.
    if (this.messages.length === 0) this.say('user', system.length > 0 ? system.splice(0) : [CONTINUE])
    if (this.messages[0]?.role === 'assistant') this.messages.unshift({ role: 'user', content: [CONTINUE] })
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') {
      if (options.prefill) trimEnd(last)
      else this.say('user', [CONTINUE])
    }
    this.limitCachePoints()
    const lostThought = lostThoughtIn(this.messages)
    const messages = options.family.mixesBlocks ? this.messages : this.messages.flatMap(apart)
    return { system, messages, dropped, lostThought }
  }

  /** Adds blocks to the last message if it has this role. Two messages of one role would be refused. */
  private say(role: WireMessage['role'], blocks: readonly Block[]): void {
    if (blocks.length === 0) return
    const content = this.contentOf(role)
    for (const block of blocks) content.push(block)
  }

  private contentOf(role: WireMessage['role']): Block[] {
    const last = this.messages.at(-1)
    if (last?.role === role) return last.content
    const message: WireMessage = { role, content: [] }
    this.messages.push(message)
    this.leadingResults = 0
    return message.content
  }

  /** Results stand before everything else in their message. */
  private result({ callId: toolUseId, parts, isError }: Extract<Message, { role: 'tool' }>): void {
    const { richResults } = this.options.family
    const written = parts.flatMap((part) => this.input(part))
    const isPlain = (block: Block): boolean => 'text' in block || (richResults && !isCachePoint(block))
    const content = withText(written.filter(isPlain))
    const status = richResults && isError === true ? { status: 'error' } : {}
    if (isError === true && !richResults) this.dropped.add('is_error')
    const block = { toolResult: { toolUseId, content: content.length > 0 ? content : [NO_OUTPUT], ...status } }
    const blocks = this.contentOf('user')
    blocks.splice(this.leadingResults++, 0, block)
    this.say('user', withText(written.filter((one) => !isPlain(one))))
  }

  private text({ text, cache }: TextPart): Block[] {
    return text.trim() === '' ? [] : [{ text }, ...this.cachePoint(cache)]
  }

  private cachePoint(cache: CacheHint | undefined): Block[] {
    if (cache === undefined) return []
    const { cachePoints, isClaude } = this.options.family
    if (cachePoints === 'nowhere') {
      this.dropped.add('cache_control')
      return []
    }
    return [{ cachePoint: { type: 'default', ...(cache === '1h' && isClaude ? { ttl: cache } : {}) } }]
  }

  private input(part: InputPart): Block[] {
    switch (part.kind) {
      case 'text':
        return this.text(part)
      case 'image':
        if (part.detail !== undefined && part.detail !== 'auto') this.dropped.add('detail')
        return [imageBlock(part)]
      case 'file':
        return [documentBlock(part, this.documents)]
      case 'audio':
        return [audioBlock(part)]
    }
  }

  private output(part: OutputPart): Block[] {
    switch (part.kind) {
      case 'text':
        return this.text(part)
      case 'refusal':
        return this.text({ kind: 'text', text: part.text })
      case 'reasoning': {
        const { sealed, text } = part
        // Models that sign nothing refuse thoughts ("User messages cannot contain reasoning content").
        if (sealed?.origin !== 'converse' || !this.options.family.signsThoughts) {
          this.dropped.add('reasoning')
          return []
        }
        if (sealed.form === 'redacted') return [{ reasoningContent: { redactedContent: sealed.data } }]
        return [{ reasoningContent: { reasoningText: { text, signature: sealed.data } } }]
      }
      case 'tool_call': {
        if (part.sealed) this.dropped.add('reasoning')
        return [{ toolUse: { toolUseId: part.id, name: part.name, input: argumentsOf(part.arguments) } }]
      }
    }
  }

  /** The last points are kept, because they cover the most. */
  private limitCachePoints(): void {
    const all = [this.system, ...this.messages.map(({ content }) => content)]
    const isBarred = (blocks: readonly Block[]): boolean =>
      this.options.family.cachePoints === 'not_beside_tools' && blocks.some(isToolBlock)
    let surplus = -CACHE_POINTS_MAX
    for (const blocks of all) if (!isBarred(blocks)) surplus += blocks.filter(isCachePoint).length
    for (const blocks of all) {
      const barred = isBarred(blocks)
      const kept = blocks.filter((block) => !isCachePoint(block) || (!barred && surplus-- <= 0))
      if (kept.length === blocks.length) continue
      this.dropped.add('cache_control')
      for (const [i, block] of kept.entries()) blocks[i] = block
      blocks.length = kept.length
    }
  }
}

/** The service demands a text beside each document. */
const withText = (blocks: Block[]): Block[] =>
  blocks.some(isIn('document')) && !blocks.some(isIn('text')) ? [...blocks, SEE_DOCUMENT] : blocks

/** A message whose tool blocks and other blocks stand in messages of their own, with the other role between them. */
function apart(message: WireMessage): WireMessage[] {
  const { role, content } = message
  const tools = content.filter(isToolBlock)
  const others = content.filter((block) => !isToolBlock(block))
  if (tools.length === 0 || others.length === 0) return [message]
  return role === 'user'
    ? [
        { role, content: tools },
        { role: 'assistant', content: [UNDERSTOOD] },
        { role, content: others },
      ]
    : [
        { role, content: others },
        { role: 'user', content: [CONTINUE] },
        { role, content: tools },
      ]
}

/** An answer that is continued must not end with a blank. */
function trimEnd({ content }: WireMessage): void {
  const last = content.at(-1)
  if (typeof last?.['text'] === 'string') content[content.length - 1] = { text: last['text'].trimEnd() }
}

/** Arguments that are no JSON object are put into one, so that the model sees what it wrote. */
const argumentsOf = (text: string): object => parseExactFields(text) ?? (text.trim() === '' ? {} : { arguments: text })

function lostThoughtIn(messages: readonly WireMessage[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const isAnswered = messages.slice(at + 1).some(({ content }) => 'toolResult' in (content[0] ?? {}))
  return at !== -1 && isAnswered && !('reasoningContent' in (messages[at]?.content[0] ?? {}))
}
