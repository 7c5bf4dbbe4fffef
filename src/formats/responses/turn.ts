/** A conversation in the responses format as a neutral turn. */
import type { InputPart, Message, OutputFormat, OutputPart, SealedData, Turn } from '../../domain/turn.ts'
import { asFields, asList, asText, fieldsIn, textIn, type Fields } from '../core/fields.ts'
import { isAgentCall, readAgentCall } from './agent-tools.ts'
import { effortIn } from '../core/effort.ts'
import type { ResponsesBody } from './request.ts'
import { sealedFrom, sealOfCall } from './sealed.ts'
import type { CallShape, CallNames } from './call-names.ts'
import { choiceOf, toolBook } from './tools.ts'
import { otherMessage } from './turn-parts.ts'
import { isBrokenCall } from './item-kinds.ts'

/** Fields that a turn carries, and fields that the gateway handles itself. Any other field is unsupported. */
const known = new Set(
  `model input instructions previous_response_id store background stream stream_options include tools tool_choice parallel_tool_calls max_output_tokens text reasoning truncation temperature top_p presence_penalty frequency_penalty metadata user safety_identifier service_tier prompt_cache_key top_logprobs`.split(
    ' ',
  ),
)
/** Values of `include` that are honoured, or that name something that is never left out. */
const included = new Set(['reasoning.encrypted_content', 'message.input_image.image_url'])

export type ResponsesTurn = {
  readonly turn: Turn
  readonly names: CallNames
  /** Whether the client wants a compaction instead of an answer. */
  readonly compacts: boolean
}

/** Throws BadInput if no upstream can be sent a part of the request. */
export function responsesTurn(body: ResponsesBody, items: readonly Fields[]): ResponsesTurn {
  const { instructions } = body
  const book = toolBook(body.tools, items)
  const settings = settingsOf(body, items)
  const read = messagesOf(items, book.names)
  const compacts = items.at(-1)?.['type'] === 'compaction_trigger'
  const turn: Turn = {
    messages: [
      ...(instructions ? [{ role: 'system', parts: [{ kind: 'text', text: instructions }] } as const] : []),
      ...read.messages,
    ],
    tools: book.tools,
    // The tools stay in the request. Vendors demand those that a conversation has called, and their caches need all of
    // them.
    toolChoice: compacts && book.tools.length > 0 ? { kind: 'none' } : choiceOf(body.tool_choice, book),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: formatOf(settings.format),
    effort: effortIn(settings.effort),
    showReasoning: (body.reasoning?.summary ?? null) !== null,
    verbosity: body.text?.verbosity ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    choices: 1,
    cacheKey: body.prompt_cache_key ?? undefined,
    user: body.safety_identifier ?? body.user ?? undefined,
    foreign: [...foreignOf(body), ...book.left, ...read.left],
  }
  return { turn, names: book.names, compacts }
}

type Settings = { readonly effort: unknown; readonly format: TextFormat }
type TextFormat = NonNullable<ResponsesBody['text']>['format']

/**
 * The settings of the answer. An item of the conversation can change those of the request (OpenAI's SDK 7, 2026-11).
 */
function settingsOf(body: ResponsesBody, items: readonly Fields[]): Settings {
  const updates = items.filter(({ type }) => type === 'configuration_update').toReversed()
  const effort = updates.map(({ reasoning }) => textIn(asFields(reasoning)['effort'])).find((one) => one !== undefined)
  const format = updates.map(({ text }) => fieldsIn(asFields(text)['format'])).find((one) => one !== undefined)
  return { effort: effort ?? body.reasoning?.effort, format: format ? readFormat(format) : body.text?.format }
}

function readFormat({ type, name, schema, strict }: Fields): TextFormat {
  if (type !== 'json_schema' && type !== 'json_object') return { type: 'text' }
  const named = { name: textIn(name) ?? 'answer', schema: fieldsIn(schema) ?? {} }
  return { type, ...named, strict: typeof strict === 'boolean' ? strict : undefined }
}

/** Items that are not part of the dialogue. They are read for their settings. */
const settled = new Set<unknown>(['additional_tools', 'configuration_update'])

