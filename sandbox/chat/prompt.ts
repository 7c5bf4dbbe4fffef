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

/** The facts of a request from which all its choices are made. They are found once for up to 128 choices. */
export type Prompt = {
  request: SandboxChatRequest
  /** The part of the last user message that is searched for phrases. */
  opening: string
  attachments: readonly Attachment[]
  hints: Hints
  /** The scene of this turn in a written scenario. */
  scene: ChatScene | undefined
  /** The tools to call if there is no scene. */
  tools: readonly ChatTool[]
  /** The values for each tool's arguments, if the message names several tools. */
  valuesOfTools: ReadonlyMap<string, NamedValues>
  results: readonly ToolResult[]
  wish: Wish | undefined
  order: Order | undefined
  /** The text that the message orders word for word. */
  ordered: string | undefined
  /** The bare value that the message asks for. */
  value: string | undefined
  recalled: string | undefined
  /** The text that the system prompt orders for every message. */
  standing: string | undefined
  /** The answer to a request for any JSON object. */
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

/** The object in the message, or an object about the message. */
const echoOf = (text: string, opening: string): string =>
  JSON.stringify(
    objectIn(opening) ?? { reply: text, about: tellingWords(opening).slice(0, 5), tokens: countTokens(text) },
  )

/** `add with a=1 and mul with a=2`: values after a tool's name belong to that tool. */
function valuesOf(tools: readonly ChatTool[], text: string): Map<string, NamedValues> {
  const names = [...new Set(tools.map(toolNameOf))]
  const places = names.map((name) => ({ name, at: text.indexOf(name) })).filter(({ at }) => at !== -1)
  places.sort((a, b) => a.at - b.at)
  if (places.length < 2) return new Map()
  return new Map(places.map(({ name, at }, i) => [name, namedValuesIn(text.slice(at, places[i + 1]?.at))]))
}
