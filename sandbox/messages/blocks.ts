import type { AssistantBlock, MessagesMessage, UserBlock } from './request.ts'

/** The content of a message as blocks. A plain text is one block. */
export function userBlocks(message: MessagesMessage): readonly UserBlock[] {
  if (message.role !== 'user') return []
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}

export function assistantBlocks(message: MessagesMessage | undefined): readonly AssistantBlock[] {
  if (message?.role !== 'assistant') return []
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}
