import type { SandboxChatRequest, ChatMessage, ChatTool } from '../chat/request.ts'
import { assistantBlocks, userBlocks } from './blocks.ts'
import type { MessagesCountRequest, MessagesMessage, UserBlock } from './request.ts'

/** Converts a request to a chat request, so that the answer does not depend on the dialect. */
export function asChat(request: MessagesCountRequest): SandboxChatRequest {
  const { system, messages, tools, tool_choice: choice, output_config: output } = request
  const leading: ChatMessage[] = system ? [{ role: 'system', content: textOf(system) }] : []
  const format = output?.format
  return {
    model: request.model,
    messages: [...leading, ...messages.flatMap(chatMessages)],
    tools: tools?.length ? tools.map(chatTool) : undefined,
    tool_choice: tools?.length && choice ? chatChoice(choice) : undefined,
    parallel_tool_calls: !(choice && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use),
    reasoning_effort: effortOf(request),
    response_format: format && { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } },
  }
}

function effortOf({ thinking, output_config: output }: MessagesCountRequest): SandboxChatRequest['reasoning_effort'] {
  if (thinking?.type === 'enabled') return 'medium'
  return thinking?.type === 'adaptive' ? (output?.effort ?? 'high') : 'none'
}

const textOf = (content: string | readonly { text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n')

function chatMessages(message: MessagesMessage): ChatMessage[] {
  if (message.role === 'system') return [{ role: 'system', content: textOf(message.content) }]
  if (message.role === 'assistant') return [chatAssistant(message)]
  const results: ChatMessage[] = []
  const parts: Exclude<Extract<ChatMessage, { role: 'user' }>['content'], string> = []
  for (const block of userBlocks(message)) {
    if (block.type === 'tool_result') {
      const content = typeof block.content === 'string' ? block.content : resultText(block.content ?? [])
      results.push({ role: 'tool', tool_call_id: block.tool_use_id, content })
    } else parts.push(chatPart(block))
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }]
}

const resultText = (blocks: readonly { type: string; text?: string }[]): string =>
  blocks.map(({ type, text }) => text ?? `[${type}]`).join('\n')

type Part = Exclude<Extract<ChatMessage, { role: 'user' }>['content'], string>[number]

function chatPart(block: Exclude<UserBlock, { type: 'tool_result' }>): Part {
  if (block.type === 'text') return { type: 'text', text: block.text }
  const { source } = block
  if (source.type === 'text') return { type: 'text', text: source.data }
  if (block.type === 'document') return { type: 'file', file: { filename: block.title } }
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`
  return { type: 'image_url', image_url: { url } }
}

function chatAssistant(message: MessagesMessage): ChatMessage {
  const blocks = assistantBlocks(message)
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }))
  return { role: 'assistant', content: text, tool_calls: calls.length === 0 ? undefined : tool_calls }
}

const chatTool = ({
  name,
  description,
  input_schema: parameters,
}: NonNullable<MessagesCountRequest['tools']>[number]): ChatTool => ({
  type: 'function',
  function: { name, description, parameters },
})

function chatChoice(choice: NonNullable<MessagesCountRequest['tool_choice']>): SandboxChatRequest['tool_choice'] {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'any' ? 'required' : choice.type
}
