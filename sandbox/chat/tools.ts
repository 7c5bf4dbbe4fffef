import type { Budget } from '../budget.ts'
import { exampleJson } from '../example/example.ts'
import type { Hints } from '../example/hints.ts'
import { tellingWords } from '../words.ts'
import { expressionIn } from './arithmetic.ts'
import type { Order } from './orders.ts'
import type { SandboxChatRequest, ChatTool, ChatToolChoice } from './request.ts'

/** A call of the model. `input` is the arguments as JSON, or the free text of a custom tool. */
export type PlannedCall = { type: 'function' | 'custom'; name: string; input: string }

/** The tools that may be used, and whether one must be. It covers all forms of `tool_choice`. */
type Offer = { tools: readonly ChatTool[]; mode: 'auto' | 'required' }

type NamedTool = { type: 'function'; function: { name: string } } | { type: 'custom'; custom: { name: string } }

export function toolNameOf(tool: NamedTool): string {
  return tool.type === 'function' ? tool.function.name : tool.custom.name
}

/**
 * The tools that an answer calls. With `auto`, a user message leads to a call if there is only one tool, or if the
 * message has a word of the tool's name or description. A tool's result is answered with text. A required tool is
 * always called, as with vendors. A tool that is called twice is in the list twice. If the message orders an exact
 * answer, only a tool that it names is called.
 */
export function chooseTools(
  { tools, tool_choice: choice, messages, ...request }: SandboxChatRequest,
  text: string,
  order?: Order,
): ChatTool[] {
  const offer = offerOf(tools ?? [], choice ?? 'auto')
  if (offer.tools.length === 0) return []
  if (offer.mode === 'auto' && messages.at(-1)?.role !== 'user') return []
  const isAnswered = order?.kind === 'literal' || (order !== undefined && messages.some(({ role }) => role === 'tool'))
  if (offer.mode === 'auto' && isAnswered && !offer.tools.some((tool) => isNamed(tool, text))) return []
  return chosenFrom(offer, text, request.parallel_tool_calls ?? true)
}

/** Whether a text contains a tool's whole name as a word. */
function isNamed(tool: ChatTool, text: string): boolean {
  const name = toolNameOf(tool)
  const at = text.indexOf(name)
  return at !== -1 && !/[\w-]/.test(text[at - 1] ?? '') && !/[\w-]/.test(text[at + name.length] ?? '')
}

/** The call of a tool. The caller spends the characters that it keeps. */
export function callOf(tool: ChatTool, { text, hints, budget, charsMax }: CallPlace): PlannedCall {
  const name = toolNameOf(tool)
  if (tool.type === 'custom') {
    const expression = tool.custom.format?.type === 'grammar' ? expressionIn(text) : undefined
    return { type: 'custom', name, input: expression ?? text }
  }
  // Arguments are an object, even if the schema does not say so.
  const schema = { type: 'object', ...tool.function.parameters }
  const input = exampleJson(schema, withExpression(tool.function, { text, hints }), { budget, charsMax })
  budget.returnChars(input.length)
  return { type: 'function', name, input }
}

/** A function with one text argument and a grammar stands for a custom tool, for vendors without custom tools. */
function withExpression(
  { description, parameters }: Extract<ChatTool, { type: 'function' }>['function'],
  { text, hints }: Pick<CallPlace, 'text' | 'hints'>,
): Hints {
  const [name, ...others] = Object.keys(parameters?.properties ?? {})
  if (name === undefined || others.length > 0 || !/\bgrammar\b/i.test(description ?? '')) return hints
  const expression = expressionIn(text)
  return expression === undefined ? hints : { ...hints, told: { object: { [name]: expression }, pairs: new Map() } }
}

export type CallPlace = { text: string; hints: Hints; budget: Budget; charsMax: number }

function offerOf(tools: readonly ChatTool[], choice: ChatToolChoice): Offer {
  if (choice === 'none') return { tools: [], mode: 'auto' }
  if (typeof choice === 'string') return { tools, mode: choice }
  const named = new Set(
    choice.type === 'allowed_tools' ? choice.allowed_tools.tools.map(toolNameOf) : [toolNameOf(choice)],
  )
  const mode = choice.type === 'allowed_tools' ? choice.allowed_tools.mode : 'required'
  return { tools: tools.filter((tool) => named.has(toolNameOf(tool))), mode }
}

/** One call for each tool that the message is about. `both` makes two calls, of one tool if necessary. */
function chosenFrom({ tools, mode }: Offer, text: string, isParallel: boolean): ChatTool[] {
  const said = stemsOf(text)
  const whole = tools.filter((tool) => isNamed(tool, text))
  const named = whole.length > 0 ? whole : tools.filter((tool) => mentions(said, toolNameOf(tool)))
  const described = tools.filter((tool) => mentions(said, descriptionOf(tool)))
  const meant = named.length > 0 ? named : described
  const isObvious = mode === 'required' || tools.length === 1
  const chosen = meant.length === 0 && isObvious ? tools.slice(0, 1) : meant
  if (!isParallel) return chosen.slice(0, 1)
  if (!/\bboth\b/i.test(text) || chosen.length > 1) return chosen
  return chosen.length === 1 ? [...chosen, ...chosen] : tools.slice(0, 2)
}

function descriptionOf(tool: ChatTool): string {
  return (tool.type === 'function' ? tool.function.description : tool.custom.description) ?? ''
}

function mentions(said: ReadonlySet<string>, text: string): boolean {
  for (const stem of stemsOf(text)) if (said.has(stem)) return true
  return false
}

/** `getCityForecasts` → city, forecast */
function stemsOf(text: string): Set<string> {
  const words = tellingWords(text.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' '))
  return new Set(words.map((word) => word.toLowerCase().replace(/s$/, '')))
}
