/** The content of a message (RFC 9110, section 6.4): text, or bytes that are not text. */
export type MessageContent = string | Uint8Array

/** The length on the wire. Text is sent in UTF-8. */
export const contentBytes = (content: MessageContent): number =>
  typeof content === 'string' ? Buffer.byteLength(content) : content.length

/** One content after the other. Text is a text, and bytes are bytes: only an empty text may meet bytes. */
export function joinContent(first: MessageContent, second: MessageContent): MessageContent {
  if (typeof first === 'string' && typeof second === 'string') return first + second
  if (first.length === 0) return second
  if (second.length === 0) return first
  if (typeof first === 'string' || typeof second === 'string') throw new Error('text and bytes in one content')
  return Buffer.concat([first, second])
}
