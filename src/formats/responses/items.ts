/**
 * Items of a conversation. Whatever form a client sends is brought into one, so that stored items are always complete.
 */
import { argumentsIn } from '../core/call-arguments.ts'
import type { Failure, FailureKind } from '../../domain/failure.ts'
import { asFields, asList, asText, fieldsIn, ownIn, textIn, wordFor, type Fields } from '../core/fields.ts'
import { isMediaData } from '../core/media-data.ts'
import { addressOf } from './item-media.ts'

export type Item = Fields & { readonly type: string; readonly id: string }

/** A part of a request that cannot be accepted. */
export class BadInput extends Error {
  readonly failure: Failure

  constructor(kind: FailureKind, param: string, message: string) {
    super(message)
    this.failure = { kind, message, param }
  }
}

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  reasoning: 'rs_',
  compaction: 'cmp_',
  tool_search_call: 'tsc_',
  tool_search_output: 'tso_',
  local_shell_call: 'lsh_',
  shell_call: 'sh_',
  apply_patch_call: 'apc_',
  additional_tools: 'at_',
}

/** The part of a response's id that the ids of its items share. */
export const tailOf = (responseId: string): string => responseId.replace(/^resp_/, '')

/** The id of an item names its turn, so a reference is resolved without an index of its own. */
export const outputItemId = (responseId: string, type: string, index: number): string =>
  `${ownIn(prefixes, type) ?? 'item_'}${tailOf(responseId)}_${index}`

const inputItemId = (responseId: string, type: string, index: number): string =>
  `${ownIn(prefixes, type) ?? 'item_'}${tailOf(responseId)}_i${index}`

/** The shorter ids are of the first versions. */
const ITEM_ID = /^[a-z]+_((?:[0-9a-z]{10})?[0-9a-z]{26})_i?\d{1,6}$/

/** The response that an item belongs to. Undefined for an id that is not the gateway's. */
export function responseOfItem(itemId: string): string | undefined {
  const tail = ITEM_ID.exec(itemId)?.[1]
  return tail === undefined ? undefined : `resp_${tail}`
}

/** Brings a request's input into one form. It may come as text, items, bare content objects or a mix. */
export function readInput(input: unknown): Fields[] {
  if (typeof input === 'string') return [messageItem('user', [{ type: 'input_text', text: input }], {})]
  const items: Fields[] = []
  let bare: Fields[] | undefined
  for (const [i, value] of asList(input).entries()) {
    const path = `input[${i}]`
    if (typeof value === 'string') {
      throw new BadInput('invalid_type', path, `Invalid '${path}': expected an item or a content object, not a text.`)
    }
    const fields = objectAt(value, path)
    if (isContent(fields)) {
      // Adjacent content objects are one message.
      const part = inputPart(fields, path)
      if (bare) bare.push(part)
      else items.push(messageItem('user', (bare = [part]), {}))
    } else {
      bare = undefined
      items.push(readItem(fields, path))
    }
  }
  return items
}

function objectAt(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new BadInput('invalid_type', path, `Invalid '${path}': expected an object.`)
}

/** Items with the ids that a turn gives them. Ids of the client stay. */
export const withIds = (items: readonly Fields[], responseId: string): Item[] =>
  items.map((item, i) => {
    const { id, type, ...rest } = item
    const kind = asText(type)
    return { id: textIn(id) ?? inputItemId(responseId, kind, i), type: kind, ...rest }
  })

const contentTypes = new Set(['input_text', 'text', 'input_image', 'input_file', 'input_audio'])
const isContent = ({ type, role }: Fields): boolean => role === undefined && contentTypes.has(asText(type))

const messageItem = (role: string, content: readonly Fields[], rest: Fields): Fields => ({
  type: 'message',
  ...rest,
  status: 'completed',
  role,
  content,
})

function readItem(item: Fields, path: string): Fields {
  const { type = 'message' } = item
  switch (type) {
    case 'message':
      return readMessage(item, path)
    case 'function_call':
      return { status: 'completed', ...withArguments(item, path) }
    case 'custom_tool_call':
      need(item, path, ['call_id', 'name', 'input'])
      return { status: 'completed', ...item }
    case 'function_call_output':
    case 'custom_tool_call_output':
      need(item, path, ['call_id'])
      return { status: 'completed', ...item, output: readOutput(item['output'], `${path}.output`) }
    case 'reasoning':
      return { ...item, summary: asList(item['summary']) }
    case 'local_shell_call':
    case 'shell_call':
    case 'apply_patch_call':
      need(item, path, ['call_id'])
      return { status: 'completed', ...item }
    case 'item_reference':
      need(item, path, ['id'])
      return item
    default:
      // An item that is unknown here may mean something to an upstream, or can be left out.
      if (typeof type === 'string') return item
      throw new BadInput('invalid_type', `${path}.type`, `Invalid '${path}.type': expected a string.`)
  }
}

