import type { SandboxChatRequest, ChatMessage } from '../chat/request.ts'
import type { ErrorFields } from '../reply.ts'
import type { RequestContent, SandboxGeminiRequest, Part } from './request.ts'

/** Converts a request to a chat request, because the same code makes the answers of every dialect. */
export function asChatRequest(model: string, request: SandboxGeminiRequest): SandboxChatRequest {
  const { generationConfig: config = {}, tools = [], toolConfig } = request
  const declarations = tools.flatMap(({ functionDeclarations }) => functionDeclarations)
  const { mode, allowedFunctionNames: names } = toolConfig?.functionCallingConfig ?? {}
  return {
    model,
    messages: messagesOf(request),
    n: config.candidateCount,
    stop: config.stopSequences,
    max_completion_tokens: config.maxOutputTokens,
    seed: config.seed,
    reasoning_effort: effortOf(config.thinkingConfig),
    response_format: formatOf(config),
    tools:
      declarations.length === 0
        ? undefined
        : declarations.map(({ name, description, parameters, parametersJsonSchema }) => ({
            type: 'function',
            function: { name, description, parameters: parametersJsonSchema ?? parameters },
          })),
    tool_choice: names
      ? {
          type: 'allowed_tools',
          allowed_tools: {
            mode: mode === 'ANY' ? 'required' : 'auto',
            tools: names.map((name) => ({ type: 'function', function: { name } })),
          },
        }
      : mode === 'NONE'
        ? 'none'
        : mode === 'ANY'
          ? 'required'
          : 'auto',
  }
}

type Config = NonNullable<SandboxGeminiRequest['generationConfig']>

function effortOf(thinking: Config['thinkingConfig']): SandboxChatRequest['reasoning_effort'] {
  const { thinkingLevel: level, thinkingBudget: budget = 0 } = thinking ?? {}
  if (level) return level
  return budget === 0 ? 'none' : budget > 0 && budget < 4_096 ? 'low' : 'medium'
}

function formatOf({
  responseMimeType,
  responseSchema,
  responseJsonSchema,
}: Config): SandboxChatRequest['response_format'] {
  if (responseMimeType !== 'application/json') return undefined
  const schema = responseJsonSchema ?? responseSchema
  return schema ? { type: 'json_schema', json_schema: { name: 'answer', schema } } : { type: 'json_object' }
}

function messagesOf({ systemInstruction, contents }: SandboxGeminiRequest): ChatMessage[] {
  const messages: ChatMessage[] = systemInstruction
    ? [{ role: 'system', content: textOf(systemInstruction.parts) }]
    : []
  for (const [turn, content] of contents.entries()) {
    if (content.role === 'model') messages.push(modelMessage(content, turn))
    else messages.push(...userMessages(content, turn))
  }
  return messages
}

const textOf = (parts: readonly Part[]): string => parts.map(({ text = '', thought }) => (thought ? '' : text)).join('')

/** Calls and results are matched by position: the nth result of a turn answers the nth call before it. */
const callId = (turn: number, index: number): string => `turn${turn}_${index}`

function modelMessage({ parts }: RequestContent, turn: number): ChatMessage {
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  const tool_calls = calls.map(({ name, args = {} }, index) => ({
    id: callId(turn, index),
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(args) },
  }))
  return { role: 'assistant', content: textOf(parts), ...(calls.length === 0 ? {} : { tool_calls }) }
}

function userMessages({ parts }: RequestContent, turn: number): ChatMessage[] {
  const results = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  const messages = results.map(({ response }, index): ChatMessage => {
    const { output = response } = response
    const content = typeof output === 'string' ? output : JSON.stringify(output)
    return { role: 'tool', tool_call_id: callId(turn - 1, index), content }
  })
  const said = parts.flatMap(({ text, inlineData, fileData }): UserPart[] => {
    if (text !== undefined) return [{ type: 'text', text }]
    if (inlineData) return [attachmentOf(inlineData.mimeType)]
    return fileData ? [{ type: 'image_url', image_url: { url: fileData.fileUri } }] : []
  })
  return said.length === 0 ? messages : [...messages, { role: 'user', content: said }]
}

type UserPart = Exclude<Extract<ChatMessage, { role: 'user' }>['content'], string>[number]

function attachmentOf(mimeType: string): UserPart {
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url: `data:${mimeType};base64,` } }
  if (mimeType.startsWith('audio/')) {
    return { type: 'input_audio', input_audio: { data: '', format: mimeType.slice('audio/'.length) } }
  }
  return { type: 'file', file: { filename: mimeType } }
}

/** Google's rule: the results directly follow the calls, in the same number and with the same names. */
export function geminiConflict(contents: readonly RequestContent[]): ErrorFields | undefined {
  for (const [i, { role, parts }] of contents.entries()) {
    const before = i === 0 ? undefined : contents[i - 1]
    const results = parts.flatMap(({ functionResponse }) => functionResponse?.name ?? [])
    const calls = before?.role === 'model' ? before.parts.flatMap(({ functionCall }) => functionCall?.name ?? []) : []
    if (role === 'model' || (results.length === 0 && calls.length === 0)) continue
    if (results.length !== calls.length) {
      const rule = 'the number of function response parts is equal to the number of function call parts'
      return { message: `Please ensure that ${rule} of the function call turn.`, code: 'invalid_value' }
    }
    if (results.toSorted().join() !== calls.toSorted().join()) {
      return { message: 'Please ensure that function response names match the function calls.', code: 'invalid_value' }
    }
  }
  return undefined
}
