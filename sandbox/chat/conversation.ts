import type { ChatMessage } from './request.ts'

/** An attachment of a message, such as `image`, `image/png`. */
export type Attachment = { kind: 'image' | 'audio' | 'file'; type: string }
export type ToolResult = { name: string; text: string }

const OPENING_CHARS_MAX = 4_000

export function textOf(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content
  let text = ''
  for (const part of message.content ?? []) {
    if (part.type === 'text') text += text === '' ? part.text : `\n${part.text}`
  }
  return text
}

/** The part of a text that is searched for phrases. It is bounded, because not every search is linear. */
export function openingOf(text: string): string {
  return text.slice(0, OPENING_CHARS_MAX)
}

export function attachmentsOf(message: ChatMessage | undefined): Attachment[] {
  if (message?.role !== 'user' || typeof message.content === 'string') return []
  const attachments: Attachment[] = []
  for (const part of message.content) {
    if (part.type === 'image_url') attachments.push({ kind: 'image', type: mediaTypeOf(part.image_url.url) })
    if (part.type === 'input_audio') attachments.push({ kind: 'audio', type: `audio/${part.input_audio.format}` })
    if (part.type === 'file') attachments.push({ kind: 'file', type: part.file.filename ?? 'unnamed' })
  }
  return attachments
}

/** Tool results after the last user message. The next answer is about them. */
export function openToolResults(messages: readonly ChatMessage[]): ToolResult[] {
  if (messages.at(-1)?.role !== 'tool') return []
  const names = new Map<string, string>()
  const results: ToolResult[] = []
  for (const message of messages) {
    if (message.role === 'user') results.length = 0
    if (message.role === 'assistant') for (const call of message.tool_calls ?? []) note(call, names)
    if (message.role === 'tool') {
      results.push({ name: names.get(message.tool_call_id) ?? 'the tool', text: textOf(message) })
    }
  }
  return results
}

type RequestCall = NonNullable<Extract<ChatMessage, { role: 'assistant' }>['tool_calls']>[number]

/** A repeated id keeps its first name. */
function note(call: RequestCall, names: Map<string, string>): void {
  if (!names.has(call.id)) names.set(call.id, call.type === 'function' ? call.function.name : call.custom.name)
}

const TYPE_CHARS_MAX = 100
const ADDRESS_CHARS_MAX = 2_000

/** The media type by the address alone, because the sandbox fetches nothing. */
function mediaTypeOf(address: string): string {
  const url = address.slice(0, ADDRESS_CHARS_MAX)
  const declared = /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1]
  if (declared !== undefined) return declared.slice(0, TYPE_CHARS_MAX)
  const extension = /\.(png|jpe?g|gif|webp)(?:$|[?#])/i.exec(url)?.[1]?.toLowerCase()
  if (extension === undefined) return 'image'
  return `image/${extension === 'jpg' ? 'jpeg' : extension}`
}

export function lastUserMessage(messages: readonly ChatMessage[]): ChatMessage | undefined {
  return messages.findLast((message) => message.role === 'user')
}
