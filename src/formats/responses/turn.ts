/** A conversation in the responses format as a neutral turn. */
import type {
  FilePart,
  InputPart,
  Message,
  OutputFormat,
  OutputPart,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../domain/turn.ts'
import { sourceOf } from '../chat/turn.ts'
import { asFields, asList, asText, textIn, type Fields } from '../fields.ts'
import { BadInput } from './items.ts'
import { isOptional } from './optional-tools.ts'
import type { ResponsesBody } from './request.ts'
import { sealedFrom } from './sealed.ts'

/** What a turn carries, or what is the gateway's own affair. Any other field is foreign. */
const known = new Set(
  `model input instructions previous_response_id store background stream stream_options include tools tool_choice parallel_tool_calls max_output_tokens text reasoning truncation temperature top_p presence_penalty frequency_penalty metadata user safety_identifier service_tier prompt_cache_key prompt_cache_retention top_logprobs`.split(
    ' ',
  ),
)
/** What of `include` is honoured, or is nothing that is ever left out. */
const included = new Set(['reasoning.encrypted_content', 'message.input_image.image_url'])

/** Throws BadInput where something cannot be put to any upstream. */
export function responsesTurn(body: ResponsesBody, items: readonly Fields[]): Turn {
  const { instructions } = body
  return {
    messages: [
      ...(instructions ? [{ role: 'system', parts: [{ kind: 'text', text: instructions }] } as const] : []),
      ...messagesOf(items),
    ],
    tools: (body.tools ?? []).filter(({ type }) => !isOptional(type)).map(toolOf),
    toolChoice: choiceOf(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: formatOf(body.text?.format),
    effort: body.reasoning?.effort ?? undefined,
    showReasoning: (body.reasoning?.summary ?? null) !== null,
    verbosity: body.text?.verbosity ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    choices: 1,
    user: body.safety_identifier ?? body.user ?? undefined,
    foreign: foreignOf(body),
  }
}

function foreignOf(body: ResponsesBody): string[] {
  const foreign = Object.keys(body).filter((name) => !known.has(name) && (body[name] ?? null) !== null)
  // Nothing is ever cut off here: what does not fit is refused by the upstream.
  if (body.truncation === 'auto') foreign.push('truncation')
  if (body.top_logprobs) foreign.push('top_logprobs')
  for (const { type } of body.tools ?? []) if (isOptional(type)) foreign.push(`tools.${type}`)
  if (body.include?.some((name) => !included.has(name))) foreign.push('include')
  return foreign
}

/** What the assistant said and called in a row is one message: vendors want calls and results side by side. */
function messagesOf(items: readonly Fields[]): Message[] {
  const messages: Message[] = []
  let said: OutputPart[] | undefined
  for (const item of items) {
    if (isBrokenCall(item)) continue
    const parts = assistantParts(item)
    if (parts) {
      if (said) said.push(...parts)
      else messages.push({ role: 'assistant', parts: (said = [...parts]) })
      continue
    }
    said = undefined
    messages.push(otherMessage(item))
  }
  return messages
}

/** A call that was cut off in the middle has arguments that nobody can read. */
export const isBrokenCall = ({ type, status }: Fields): boolean =>
  (type === 'function_call' || type === 'custom_tool_call') && status === 'incomplete'

/** Undefined for an item that is not the assistant's. */
function assistantParts(item: Fields): OutputPart[] | undefined {
  switch (item['type']) {
    case 'message':
      return item['role'] === 'assistant' ? asList(item['content']).map((part) => saidPart(asFields(part))) : undefined
    case 'function_call':
    case 'custom_tool_call': {
      const isCustom = item['type'] === 'custom_tool_call'
      const seal = textIn(item['tollgate_sealed'])
      return [
        {
          kind: 'tool_call',
          id: asText(item['call_id']),
          name: asText(item['name']),
          arguments: asText(isCustom ? item['input'] : item['arguments']),
          tool: isCustom ? 'custom' : 'function',
          sealed: seal === undefined ? undefined : sealedFrom(seal),
        },
      ]
    }
    case 'reasoning': {
      const texts = [...asList(item['summary']), ...asList(item['content'])]
      const seal = textIn(item['encrypted_content'])
      const text = texts.map((part) => asText(asFields(part)['text'])).join('\n')
      return [{ kind: 'reasoning', text, sealed: seal === undefined ? undefined : sealedFrom(seal) }]
    }
    default:
      return undefined
  }
}

const saidPart = (part: Fields): OutputPart =>
  part['type'] === 'refusal'
    ? { kind: 'refusal', text: asText(part['refusal']) }
    : { kind: 'text', text: asText(part['text']) }

function otherMessage(item: Fields): Message {
  const { type, role, content, output } = item
  if (type === 'message') {
    const parts = asList(content).map((part) => partOf(asFields(part)))
    return role === 'user' ? { role, parts } : { role: 'system', parts: parts.map(textOnly) }
  }
  const parts: InputPart[] =
    typeof output === 'string' ? [{ kind: 'text', text: output }] : asList(output).map((part) => partOf(asFields(part)))
  return { role: 'tool', callId: asText(item['call_id']), parts }
}

function textOnly(part: InputPart): TextPart {
  if (part.kind === 'text') return part
  throw new BadInput('unsupported_parameter', 'input', `A system message takes text only, not ${part.kind}.`)
}

function partOf(part: Fields): InputPart {
  switch (part['type']) {
    case 'input_image': {
      const detail = textIn(part['detail'])
      return {
        kind: 'image',
        source: sourceOf(asText(part['image_url'])),
        detail: detail === 'auto' ? undefined : detail,
      }
    }
    case 'input_file':
      return fileOf(part)
    case 'input_audio': {
      const { data, format } = asFields(part['input_audio'])
      const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${asText(format) || 'wav'}`
      return { kind: 'audio', source: { kind: 'data', mediaType, base64: asText(data) } }
    }
    default:
      return { kind: 'text', text: asText(part['text']) }
  }
}

function fileOf(part: Fields): FilePart {
  const data = asText(part['file_data'])
  const source = sourceOf(data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`)
  return { kind: 'file', source, name: textIn(part['filename']) }
}

function toolOf(tool: NonNullable<ResponsesBody['tools']>[number]): Tool {
  const { name, description } = tool
  const named = { name: name ?? '', description: description ?? undefined }
  if (tool.type === 'custom') return { kind: 'custom', ...named, format: tool.format ?? undefined }
  return { kind: 'function', ...named, parameters: tool.parameters ?? undefined, strict: tool.strict ?? undefined }
}

function choiceOf(choice: ResponsesBody['tool_choice']): ToolChoice | undefined {
  if (!choice) return undefined
  if (typeof choice === 'string') return { kind: choice }
  const { type } = choice
  if (type === 'function' || type === 'custom') return { kind: 'tool', name: asText(choice['name']) }
  if (type !== 'allowed_tools') {
    const message = `'tool_choice' of type '${type.slice(0, 100)}' is not supported.`
    throw new BadInput('unsupported_parameter', 'tool_choice.type', message)
  }
  const names = asList(choice['tools']).map((tool) => asText(asFields(tool)['name']))
  return { kind: 'allowed', mode: choice['mode'] === 'required' ? 'required' : 'auto', names }
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): OutputFormat | undefined {
  if (!format) return undefined
  if (format.type !== 'json_schema') return { kind: format.type }
  const { name, schema, description, strict } = format
  return {
    kind: 'json_schema',
    name: name ?? 'answer',
    schema: schema ?? {},
    description: description ?? undefined,
    strict: strict ?? undefined,
  }
}
