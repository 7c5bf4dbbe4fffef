/** Names of tools between a client and an upstream of this format. A name that a vendor refuses is sent shortened. */
import { toolOfCall } from '../core/call-arguments.ts'
import { asFields, asList, asText, type Fields } from '../core/fields.ts'
import { FittedNames } from '../core/tool-names.ts'
import type { ChatBody } from './schema.ts'

/** The names that OpenAI accepts, and every vendor that follows its format. */
const LAWFUL = /^[\w-]{1,64}$/

const nameIn = (one: Fields): string => asText(asFields(one[toolOfCall(one)])['name'])

function* namesIn({ tools, messages }: ChatBody): Generator<string> {
  for (const tool of tools ?? []) yield nameIn(tool)
  for (const { tool_calls: calls } of messages) for (const call of calls ?? []) yield nameIn(asFields(call))
}

/** The request's names that vendors of the format may refuse. Undefined if there are none. */
export function directNames(body: ChatBody): FittedNames | undefined {
  if (body.tools === undefined && !body.messages.some(({ tool_calls: calls }) => calls)) return undefined
  const odd = [...namesIn(body)].filter((name) => name !== '' && !LAWFUL.test(name))
  return odd.length === 0 ? undefined : new FittedNames(odd, 'chat')
}

/** A tool, a call or a tool choice with its new name. Returns the same object if the name does not change. */
function renamed(given: unknown, nameOf: (name: string) => string): unknown {
  const one = asFields(given)
  const tool = toolOfCall(one)
  const name = nameIn(one)
  const other = nameOf(name)
  return other === name ? given : { ...one, [tool]: { ...asFields(one[tool]), name: other } }
}

/** The fields of a body that name tools, with the names that the upstream accepts. */
export function withFittedNames({ tools, messages, tool_choice: choice }: Fields, names: FittedNames): Fields {
  const fit = (one: unknown): unknown => renamed(one, (name) => names.fit(name))
  const message = (one: unknown): unknown => {
    const { tool_calls: calls } = asFields(one)
    return Array.isArray(calls) ? { ...asFields(one), tool_calls: calls.map(fit) } : one
  }
  return {
    messages: asList(messages).map(message),
    ...(Array.isArray(tools) ? { tools: tools.map(fit) } : {}),
    ...(typeof choice === 'object' && choice !== null ? { tool_choice: fittedChoice(asFields(choice), fit) } : {}),
  }
}

function fittedChoice(choice: Fields, fit: (one: unknown) => unknown): unknown {
  if (choice['type'] !== 'allowed_tools') return fit(choice)
  const allowed = asFields(choice['allowed_tools'])
  return { ...choice, allowed_tools: { ...allowed, tools: asList(allowed['tools']).map(fit) } }
}

/** The calls of an answer with the client's own names. Returns the same list if no name changes. */
export function withOwnNames(calls: readonly unknown[], names: FittedNames | undefined): readonly unknown[] {
  if (!names) return calls
  const own = calls.map((call) => renamed(call, (name) => names.original(name)))
  return own.every((call, i) => call === calls[i]) ? calls : own
}
