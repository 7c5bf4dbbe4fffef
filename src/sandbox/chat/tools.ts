import type { Budget } from '../budget.ts'
import { exampleJson } from '../example/example.ts'
import type { Hints } from '../example/hints.ts'
import { tellingWords } from '../words.ts'
import type { ChatRequest, Tool, ToolChoice } from './request.ts'

/** A call the model makes; `input` is the arguments as JSON, or the free text a custom tool takes. */
export type PlannedCall = { type: 'function' | 'custom'; name: string; input: string }

/** How far tools may and must be used, all spellings of `tool_choice` taken together. */
type Offer = { tools: readonly Tool[]; mode: 'auto' | 'required' }

type Named = { type: 'function'; function: { name: string } } | { type: 'custom'; custom: { name: string } }

export function toolNameOf(tool: Named): string {
  return tool.type === 'function' ? tool.function.name : tool.custom.name
}

/**
 * The tools an answer consists of calls to, or none. With `auto`, a user message is answered with a tool when it is the
 * only one, or when the message has a word of the tool's name or description; a tool's result is answered with text.
 * What is required is called always, as by vendors. A tool that is called twice is named twice.
 */
export function chooseTools({ tools, tool_choice: choice, messages, ...request }: ChatRequest, text: string): Tool[] {
  const offer = offerOf(tools ?? [], choice ?? 'auto')
  if (offer.tools.length === 0) return []
  if (offer.mode === 'auto' && messages.at(-1)?.role !== 'user') return []
  return chosenFrom(offer, text, request.parallel_tool_calls ?? true)
}

/** The call of a tool. Whoever keeps it spends what it has. */
export function callOf(tool: Tool, { text, hints, budget, charsMax }: CallPlace): PlannedCall {
  const name = toolNameOf(tool)
  if (tool.type === 'custom') return { type: 'custom', name, input: text }
  // Arguments are an object, also where the schema leaves that unsaid.
  const schema = { type: 'object', ...tool.function.parameters }
  const input = exampleJson(schema, hints, { budget, charsMax })
  budget.returnChars(input.length)
  return { type: 'function', name, input }
}

export type CallPlace = { text: string; hints: Hints; budget: Budget; charsMax: number }

function offerOf(tools: readonly Tool[], choice: ToolChoice): Offer {
  if (choice === 'none') return { tools: [], mode: 'auto' }
  if (typeof choice === 'string') return { tools, mode: choice }
  const named = new Set(
    choice.type === 'allowed_tools' ? choice.allowed_tools.tools.map(toolNameOf) : [toolNameOf(choice)],
  )
  const mode = choice.type === 'allowed_tools' ? choice.allowed_tools.mode : 'required'
  return { tools: tools.filter((tool) => named.has(toolNameOf(tool))), mode }
}

/** One call each for the tools a message is about; `both` makes it two calls, of one tool if need be. */
function chosenFrom({ tools, mode }: Offer, text: string, isParallel: boolean): Tool[] {
  const said = stemsOf(text)
  const named = tools.filter((tool) => mentions(said, toolNameOf(tool)))
  const described = tools.filter((tool) => mentions(said, descriptionOf(tool)))
  const meant = named.length > 0 ? named : described
  const isObvious = mode === 'required' || tools.length === 1
  const chosen = meant.length === 0 && isObvious ? tools.slice(0, 1) : meant
  if (!isParallel) return chosen.slice(0, 1)
  if (!/\bboth\b/i.test(text) || chosen.length > 1) return chosen
  return chosen.length === 1 ? [...chosen, ...chosen] : tools.slice(0, 2)
}

function descriptionOf(tool: Tool): string {
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
