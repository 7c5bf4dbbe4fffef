/** A chat request as a neutral turn, for upstreams of another dialect. */
import { argumentsIn } from '../core/call-arguments.ts'
import { sourceOf } from '../core/media-source.ts'
import type { Failure } from '../../domain/failure.ts'
import type { InputPart, Message, OutputFormat, OutputPart, TextPart, Tool, ToolChoice } from '../../domain/turn.ts'
import { asFields, asList, asText, fieldsIn, numberIn, ownIn, textIn, wordFor, type Fields } from '../core/fields.ts'
import { effortIn } from '../core/effort.ts'
import type { TurnRead } from '../core/translated.ts'
import { readCallSignature } from './call-signature.ts'
import { readDetails } from './reasoning-details.ts'
import type { ChatBody } from './schema.ts'
import { namesOf } from '../core/vendor-tools.ts'
import { isVendorTool, splitChatTools } from './disallowed-fields.ts'

/** Fields that a turn carries, and fields that mean nothing to an upstream. Any other field is unsupported. */
const known = new Set(
  `model messages stream stream_options max_tokens max_completion_tokens n stop seed temperature top_p top_k frequency_penalty presence_penalty logprobs top_logprobs user tools tool_choice parallel_tool_calls response_format reasoning_effort verbosity safety_identifier metadata store service_tier prompt_cache_key`.split(
    ' ',
  ),
)

class Untranslatable extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

export function chatTurn(body: ChatBody): TurnRead {
  try {
    return { kind: 'turn', turn: turnOf(body) }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    const failure: Failure = { kind: 'unsupported_parameter', message: error.message, param: error.param }
    return { kind: 'rejected', failure }
  }
}

function turnOf(body: ChatBody): Extract<TurnRead, { kind: 'turn' }>['turn'] {
  const fields: Fields = body
  const user = fields['safety_identifier'] ?? fields['user']
  const effort = effortIn(body.reasoning_effort)
  return {
    messages: body.messages.map((message, i) => messageOf(message, `messages[${i}]`)),
    tools: (body.tools ?? []).flatMap((tool, i) => (isVendorTool(tool) ? [] : toolOf(tool, `tools[${i}]`))),
    toolChoice: toolChoiceOf(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: formatOf(body.response_format),
    effort,
    showReasoning: true,
    verbosity: textIn(fields['verbosity']),
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: numberIn(fields['top_k']),
    stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? undefined),
    seed: numberIn(fields['seed']),
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    choices: body.n ?? 1,
    logprobs: body.logprobs ? (body.top_logprobs ?? 0) : undefined,
    user: textIn(user),
    cacheKey: textIn(fields['prompt_cache_key']),
    foreign: [
      ...Object.keys(fields).filter((name) => !known.has(name) && (fields[name] ?? null) !== null),
      ...(body.reasoning_effort && !effort ? ['reasoning_effort'] : []),
      ...namesOf(splitChatTools(body.tools ?? [])),
    ],
  }
}

type BodyMessage = ChatBody['messages'][number]

function messageOf(message: BodyMessage, path: string): Message {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: partsOf(content, path).map((part) => textOnly(part, path)) }
    case 'user':
      return { role: 'user', parts: partsOf(content, path) }
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id ?? '', parts: partsOf(content, path) }
    case 'function':
      throw new Untranslatable(`${path}.role`, `This model takes no 'function' messages; use 'tool'.`)
    case 'assistant':
      return { role: 'assistant', parts: assistantParts(message) }
  }
}

function assistantParts(message: BodyMessage): OutputPart[] {
  const parts: OutputPart[] = []
  const { content, tool_calls: calls } = message
  const reasoning = message['reasoning_content'] ?? message['reasoning']
  const sealed = readDetails(message['reasoning_details'])
  if (sealed.length > 0) parts.push(...sealed)
  else if (typeof reasoning === 'string' && reasoning !== '') parts.push({ kind: 'reasoning', text: reasoning })
  if (typeof content === 'string' && content !== '') parts.push({ kind: 'text', text: content })
  for (const part of Array.isArray(content) ? content : []) {
    if (part.type === 'text' && typeof part['text'] === 'string') parts.push({ kind: 'text', text: part['text'] })
    if (part.type === 'refusal') parts.push({ kind: 'refusal', text: asText(part['refusal']) })
  }
  if (typeof message['refusal'] === 'string') parts.push({ kind: 'refusal', text: message['refusal'] })
  for (const call of calls ?? []) {
    const body = asFields(ownIn(call, call.type))
    const isCustom = call.type === 'custom'
    parts.push({
      kind: 'tool_call',
      id: call.id,
      name: asText(body['name']),
      arguments: isCustom ? asText(body['input']) : argumentsIn(body),
      tool: isCustom ? 'custom' : 'function',
      sealed: readCallSignature(call),
    })
  }
  return parts
}

