import type { ErrorFields } from '../reply.ts'
import { assistantBlocks, userBlocks } from './blocks.ts'
import type { MessagesCountRequest, MessagesMessage, SandboxMessagesRequest } from './request.ts'
import { isRedactedData, isSigned } from './signature.ts'

/** Conflicts between fields that are valid by themselves. Vendors refuse them. */
export function messagesConflict(request: SandboxMessagesRequest): ErrorFields | undefined {
  return (
    conflictOfMarks(request) ??
    conflictOfOptions(request) ??
    conflictOfMessages(request.messages) ??
    conflictOfThoughts(request)
  )
}

/** Anthropic's bound (2026-11, "Prompt caching" in its documentation). Each mark is a prefix with its own count. */
const MARKS_MAX = 4

/** Conflicts that a vendor refuses in any request, also in one that is only counted. */
export function conflictOfMarks({
  messages,
  system,
  cache_control: whole,
}: MessagesCountRequest): ErrorFields | undefined {
  const blocks = [...messages, { content: system ?? '' }].flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.map((block) => ('cache_control' in block ? block.cache_control : null)),
  )
  const marks = [...blocks, whole].filter(Boolean).length
  if (marks <= MARKS_MAX) return undefined
  return invalid(`A maximum of ${MARKS_MAX} blocks with cache_control may be provided. Found ${marks}.`)
}

function conflictOfOptions(request: SandboxMessagesRequest): ErrorFields | undefined {
  const { thinking, max_tokens: tokensMax, tool_choice: choice, tools, temperature, top_p: topP } = request
  if (typeof temperature === 'number' && typeof topP === 'number') {
    return invalid('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
  }
  if (choice && choice.type !== 'none' && !tools) return invalid('tool_choice: may only be specified with `tools`')
  if (choice?.type === 'tool' && !tools?.some(({ name }) => name === choice.name)) {
    return invalid(`tool_choice: Tool '${choice.name}' not found in provided tools`)
  }
  if (!thinking || thinking.type === 'disabled') return undefined
  if (thinking.type === 'enabled' && thinking.budget_tokens >= tokensMax) {
    return invalid('`max_tokens` must be greater than `thinking.budget_tokens`')
  }
  if (choice?.type === 'any' || choice?.type === 'tool') {
    return invalid('Thinking may not be enabled when tool_choice forces tool use.')
  }
  if (typeof temperature === 'number' && temperature !== 1) {
    return invalid('`temperature` may only be set to 1 when thinking is enabled.')
  }
  return undefined
}

/** The next message must begin with results for each call of an assistant message, and for nothing else. */
function conflictOfMessages(messages: readonly MessagesMessage[]): ErrorFields | undefined {
  if (messages[0]?.role === 'assistant') return invalid('messages: first message must use the "user" role')
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const empty = emptyText(message)
    if (empty !== undefined) return invalid(`messages.${index}: ${empty}`)
    if (message.role === 'user') {
      const refused = conflictOfResults(message, open, index)
      if (refused) return refused
    }
    if (open.size > 0) return invalid(`messages.${index}: ${UNANSWERED} ${[...open].join(', ')}.`)
    open = new Set(assistantBlocks(message).flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])))
  }
  if (open.size > 0) return invalid(`messages.${messages.length}: ${UNANSWERED} ${[...open].join(', ')}.`)
  const end = assistantBlocks(messages.at(-1)).at(-1)
  return end?.type === 'text' && end.text !== end.text.trimEnd()
    ? invalid('messages: final assistant content cannot end with trailing whitespace')
    : undefined
}

const UNANSWERED = '`tool_use` ids were found without `tool_result` blocks immediately after:'

function emptyText(message: MessagesMessage): string | undefined {
  const blocks = [...userBlocks(message), ...assistantBlocks(message)]
  if (message.role === 'user' && blocks.length === 0) return 'user messages must have non-empty content'
  const isEmpty = blocks.some((block) => block.type === 'text' && block.text.trim() === '')
  return isEmpty ? 'text content blocks must contain non-whitespace text' : undefined
}

function conflictOfResults(message: MessagesMessage, open: Set<string>, index: number): ErrorFields | undefined {
  let isBehindOther = false
  for (const block of userBlocks(message)) {
    if (block.type !== 'tool_result') {
      isBehindOther = true
      continue
    }
    const isExpected = open.delete(block.tool_use_id) && !isBehindOther
    if (isExpected) continue
    const rule = 'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.'
    const fault = `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}.`
    return invalid(`${fault} ${rule}`)
  }
  return undefined
}

/** Thoughts must come back unchanged. A model with a thinking budget does not go on without its thoughts. */
function conflictOfThoughts({ messages, thinking }: SandboxMessagesRequest): ErrorFields | undefined {
  for (const [index, message] of messages.entries()) {
    for (const [i, block] of assistantBlocks(message).entries()) {
      const isForged =
        (block.type === 'thinking' && !isSigned(block)) ||
        (block.type === 'redacted_thinking' && !isRedactedData(block.data))
      if (isForged) return invalid(`messages.${index}.content.${i}: Invalid \`signature\` in \`thinking\` block`)
    }
  }
  const results = userBlocks(messages.at(-1) ?? { role: 'user', content: '' })
  const called = assistantBlocks(messages.at(-2))[0]?.type
  if (thinking?.type !== 'enabled' || results[0]?.type !== 'tool_result') return undefined
  if (called === 'thinking' || called === 'redacted_thinking') return undefined
  const place = `messages.${messages.length - 2}.content.0.type`
  return invalid(`${place}: Expected \`thinking\` or \`redacted_thinking\`, but found \`${called ?? 'nothing'}\`.`)
}

function invalid(message: string): ErrorFields {
  return { message, code: 'invalid_value' }
}
