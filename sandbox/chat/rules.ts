import type { ErrorFields } from '../reply.ts'
import { toolNameOf } from './tools.ts'
import type { SandboxChatRequest, ChatMessage } from './request.ts'

/** Conflicts between fields that are valid by themselves. Vendors refuse them. */
export function chatConflict(request: SandboxChatRequest): ErrorFields | undefined {
  return conflictOfOptions(request) ?? conflictOfToolChoice(request) ?? conflictOfToolCalls(request.messages)
}

function conflictOfOptions(request: SandboxChatRequest): ErrorFields | undefined {
  if (request.stream_options && !request.stream) {
    return invalid('stream_options', `The 'stream_options' parameter is only allowed when 'stream' is enabled.`)
  }
  if (typeof request.top_logprobs === 'number' && !request.logprobs) {
    return invalid('top_logprobs', `The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.`)
  }
  return undefined
}

function conflictOfToolChoice({ tools, tool_choice: choice }: SandboxChatRequest): ErrorFields | undefined {
  if (!choice || choice === 'none') return undefined
  if (!tools) return invalid('tool_choice', `'tool_choice' is only allowed when 'tools' are specified.`)
  if (typeof choice === 'string' || choice.type === 'allowed_tools') return undefined
  const name = toolNameOf(choice)
  if (tools.some((tool) => toolNameOf(tool) === name)) return undefined
  return invalid('tool_choice', `The tool '${name}' of 'tool_choice' was not found in 'tools'.`)
}

/** Tool messages must directly follow their assistant message, and answer each of its calls and nothing else. */
function conflictOfToolCalls(messages: readonly ChatMessage[]): ErrorFields | undefined {
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) return unaskedResult(index)
      continue
    }
    if (open.size > 0) return unansweredCalls(index, open)
    open = new Set(message.role === 'assistant' ? message.tool_calls?.map((call) => call.id) : [])
  }
  return open.size > 0 ? unansweredCalls(messages.length, open) : undefined
}

function unaskedResult(index: number): ErrorFields {
  const rule = `messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`
  return invalid(`messages[${index}].tool_call_id`, `Invalid parameter: ${rule}`)
}

function unansweredCalls(index: number, open: ReadonlySet<string>): ErrorFields {
  const rule = `An assistant message with 'tool_calls' must be followed by tool messages responding to each of them.`
  return invalid(`messages[${index - 1}]`, `${rule} Without a response: ${Array.from(open).join(', ')}`)
}

function invalid(param: string, message: string): ErrorFields {
  return { message, code: 'invalid_value', param }
}
