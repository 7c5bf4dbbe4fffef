/**
 * The turn that clients of each dialect send back after an answer. Clients of streams are strict: they reject an answer
 * that any real client could fail on.
 */
import type { ClientDialect } from '../../../src/domain/turn.ts'
import { parseExact } from '../../../src/lib/json/exact-json.ts'
import { SseDecoder } from '../../../src/lib/http/sse.ts'
import { fieldsOf, listOf, textOf, type Fields } from '../seen.ts'

export type HeardCall = {
  readonly id: string
  readonly name: string
  readonly args: string
  readonly kind: 'function' | 'custom'
}
export type ClientView = {
  /** What the client sends back of it, in its own dialect. */
  readonly turn: readonly Fields[]
  readonly text: string
  readonly thought: string
  readonly calls: readonly HeardCall[]
  readonly finish: string
}

class BrokenRule extends Error {}
const need = (holds: boolean, message: string): void => {
  if (!holds) throw new BrokenRule(message)
}

type Event = { readonly name: string | undefined; readonly data: string }

function eventsIn(text: string): Event[] {
  const decoder = new SseDecoder(1_000_000)
  return [...decoder.push(new TextEncoder().encode(text)), ...decoder.end()]
}
const parsed = ({ data }: Event): Fields => fieldsOf(parseExact(data))

/** Reads an answer. Throws where it is not whole and lawful. */
export function heard(dialect: ClientDialect, text: string, isStream: boolean): ClientView {
  if (!isStream) return wholes[dialect](fieldsOf(parseExact(text)))
  return wholes[dialect](joined[dialect](eventsIn(text)))
}

/** By dialect: a whole answer. */
const wholes: Readonly<Record<ClientDialect, (answer: Fields) => ClientView>> = {
  chat: ofChat,
  messages: ofMessages,
  responses: ofResponses,
  gemini: ofGemini,
}

function ofChat(answer: Fields): ClientView {
  const [choice = {}] = listOf(answer['choices'])
  const message = fieldsOf(choice['message'])
  need(answer['usage'] !== undefined, 'the answer has no usage')
  const calls = listOf(message['tool_calls']).map((call): HeardCall => {
    const { id, type } = call
    const body = fieldsOf(call[textOf(type)])
    const words = type === 'custom' ? body['input'] : body['arguments']
    need(type === 'custom' || type === 'function', `a call of type ${String(type)}`)
    need(typeof words === 'string' && typeof id === 'string', 'a call without words or id')
    const kind = type === 'custom' ? 'custom' : 'function'
    return { id: textOf(id), name: textOf(body['name']), args: textOf(words), kind }
  })
  need(calls.length > 0 || typeof message['content'] === 'string', 'neither text nor calls')
  const finish = textOf(choice['finish_reason'])
  need(finish === (calls.length > 0 ? 'tool_calls' : 'stop'), `the answer ended for ${finish}`)
  const thought = textOf(message['reasoning_content'])
  return { turn: [message], text: textOf(message['content']), thought, calls, finish }
}

function ofMessages(answer: Fields): ClientView {
  const content = listOf(answer['content'])
  const finish = textOf(answer['stop_reason'])
  const calls = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }): HeardCall => {
      need(typeof input === 'object' && input !== null && !Array.isArray(input), 'the input of a call is no object')
      return { id: textOf(id), name: textOf(name), args: JSON.stringify(input), kind: 'function' }
    })
  for (const { type, text, signature } of content) {
    need(type !== 'text' || textOf(text) !== '', 'an empty text')
    need(type !== 'thinking' || textOf(signature) !== '', 'a thought without a signature')
  }
  need(finish === (calls.length > 0 ? 'tool_use' : 'end_turn'), `the answer ended for ${finish}`)
  const words = (type: string, field: string): string =>
    content.map((block) => (block['type'] === type ? textOf(block[field]) : '')).join('')
  return {
    turn: [{ role: 'assistant', content }],
    text: words('text', 'text'),
    thought: words('thinking', 'thinking'),
    calls,
    finish,
  }
}

/** What clients of responses send back of an item: fields that the format has. */
const itemFields = new Set(
  'type id role content summary encrypted_content call_id name arguments input tollgate_sealed phase'.split(' '),
)

