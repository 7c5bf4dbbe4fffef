import { textOf } from './conversation.ts'
import { toolNameOf, type PlannedCall } from './tools.ts'
import type { SandboxChatRequest } from './request.ts'

/** One turn of the model: its calls or its text. */
export type ChatScene = { kind: 'calls'; calls: readonly PlannedCall[] } | { kind: 'words'; text: string }

const SCRIPT = /\bplay this scenario:\s*\n([^]+)/i
const VERB = /^\s*(?:call|say)\s/i

/**
 * A written scenario for agents that work with tools. The user's message has one line for each turn of the model:
 * `Play this scenario:` / `call Write {"path": "a.txt"}` / `say Done.` After the end, the last line is repeated.
 */
export function sceneOf({ messages, tools: offered }: SandboxChatRequest): ChatScene | undefined {
  const tools = offered ?? []
  const at = messages.findLastIndex((message) => message.role === 'user' && SCRIPT.test(textOf(message)))
  const message = messages[at]
  if (message?.role !== 'user') return undefined
  const lines = (SCRIPT.exec(textOf(message))?.[1] ?? '').split('\n').filter((line) => VERB.test(line))
  const played = messages.slice(at).filter((one) => one.role === 'assistant' && one.tool_calls?.length).length
  const [verb, rest] = wordAndRest(lines[Math.min(played, lines.length - 1)] ?? '')
  if (verb.toLowerCase() !== 'call') return { kind: 'words', text: rest === '' ? 'The scenario is over.' : rest }
  const [name, input] = wordAndRest(rest)
  if (input === '') return { kind: 'words', text: 'The scenario is over.' }
  const tool = tools.find((one) => toolNameOf(one) === name)
  // An agent's side requests (a title, a summary) offer no tools, so they get a text.
  if (!tool) return tools.length === 0 ? undefined : { kind: 'words', text: `There is no tool ${name}.` }
  return { kind: 'calls', calls: [{ type: tool.type, name, input }] }
}

/** The first word of a line, and the rest. */
function wordAndRest(line: string): readonly [string, string] {
  const text = line.trimStart()
  const end = text.search(/\s/)
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()]
}