function partsOf(content: BodyMessage['content'], path: string): InputPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return (content ?? []).map((part, i) => partOf(part, `${path}.content[${i}]`))
}

function partOf(part: Fields, path: string): InputPart {
  switch (part['type']) {
    case 'text': {
      const { ttl } = asFields(part['cache_control'])
      const cache = part['cache_control'] ? (ttl === '1h' ? '1h' : '5m') : undefined
      return { kind: 'text', text: asText(part['text']), cache }
    }
    case 'image_url': {
      const { url, detail } = asFields(part['image_url'])
      if (typeof url !== 'string') throw new Untranslatable(`${path}.image_url.url`, 'An image needs its url.')
      return { kind: 'image', source: sourceOf(url), detail: textIn(detail) }
    }
    case 'input_audio': {
      const { data, format } = asFields(part['input_audio'])
      if (typeof data !== 'string') throw new Untranslatable(`${path}.input_audio.data`, 'Audio needs its data.')
      const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${asText(format) || 'wav'}`
      return { kind: 'audio', source: { kind: 'data', mediaType, base64: data } }
    }
    case 'file': {
      const { file_data: data, filename } = asFields(part['file'])
      if (typeof data !== 'string') throw new Untranslatable(`${path}.file.file_data`, 'A file needs its file_data.')
      const source = sourceOf(data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`)
      return { kind: 'file', source, name: textIn(filename) }
    }
    default:
      throw new Untranslatable(`${path}.type`, `This model takes no '${wordFor(part['type'])}' parts.`)
  }
}

function textOnly(part: InputPart, path: string): TextPart {
  if (part.kind === 'text') return part
  throw new Untranslatable(`${path}.content`, `A system message takes text only, not ${part.kind}.`)
}

function toolOf(tool: NonNullable<ChatBody['tools']>[number], path: string): Tool {
  if (tool.type === 'function' && tool.function) {
    const { name, description, parameters } = tool.function
    const strict = tool.function['strict']
    return {
      kind: 'function',
      name,
      description: description ?? undefined,
      parameters: parameters ?? undefined,
      strict: typeof strict === 'boolean' ? strict : undefined,
    }
  }
  if (tool.type === 'custom') {
    const { name, description, format } = asFields(tool['custom'])
    return {
      kind: 'custom',
      name: asText(name),
      description: textIn(description),
      format: formatOfCustom(fieldsIn(format)),
    }
  }
  throw new Untranslatable(`${path}.type`, `This model takes no '${tool.type}' tools.`)
}

/** A grammar is one level deeper in the chat format than in the responses format, which has the neutral form. */
function formatOfCustom(format: Fields | undefined): Fields | undefined {
  const grammar = fieldsIn(format?.['grammar'])
  return grammar ? { type: 'grammar', ...grammar } : format
}

function toolChoiceOf(choice: ChatBody['tool_choice']): ToolChoice | undefined {
  if (!choice) return undefined
  if (typeof choice === 'string') return { kind: choice }
  const named = asFields(ownIn(choice, choice.type))
  if (choice.type === 'function' || choice.type === 'custom') return { kind: 'tool', name: asText(named['name']) }
  if (choice.type !== 'allowed_tools') throw new Untranslatable('tool_choice.type', 'Unknown kind of tool_choice.')
  const names = asList(named['tools'])
    .map(asFields)
    .map((tool) => asText(asFields(tool[asText(tool['type'])])['name']))
  return { kind: 'allowed', mode: named['mode'] === 'required' ? 'required' : 'auto', names }
}

function formatOf(format: ChatBody['response_format']): OutputFormat | undefined {
  if (!format) return undefined
  if (format.type === 'text' || format.type === 'json_object') return { kind: format.type }
  const { name, schema, description, strict } = asFields(format['json_schema'])
  if (format.type !== 'json_schema' || typeof schema !== 'object' || schema === null) {
    throw new Untranslatable(
      'response_format',
      'response_format must be text, json_object, or json_schema with a schema.',
    )
  }
  return {
    kind: 'json_schema',
    name: typeof name === 'string' ? name : 'answer',
    schema: schema as Fields,
    description: textIn(description),
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
}