/**
 * A call with valid arguments. Some servers give clients calls without arguments, or with an object in place of JSON
 * text.
 */
function withArguments(item: Fields, path: string): Fields {
  const isLawful = item['arguments'] === undefined || item['arguments'] === null || fieldsIn(item['arguments'])
  const whole = isLawful ? { ...item, arguments: argumentsIn(item) } : item
  need(whole, path, ['call_id', 'name', 'arguments'])
  return whole
}

function need(item: Fields, path: string, names: readonly string[]): void {
  for (const name of names) {
    const value = item[name] ?? undefined
    if (typeof value === 'string') continue
    const param = `${path}.${name}`
    if (value === undefined) throw new BadInput('missing_parameter', param, `Missing required parameter: '${param}'.`)
    throw new BadInput('invalid_type', param, `Invalid '${param}': expected a string.`)
  }
}

const roles = new Set(['user', 'assistant', 'system', 'developer'])

function readMessage(item: Fields, path: string): Fields {
  need(item, path, ['role'])
  const { role, content, ...rest } = item
  if (!roles.has(asText(role))) {
    const message = `Invalid '${path}.role': must be one of 'user', 'assistant', 'system', 'developer'.`
    throw new BadInput('invalid_value', `${path}.role`, message)
  }
  const parts = readContent(content, `${path}.content`, role === 'assistant' ? 'output' : 'input')
  return messageItem(asText(role), parts, rest)
}

/** Reads the parts of an item. Unknown parts in output and results stay, since only users can correct theirs. */
function readContent(content: unknown, path: string, side: 'input' | 'output' | 'result'): Fields[] {
  if (content === undefined || content === null) {
    throw new BadInput('missing_parameter', path, `Missing required parameter: '${path}'.`)
  }
  const read = side === 'input' ? inputPart : side === 'result' ? resultPart : outputPart
  if (typeof content === 'string') return [read({ type: 'text', text: content }, path)]
  if (!Array.isArray(content)) {
    throw new BadInput('invalid_type', path, `Invalid '${path}': expected a text or a list of content objects.`)
  }
  return content.map((part: unknown, i) => read(objectAt(part, `${path}[${i}]`), `${path}[${i}]`))
}

function readOutput(output: unknown, path: string): string | Fields[] {
  return typeof output === 'string' ? output : readContent(output, path, 'result')
}

function outputPart(part: Fields, path: string): Fields {
  switch (part['type']) {
    case 'output_text':
    case 'text':
    case 'input_text':
      need(part, path, ['text'])
      return { annotations: [], logprobs: [], ...part, type: 'output_text' }
    case 'refusal':
      need(part, path, ['refusal'])
      return part
    default:
      if (typeof part['type'] === 'string') return part
      throw unknownPart(part, path)
  }
}

const resultPart = (part: Fields, path: string): Fields =>
  contentTypes.has(asText(part['type'])) || part['type'] === 'output_text' || typeof part['type'] !== 'string'
    ? inputPart(part, path)
    : part

function unknownPart({ type }: Fields, path: string): BadInput {
  const message = `Content of type '${wordFor(type)}' is not supported here.`
  const kind = type === undefined ? 'missing_parameter' : typeof type === 'string' ? 'invalid_value' : 'invalid_type'
  return new BadInput(kind, `${path}.type`, message)
}

function inputPart(part: Fields, path: string): Fields {
  switch (part['type']) {
    case 'input_text':
    case 'text':
    case 'output_text':
      need(part, path, ['text'])
      return { ...part, type: 'input_text' }
    case 'input_image': {
      refuseFileId(part, path)
      const plain = { ...part, image_url: addressOf(part) }
      need(plain, path, ['image_url'])
      return { detail: 'auto', ...plain }
    }
    case 'input_file':
      refuseFileId(part, path)
      if (typeof part['file_url'] === 'string') {
        const message = `'file_url' is not supported: the cost of a file must be known before it is sent. Send file_data.`
        throw new BadInput('unsupported_parameter', `${path}.file_url`, message)
      }
      need(part, path, ['file_data'])
      needData(part['file_data'], `${path}.file_data`)
      return part
    case 'input_audio':
      need(asFields(part['input_audio']), `${path}.input_audio`, ['data'])
      needData(asFields(part['input_audio'])['data'], `${path}.input_audio.data`)
      return part
    default:
      throw unknownPart(part, path)
  }
}

function needData(value: unknown, path: string): void {
  if (typeof value === 'string' && isMediaData(value)) return
  throw new BadInput('invalid_value', path, `Invalid '${path}': must be base64 or a data: URL.`)
}

function refuseFileId(part: Fields, path: string): void {
  if ((part['file_id'] ?? null) === null) return
  const message = `'file_id' is not supported: this gateway keeps no files. Send the data or an address.`
  throw new BadInput('unsupported_parameter', `${path}.file_id`, message)
}
