/** The fixtures of the golden matrix: one full set for each dialect, with a neutral way to read them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientDialect, Dialect, OutputPart, Reply, Turn } from '../../src/domain/turn.ts'
import { readChatClient } from '../../src/formats/chat/client.ts'
import { readChatRequest } from './read-chat.ts'
import { chatTurn } from '../../src/formats/chat/turn.ts'
import type { ClientRequest, Destination, PastTurn, WriterQuirks } from '../../src/formats/core/contract.ts'
import { readGeminiRequest } from '../../src/formats/gemini/request.ts'
import { readGeminiClient } from '../../src/formats/gemini/endpoint.ts'
import { geminiTurn } from '../../src/formats/gemini/turn.ts'
import { readMessagesClient } from '../../src/formats/messages/client.ts'
import { readMessagesRequest } from '../../src/formats/messages/request.ts'
import { messagesTurn } from '../../src/formats/messages/turn.ts'
import { readResponsesClient } from '../../src/formats/responses/client.ts'
import type { TurnRead } from '../../src/formats/core/translated.ts'
import { SseDecoder, type SseEvent } from '../../src/lib/http/sse.ts'
import { upstreamSideOf } from '../../src/formats/upstream-sides.ts'

export const GOLDEN = join(import.meta.dir, '../fixtures/golden')

/** A reply and its stream, in each dialect. */
export const answers = ['tools', 'structured', 'refusal', 'length'] as const
export type AnswerName = (typeof answers)[number]

export const sourceText = (dialect: ClientDialect, file: string): string =>
  readFileSync(join(GOLDEN, 'source', dialect, file), 'utf8')

