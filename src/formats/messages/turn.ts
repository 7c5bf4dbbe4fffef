/** A Messages request as a neutral turn, for upstreams of another dialect. */
import type {
  CacheHint,
  Effort,
  FilePart,
  ImagePart,
  InputPart,
  Message,
  OutputFormat,
  OutputPart,
  SealedData,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../domain/turn.ts'
import { asFields, asText, textIn, type Fields } from '../core/fields.ts'
import type { TurnRead } from '../core/translated.ts'
import { allBlocks, blocksOf } from './content.ts'
import type { MessagesBody } from './request.ts'
import { inputIn } from './lawful-answer.ts'
import { namesOf } from '../core/vendor-tools.ts'
import { readStamp } from './seal.ts'
import { isServerTool, splitMessagesTools } from './vendor-tools.ts'

/** Fields that a turn carries, and fields that mean nothing to an upstream. Any other field is unsupported. */
const known = new Set(
  `model messages max_tokens system stream stop_sequences temperature top_p top_k tools tool_choice thinking output_config metadata service_tier speed inference_geo`.split(
    ' ',
  ),
)
const efforts: ReadonlySet<string> = new Set<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])

class Untranslatable extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

/** Whether the client wants to see the model's thinking. */
export const wantsThoughts = ({ thinking }: MessagesBody): boolean =>
  thinking !== undefined && thinking !== null && thinking.type !== 'disabled' && thinking['display'] !== 'omitted'

export function messagesTurn(body: MessagesBody): TurnRead {
  try {
    return { kind: 'turn', turn: turnOf(body) }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    const { message, param } = error
    return { kind: 'rejected', failure: { kind: 'unsupported_parameter', message, param } }
  }
}

function turnOf(body: MessagesBody): Turn {
  const fields: Fields = body
  const { system, thinking, output_config: output, tool_choice: choice } = body
  const budget = thinking?.type === 'enabled' ? (thinking.budget_tokens ?? undefined) : undefined
  const messages = body.messages.flatMap((message, i) => messagesOf(message, `messages[${i}]`))
  const leading: Message[] = system ? [{ role: 'system', parts: systemParts(system, 'system') }] : []
  return {
    messages: [...leading, ...messages],
    tools: loadedTools(body).flatMap(([tool, i]) => (isServerTool(tool) ? [] : toolOf(tool, `tools[${i}]`))),
    toolChoice: choice ? toolChoiceOf(choice) : undefined,
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
    format: formatOf(output?.format),
    effort: effortOf(output?.effort, budget),
    thinkingTokens: budget,
    showReasoning: wantsThoughts(body),
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    stop: body.stop_sequences?.length ? body.stop_sequences : undefined,
    choices: 1,
    user: body.metadata?.user_id ?? undefined,
    foreign: [
      ...Object.keys(fields).filter((name) => !known.has(name) && (fields[name] ?? null) !== null),
      ...namesOf(splitMessagesTools(body.tools ?? [])),
      ...foreignBlocks(body.messages),
    ],
  }
}

const SAID = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/** Kinds of blocks that a vendor put into its own answer, such as a search. Other vendors continue without them. */
const foreignBlocks = (messages: MessagesBody['messages']): string[] => {
  const types = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? blocksOf(content).map(({ type }) => asText(type)) : [],
  )
  return [...new Set(types)].filter((type) => !SAID.has(type)).map((type) => `messages.${type}`)
}

/** Budgets as effort levels of other dialects. The borders are those by which vendors map levels back. */
function effortOf(stated: string | null | undefined, budget: number | undefined): Effort | undefined {
  if (typeof stated === 'string' && efforts.has(stated)) return stated as Effort
  if (budget === undefined) return undefined
  if (budget < 4_096) return 'low'
  return budget < 16_384 ? 'medium' : 'high'
}

function systemParts(content: unknown, path: string): TextPart[] {
  return blocksOf(content).map((block, i) => {
    if (block['type'] === 'text') return textPart(block)
    throw new Untranslatable(`${path}[${i}].type`, `A system prompt takes text only, not '${asText(block['type'])}'.`)
  })
}

function cacheOf(block: Fields): CacheHint | undefined {
  const control = block['cache_control'] ?? null
  if (control === null) return undefined
  return asFields(control)['ttl'] === '1h' ? '1h' : '5m'
}

const textPart = (block: Fields): TextPart => ({ kind: 'text', text: asText(block['text']), cache: cacheOf(block) })

function messagesOf({ role, content }: MessagesBody['messages'][number], path: string): Message[] {
  const blocks = blocksOf(content)
  const at = (i: number): string => `${path}.content[${i}]`
  if (role === 'system') return [{ role, parts: systemParts(content, `${path}.content`) }]
  if (role === 'assistant') return [{ role, parts: assistantParts(blocks) }]
  const messages: Message[] = []
  const parts: InputPart[] = []
  for (const [i, block] of blocks.entries()) {
    if (block['type'] !== 'tool_result') {
      parts.push(...inputParts(block, at(i)))
      continue
    }
    const callId = asText(block['tool_use_id'])
    const results = blocksOf(block['content'] ?? []).flatMap((one, j) => inputParts(one, `${at(i)}.content[${j}]`))
    messages.push({ role: 'tool', callId, parts: results, isError: block['is_error'] === true || undefined })
  }
  if (parts.length > 0) messages.push({ role, parts })
  return messages
}