function foreignOf(body: ResponsesBody): string[] {
  const foreign = Object.keys(body).filter((name) => !known.has(name) && (body[name] ?? null) !== null)
  // The gateway never truncates. The upstream refuses what does not fit.
  if (body.truncation === 'auto') foreign.push('truncation')
  if (body.top_logprobs) foreign.push('top_logprobs')
  if (body.reasoning?.effort && !effortIn(body.reasoning.effort)) foreign.push('reasoning.effort')
  if (body.include?.some((name) => !included.has(name))) foreign.push('include')
  return foreign
}

type ReadItems = { readonly messages: Message[]; readonly left: string[] }

/** Adjacent output of the assistant is one message: vendors want a call and its result together. */
function messagesOf(items: readonly Fields[], names: CallNames): ReadItems {
  const messages: Message[] = []
  const left = new Set<string>()
  const results = new Map<string, InputPart[]>()
  const callIds = callIdsOf(items)
  let said: OutputPart[] | undefined
  let ofNextCall: SealedData | undefined
  for (const item of items) {
    if (isBrokenCall(item) || settled.has(item['type'])) continue
    const parts = withSeal(assistantParts(item, names), ofNextCall)
    ofNextCall = sealOfCall(item)
    if (parts) {
      // Some vendors use an id again in every turn. A later result belongs to the new call.
      for (const part of parts) if (part.kind === 'tool_call') results.delete(part.id)
      if (said) said.push(...parts)
      else messages.push({ role: 'assistant', parts: (said = [...parts]) })
      continue
    }
    const message = otherMessage(item, { names, callIds })
    if (message === undefined) {
      left.add(`input.${textIn(item['type']) ?? 'unknown'}`)
      continue
    }
    // A client may add to a result, as Codex does while a script runs. Vendors take one result for each call.
    const earlier = message.role === 'tool' ? results.get(message.callId) : undefined
    if (earlier && message.role === 'tool') {
      earlier.push(...message.parts)
      continue
    }
    said = undefined
    messages.push(message)
    if (message.role === 'tool') results.set(message.callId, message.parts as InputPart[])
  }
  return { messages, left: [...left] }
}

/** A call with the seal that came in the item before it. */
const withSeal = (parts: OutputPart[] | undefined, sealed: SealedData | undefined): OutputPart[] | undefined =>
  sealed ? parts?.map((part) => (part.kind === 'tool_call' ? { ...part, sealed } : part)) : parts

/** The ids of calls, by the ids of their items. A local shell's output names the item. */
const callIdsOf = (items: readonly Fields[]): ReadonlyMap<unknown, string> =>
  new Map(items.filter(({ type }) => isAgentCall(type)).map((item) => [item['id'], asText(item['call_id'])]))

/** Undefined for an item that is not the assistant's. */
function assistantParts(item: Fields, names: CallNames): OutputPart[] | undefined {
  if (isAgentCall(item['type'])) return agentCall(item, names)
  switch (item['type']) {
    case 'message':
      return item['role'] === 'assistant'
        ? asList(item['content']).flatMap((part) => saidPart(asFields(part)))
        : undefined
    case 'function_call':
    case 'custom_tool_call': {
      const isCustom = item['type'] === 'custom_tool_call'
      const seal = textIn(item['tollgate_sealed'])
      return [
        {
          kind: 'tool_call',
          id: asText(item['call_id']),
          name: names.claim(shapeOfItem(item)),
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
      if (sealOfCall(item)) return text === '' ? [] : [{ kind: 'reasoning', text }]
      return [{ kind: 'reasoning', text, sealed: seal === undefined ? undefined : sealedFrom(seal) }]
    }
    default:
      return undefined
  }
}

/** The name of the tool in a call's item. */
export function shapeOfItem(item: Fields): CallShape {
  const agent = readAgentCall(item)?.shape
  if (agent) return agent
  const type = item['type'] === 'custom_tool_call' ? 'custom_tool_call' : 'function_call'
  const { name, namespace } = item
  return { type, name: asText(name), ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}) }
}

/** A search that ran at the vendor has no call id. Only the vendor knows its result. */
function agentCall(item: Fields, names: CallNames): OutputPart[] | undefined {
  const call = readAgentCall(item)
  const id = asText(item['call_id'])
  if (!call || id === '') return undefined
  return [{ kind: 'tool_call', id, name: names.claim(call.shape), arguments: call.words, tool: 'function' }]
}

function saidPart({ type, text, refusal }: Fields): OutputPart[] {
  if (type === 'refusal') return [{ kind: 'refusal', text: asText(refusal) }]
  return type === 'output_text' ? [{ kind: 'text', text: asText(text) }] : []
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