export const quirks: WriterQuirks = {
  outputMaxField: 'max_completion_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}

const upstreamModels: Readonly<Record<Dialect, string>> = {
  chat: 'gpt-5.5',
  responses: 'gpt-5.5',
  messages: 'claude-opus-5',
  gemini: 'gemini-3-pro-preview',
  converse: 'us.amazon.nova-pro-v1:0',
}

export const destination = (dialect: Dialect, outputTokensMax = 300): Destination => ({
  upstreamModel: upstreamModels[dialect],
  outputTokensMax,
  quirks,
})

const bytesOf = (text: string): number => Buffer.byteLength(text)
const geminiAsked = (text: string, stream: boolean) => {
  const path = `/v1beta/models/public:${stream ? 'streamGenerateContent' : 'generateContent'}`
  return { text, bytes: bytesOf(text), path, query: 'alt=sse' }
}

/** A client's request as the edge reads it. */
export const readClient = (dialect: ClientDialect, text: string, mode: 'whole' | 'stream'): Promise<ClientRequest> =>
  readSent(dialect, mode === 'whole' || dialect === 'gemini' ? text : withStream(dialect, text), { mode })

type How = { readonly mode: 'whole' | 'stream'; readonly earlier?: readonly PastTurn[] }

/** The same of a body that says itself whether it wants a stream, but for Gemini's, whose path does. */
export async function readSent(
  dialect: ClientDialect,
  body: string,
  { mode, earlier = [] }: How,
): Promise<ClientRequest> {
  const read = await (() => {
    switch (dialect) {
      case 'chat':
        return readChatClient(body, bytesOf(body))
      case 'responses':
        return readResponsesClient(body, bytesOf(body))
      case 'messages':
        return readMessagesClient(body, bytesOf(body), undefined)
      case 'gemini':
        return readGeminiClient(geminiAsked(body, mode === 'stream'))
    }
  })()
  if (read.kind === 'rejected') throw new Error(`${dialect}: ${JSON.stringify(read.failure)}`)
  const untold = read.request.conversation?.recall(earlier, [])
  if (untold) throw new Error(`${dialect}: ${JSON.stringify(untold)}`)
  return read.request
}

function withStream(dialect: ClientDialect, text: string): string {
  const options = dialect === 'chat' ? { stream_options: { include_usage: true } } : {}
  return JSON.stringify({ ...(JSON.parse(text) as object), stream: true, ...options })
}

/** A request as a turn, also one that we have written for an upstream. */
export function turnOf(dialect: ClientDialect, text: string): Turn {
  const read = turnReadOf(dialect, text)
  if (read.kind === 'rejected') throw new Error(`${dialect}: ${JSON.stringify(read.failure)}`)
  return read.turn
}

function turnReadOf(dialect: ClientDialect, text: string): TurnRead {
  const bytes = bytesOf(text)
  switch (dialect) {
    case 'chat': {
      const read = readChatRequest(text, bytes)
      return read.kind === 'rejected' ? read : chatTurn(read.request.body)
    }
    case 'responses': {
      const read = readResponsesClient(text, bytes)
      if (read instanceof Promise) throw new Error('it is too large')
      if (read.kind === 'rejected') return read
      const failure = read.request.conversation.recall([], [])
      const { turn } = read.request.conversation
      return turn ? { kind: 'turn', turn } : { kind: 'rejected', failure: failure ?? { kind: 'internal', message: '' } }
    }
    case 'messages': {
      const read = readMessagesRequest(text, bytes, 'answer')
      return read.kind === 'rejected' ? read : messagesTurn(read.request.body)
    }
    case 'gemini': {
      const read = readGeminiRequest({ text, bytes, model: 'public', stream: false })
      return read.kind === 'rejected' ? read : geminiTurn(read.request.body)
    }
  }
}

/** What a turn says, a line for each thing: translations are compared by the lines that went and came. */
export function linesOfTurn(turn: Turn): string[] {
  const { messages, tools, foreign: _, choices: __, ...wishes } = turn
  const said = messages.flatMap(({ parts, ...head }) => {
    const { role, ...rest } = head
    return parts.map((part) => `${role} ${JSON.stringify({ ...rest, ...part })}`)
  })
  const wished = Object.entries(wishes).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${JSON.stringify(value)}`],
  )
  return [...said, ...tools.map((tool) => `tool ${JSON.stringify(tool)}`), ...wished]
}

/** The same of an answer. */
export function linesOfReply({ choices, usage }: Reply): string[] {
  const parts = choices.flatMap(({ parts: made, finish }) => [
    ...made.map((part) => JSON.stringify(part)),
    `finish ${finish}`,
  ])
  return [...parts, `usage ${JSON.stringify(usage)}`]
}

/** An upstream's reply as it is understood. */
export function replyOf(dialect: Dialect, text: string, turn: Turn): Reply {
  const read = upstreamSideOf([dialect]).readReply(text, quirks, turn)
  if (read.kind === 'failed') throw new Error(`${dialect}: ${JSON.stringify(read.failure)}`)
  return read.reply
}

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

export function eventsOf(chunks: readonly Uint8Array[]): SseEvent[] {
  const sse = new SseDecoder(1_000_000)
  return [...chunks.flatMap((chunk) => sse.push(chunk)), ...sse.end()]
}

/** A stream of one choice, put together to the reply that it tells. */
export function replyOfStream(dialect: Dialect, events: readonly SseEvent[], turn: Turn): Reply {
  const decoder = upstreamSideOf([dialect]).decoder(quirks, turn)
  const parts: OutputPart[] = []
  const calls = new Map<number, number>()
  let finish: Reply['choices'][number]['finish'] = 'stop'
  for (const event of events) {
    const decoded = decoder.decode(event)
    if (decoded.kind === 'failed') throw new Error(`${dialect}: ${JSON.stringify(decoded.failure)}`)
    if (decoded.kind === 'done') break
    for (const delta of decoded.deltas) {
      const last = parts.at(-1)
      if (delta.kind === 'finish') finish = delta.reason
      else if (delta.kind === 'call') {
        const { id, name, tool, sealed } = delta
        calls.set(delta.call, parts.length)
        parts.push({ kind: 'tool_call', id, name, arguments: '', tool, sealed })
      } else if (delta.kind === 'arguments') {
        const at = calls.get(delta.call) ?? -1
        const call = parts[at]
        if (call?.kind === 'tool_call') parts[at] = { ...call, arguments: call.arguments + delta.text }
      } else if (delta.kind === 'own') {
        continue
      } else if (delta.kind === 'sealed') {
        if (last?.kind === 'reasoning' && !last.sealed) parts[parts.length - 1] = { ...last, sealed: delta.sealed }
        else parts.push({ kind: 'reasoning', text: '', sealed: delta.sealed })
      } else if (last?.kind === delta.kind && !('sealed' in last && last.sealed)) {
        parts[parts.length - 1] = { ...last, text: last.text + delta.text }
      } else parts.push({ kind: delta.kind, text: delta.text })
    }
  }
  return { choices: [{ parts, finish }], usage: decoder.usage }
}