function inputParts(block: Fields, path: string): InputPart[] {
  switch (block['type']) {
    case 'text':
      return [textPart(block)]
    case 'image':
      return [imageOf(block, path)]
    case 'document':
      return documentOf(block, path)
    case 'search_result': {
      const words = blocksOf(block['content']).map((one) => asText(one['text']))
      return [{ kind: 'text', text: [asText(block['title']), asText(block['source']), ...words].join('\n') }]
    }
    case 'tool_reference':
      return [{ kind: 'text', text: `The tool '${asText(block['tool_name'])}' is loaded: it can be called now.` }]
    default:
      throw new Untranslatable(`${path}.type`, `This model takes no '${asText(block['type'])}' blocks.`)
  }
}

function imageOf({ source }: Fields, path: string): ImagePart {
  const { type, media_type: mediaType, data, url } = asFields(source)
  if (type === 'url' && typeof url === 'string') return { kind: 'image', source: { kind: 'url', url } }
  if (type !== 'base64' || typeof data !== 'string') {
    throw new Untranslatable(`${path}.source`, 'An image needs its data in base64, or its url.')
  }
  return { kind: 'image', source: { kind: 'data', mediaType: textIn(mediaType) ?? 'image/png', base64: data } }
}

function documentOf({ source, title }: Fields, path: string): InputPart[] {
  const { type, media_type: mediaType, data, content } = asFields(source)
  if (type === 'text') {
    const heading = textIn(title)
    return [{ kind: 'text', text: heading === undefined ? asText(data) : `${heading}\n\n${asText(data)}` }]
  }
  if (type === 'content') return blocksOf(content).flatMap((one, i) => inputParts(one, `${path}.source.content[${i}]`))
  if (type !== 'base64' || typeof data !== 'string') {
    throw new Untranslatable(`${path}.source`, 'A document needs its data.')
  }
  const bytes = { kind: 'data', mediaType: textIn(mediaType) ?? 'application/pdf', base64: data } as const
  const file: FilePart = { kind: 'file', source: bytes, name: textIn(title) }
  return [file]
}

function assistantParts(blocks: readonly Fields[]): OutputPart[] {
  const parts: OutputPart[] = []
  let ofNextCall: SealedData | undefined
  for (const block of blocks) {
    switch (block['type']) {
      case 'text':
        parts.push(textPart(block))
        break
      case 'thinking': {
        const signature = asText(block['signature'])
        const stamp = readStamp(signature)
        if (stamp?.belongsTo === 'call') ofNextCall = stamp.sealed
        else {
          const sealed: SealedData | undefined = stamp ? stamp.sealed : { origin: 'messages', data: signature }
          parts.push({ kind: 'reasoning', text: asText(block['thinking']), sealed })
        }
        break
      }
      case 'redacted_thinking': {
        const sealed: SealedData = { origin: 'messages', form: 'redacted', data: asText(block['data']) }
        parts.push({ kind: 'reasoning', text: '', sealed })
        break
      }
      case 'tool_use':
        parts.push({
          kind: 'tool_call',
          id: asText(block['id']),
          name: asText(block['name']),
          arguments: JSON.stringify(inputIn(block)),
          tool: 'function',
          sealed: ofNextCall,
        })
        ofNextCall = undefined
        break
      default:
        break // A block that a vendor's own tool made in an earlier turn. Its text stands beside it. See foreignBlocks.
    }
  }
  return parts
}

/** A search that runs at the vendor. Only the vendor can then find tools whose loading is deferred. */
const VENDOR_SEARCH = /^tool_search_tool/

/**
 * The tools that the model may call, each with its place. A deferred tool is available only after a result refers to
 * it. Claude Code loads its servers' tools that way, and keeps one tool that is never called in the list.
 */
function loadedTools({ tools, messages }: MessagesBody): (readonly [WireTool, number])[] {
  const all = (tools ?? []).map((tool, i) => [tool, i] as const)
  if (!all.some(([tool]) => tool['defer_loading'] === true)) return all
  if (all.some(([{ type }]) => VENDOR_SEARCH.test(type ?? ''))) return all
  const loaded = new Set(messages.flatMap(({ content }) => [...allBlocks(content)]).map((block) => block['tool_name']))
  return all.filter(([tool]) => tool['defer_loading'] !== true || loaded.has(tool.name))
}

type WireTool = NonNullable<MessagesBody['tools']>[number]

function toolOf(tool: WireTool, path: string): Tool {
  const type = tool.type ?? 'custom'
  if (type !== 'custom') throw new Untranslatable(`${path}.type`, `This model has no '${type}' tool.`)
  const strict = tool['strict']
  return {
    kind: 'function',
    name: tool.name ?? '',
    description: tool.description ?? undefined,
    parameters: tool.input_schema ?? undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
}

function toolChoiceOf({ type, name }: NonNullable<MessagesBody['tool_choice']>): ToolChoice {
  if (type === 'tool') return { kind: 'tool', name: name ?? '' }
  return { kind: type === 'any' ? 'required' : type }
}

function formatOf(format: Fields | null | undefined): OutputFormat | undefined {
  if (!format) return undefined
  const { type, schema } = format
  if (type !== 'json_schema' || typeof schema !== 'object' || schema === null) {
    throw new Untranslatable('output_config.format', 'output_config.format must be a json_schema with its schema.')
  }
  return { kind: 'json_schema', name: 'answer', schema: schema as Fields, strict: true }
}