function ofResponses(answer: Fields): ClientView {
  const output = listOf(answer['output'])
  need(answer['status'] === 'completed', `the status is ${String(answer['status'])}`)
  const calls = output
    .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    .map((item): HeardCall => {
      const kind = item['type'] === 'function_call' ? 'function' : 'custom'
      const words = kind === 'function' ? item['arguments'] : item['input']
      need(typeof words === 'string' && textOf(item['call_id']) !== '', 'a call without words or id')
      return { id: textOf(item['call_id']), name: textOf(item['name']), args: textOf(words), kind }
    })
  const ids = output.map(({ id }) => textOf(id))
  need(new Set(ids).size === ids.length && !ids.includes(''), `ids of items: ${ids.join()}`)
  const textsOf = (value: unknown): string =>
    listOf(value)
      .map(({ text }) => textOf(text))
      .join('')
  return {
    turn: output.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => itemFields.has(name)))),
    text: output.map((item) => (item['type'] === 'message' ? textsOf(item['content']) : '')).join(''),
    thought: output.map((item) => textsOf(item['summary'])).join(''),
    calls,
    finish: 'completed',
  }
}

function ofGemini(answer: Fields): ClientView {
  const [candidate = {}] = listOf(answer['candidates'])
  const parts = listOf(fieldsOf(candidate['content'])['parts'])
  need(candidate['finishReason'] === 'STOP', `the answer ended for ${String(candidate['finishReason'])}`)
  const calls = parts.flatMap(({ functionCall }): HeardCall[] => {
    if (functionCall === undefined) return []
    const { id, name, args } = fieldsOf(functionCall)
    return [{ id: textOf(id), name: textOf(name), args: JSON.stringify(args ?? {}), kind: 'function' }]
  })
  const words = (isThought: boolean): string =>
    parts.map((part) => ((part['thought'] === true) === isThought ? textOf(part['text']) : '')).join('')
  return { turn: [{ role: 'model', parts }], text: words(false), thought: words(true), calls, finish: 'STOP' }
}

/** By dialect: the events of a stream put together to the whole answer. */
const joined: Readonly<Record<ClientDialect, (events: readonly Event[]) => Fields>> = {
  chat: joinedChat,
  messages: joinedMessages,
  responses: joinedResponses,
  gemini: joinedGemini,
}

type ChatCall = { id: unknown; type: unknown; words: string; name: string; rest: Fields }

