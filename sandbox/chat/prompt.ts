import { hintsFrom, type Hints } from '../example/hints.ts'
import { objectIn, namedValuesIn, type NamedValues } from '../example/named-values.ts'
import { countTokens } from '../tokens.ts'
import { tellingWords } from '../words.ts'
import {
  attachmentsOf,
  lastUserMessage,
  openingOf,
  openToolResults,
  textOf,
  type Attachment,
  type ToolResult,
} from './conversation.ts'
import { orderOf, standingOrder, wantsJson, type Order } from './orders.ts'
import { recalled, valueBefore } from './recall.ts'
import type { SandboxChatRequest, ChatTool } from './request.ts'
import { sceneOf, type ChatScene } from './scenario.ts'
import { orderIn, type Wish } from './steer.ts'
import { chooseTools, toolNameOf } from './tools.ts'

/** What all choices of an answer are made from: found out once, for up to 128 of them. */
export type Prompt = {
  request: SandboxChatRequest
  /** As much of the last user message as is searched for phrases. */
  opening: string
  attachments: readonly Attachment[]
  hints: Hints
  /** Of a written scenario, what it says for this turn. */
  scene: ChatScene | undefined
  /** What is called unless the scene has something else. */
  tools: readonly ChatTool[]
  /** What is told of each tool's arguments, where several are named. */
  valuesOfTools: ReadonlyMap<string, NamedValues>
  results: readonly ToolResult[]
  wish: Wish | undefined
  order: Order | undefined
  /** What the message wants said, word for word. */
  ordered: string | undefined
  /** The bare value that it asks for. */
  value: string | undefined
  recalled: string | undefined
  /** What the system prompt wants said to everything. */
  standing: string | undefined
  /** The answer to who wants any object. */
  echo: string | undefined
}

export function readPrompt(request: SandboxChatRequest): Prompt {
  const { messages, response_format: format } = request
  const message = lastUserMessage(messages)
  const text = message ? textOf(message) : ''
  const opening = openingOf(text)
  const scene = sceneOf(request)
  const order = orderOf(text)
  const tools = scene ? [] : chooseTools(request, opening, order)
  return {
    request,
    opening,
    attachments: attachmentsOf(message),
    hints: hintsFrom(text, 0),
    scene,
    tools,
    valuesOfTools: valuesOf(tools, opening),
    results: openToolResults(messages),
    wish: orderIn(text),
    order,
    ordered: order?.kind === 'literal' ? order.text : undefined,
    value: order?.kind === 'value' ? valueBefore(messages, order.what) : undefined,
    recalled: recalled(messages, order),
    standing: standingOrder(messages, textOf),
    echo: format?.type === 'json_object' || wantsJson(messages, textOf) ? echoOf(text, opening) : undefined,
  }
}

/** The object that the message shows, or one about it. */
const echoOf = (text: string, opening: string): string =>
  JSON.stringify(
    objectIn(opening) ?? { reply: text, about: tellingWords(opening).slice(0, 5), tokens: countTokens(text) },
  )

/** `add with a=1 and mul with a=2`: what stands behind a tool's name is told of it. */
function valuesOf(tools: readonly ChatTool[], text: string): Map<string, NamedValues> {
  const names = [...new Set(tools.map(toolNameOf))]
  const places = names.map((name) => ({ name, at: text.indexOf(name) })).filter(({ at }) => at !== -1)
  places.sort((a, b) => a.at - b.at)
  if (places.length < 2) return new Map()
  return new Map(places.map(({ name, at }, i) => [name, namedValuesIn(text.slice(at, places[i + 1]?.at))]))
}