function joinedChat(events: readonly Event[]): Fields {
  need(events.at(-1)?.data === '[DONE]', 'no [DONE] at the end')
  const said: Record<string, string> = {}
  const calls: ChatCall[] = []
  let details: unknown
  let finish: unknown = null
  let usage: unknown
  for (const event of events.slice(0, -1).map(parsed)) {
    usage = event['usage'] ?? usage
    const [choice] = listOf(event['choices'])
    if (!choice) continue
    need(finish === null, 'something behind the finish')
    const delta = fieldsOf(choice['delta'])
    for (const field of ['content', 'reasoning_content']) {
      if (typeof delta[field] === 'string') said[field] = (said[field] ?? '') + delta[field]
    }
    details = delta['reasoning_details'] ?? details
    for (const piece of listOf(delta['tool_calls'])) addChatCall(calls, piece)
    finish = choice['finish_reason'] ?? null
  }
  const toolCalls = calls.map(({ id, type, words, name, rest }) => ({
    id,
    type,
    [textOf(type)]: { name, [type === 'custom' ? 'input' : 'arguments']: words },
    ...rest,
  }))
  const message = {
    role: 'assistant',
    content: said['content'] || (calls.length > 0 ? null : ''),
    ...(said['reasoning_content'] ? { reasoning_content: said['reasoning_content'] } : {}),
    ...(details === undefined ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
  return { choices: [{ message, finish_reason: finish }], usage }
}

function addChatCall(calls: ChatCall[], piece: Fields): void {
  const { index, id, type, function: fn, custom, ...rest } = piece
  const at = Number(index)
  const body = fieldsOf(custom ?? fn)
  const known = calls[at]
  if (!known) {
    need(at === calls.length && textOf(id) !== '' && textOf(body['name']) !== '', 'a call that begins in its middle')
    const words = textOf(body['arguments'] ?? body['input'])
    calls.push({ id, type: type ?? 'function', words, name: textOf(body['name']), rest })
    return
  }
  need(at === calls.length - 1, 'pieces of two calls mixed')
  need(id === undefined || id === known.id, 'another id for a call')
  known.words += textOf(body['arguments'] ?? body['input'])
}

function joinedMessages(events: readonly Event[]): Fields {
  const blocks: Record<string, unknown>[] = []
  const json = new Map<number, string>()
  let open: number | undefined
  let end: Fields = {}
  const types = events.map(({ name }) => name)
  need(types[0] === 'message_start' && types.at(-1) === 'message_stop', `from ${types[0]} to ${types.at(-1)}`)
  for (const event of events) {
    const { type, index, content_block: begun, delta } = parsed(event)
    need(type === event.name, 'an event of another name')
    const at = Number(index)
    if (type === 'content_block_start') {
      need(open === undefined && at === blocks.length, 'a block in a block')
      open = at
      blocks.push({ ...fieldsOf(begun) })
    } else if (type === 'content_block_delta') {
      need(open === at, 'a piece of a block that is not open')
      addToBlock(blocks[at] ?? {}, fieldsOf(delta), (piece) => json.set(at, (json.get(at) ?? '') + piece))
    } else if (type === 'content_block_stop') {
      need(open === at, 'the end of a block that is not open')
      open = undefined
    } else if (type === 'message_delta') end = { ...end, ...fieldsOf(delta) }
  }
  need(open === undefined, 'a block without an end')
  for (const [at, text] of json) if (blocks[at]) blocks[at]['input'] = parseExact(text === '' ? '{}' : text)
  return { content: blocks, ...end }
}

function addToBlock(block: Record<string, unknown>, delta: Fields, addJson: (piece: string) => void): void {
  const { type, text, thinking, signature, partial_json: json } = delta
  if (type === 'text_delta') block['text'] = textOf(block['text']) + textOf(text)
  else if (type === 'thinking_delta') block['thinking'] = textOf(block['thinking']) + textOf(thinking)
  else if (type === 'signature_delta') block['signature'] = textOf(block['signature']) + textOf(signature)
  else if (type === 'input_json_delta') addJson(textOf(json))
  else need(false, `a delta of type ${String(type)}`)
}

function joinedResponses(events: readonly Event[]): Fields {
  const all = events.filter(({ data }) => data !== '[DONE]').map(parsed)
  need(all[0]?.['type'] === 'response.created', 'no response.created')
  need(all.at(-1)?.['type'] === 'response.completed', `it ends with ${String(all.at(-1)?.['type'])}`)
  const done: Fields[] = []
  const words = new Map<string, string>()
  for (const [i, event] of all.entries()) {
    need(event['sequence_number'] === i, 'events out of sequence')
    const { type, item_id: id, delta, item, output_index: at } = event
    if (typeof delta === 'string') words.set(textOf(id), (words.get(textOf(id)) ?? '') + delta)
    if (type === 'response.output_item.done') done[Number(at)] = fieldsOf(item)
  }
  const response = fieldsOf(all.at(-1)?.['response'])
  need(JSON.stringify(done) === JSON.stringify(response['output']), 'the items are not those of the whole response')
  for (const item of done) {
    const said = textOf(item['arguments'] ?? item['input'] ?? listOf(item['content'])[0]?.['text'])
    const isWhole = item['type'] === 'reasoning' || words.get(textOf(item['id'])) === said
    need(isWhole || said === '', `the pieces of ${textOf(item['type'])} are not its whole`)
  }
  return response
}

/** As Google's SDKs do: texts of a kind that stand side by side are one, unless one of them is signed. */
function joinedGemini(events: readonly Event[]): Fields {
  const parts: Fields[] = []
  let finishReason: unknown
  for (const event of events.map(parsed)) {
    const [candidate = {}] = listOf(event['candidates'])
    need(finishReason === undefined || event['candidates'] === undefined, 'something behind the finish')
    for (const part of listOf(fieldsOf(candidate['content'])['parts'])) addPart(parts, part)
    finishReason = candidate['finishReason'] ?? finishReason
  }
  return { candidates: [{ content: { role: 'model', parts }, finishReason }] }
}

function addPart(parts: Fields[], part: Fields): void {
  const last = parts.at(-1)
  const isText = (one: Fields | undefined): boolean => typeof one?.['text'] === 'string' && !one['thoughtSignature']
  if (part['text'] === '' && part['thoughtSignature'] === undefined) return
  if (isText(last) && isText(part) && last?.['thought'] === part['thought']) {
    parts[parts.length - 1] = { ...last, text: textOf(last?.['text']) + textOf(part['text']) }
  } else parts.push(part)
}
