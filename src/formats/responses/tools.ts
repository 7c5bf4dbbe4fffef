/**
 * The tools of a request as functions and custom tools, from every place where this format lets a client declare them.
 */
import type { Tool, ToolChoice } from '../../domain/turn.ts'
import { asFields, asList, asText, fieldsIn, textIn, type Fields } from '../core/fields.ts'
import { agentShape, agentTool } from './agent-tools.ts'
import { BadInput } from './items.ts'
import type { ResponsesBody } from './request.ts'
import { CallNames, type CallShape } from './call-names.ts'

export type ToolBook = {
  readonly tools: readonly Tool[]
  readonly names: CallNames
  /** The names of the tools that were left out, for the client: tools that run at a vendor, and unknown kinds. */
  readonly left: readonly string[]
}

type Declaration = { readonly shape: CallShape; readonly tool: (name: string) => Tool }

/**
 * Items that declare tools in the middle of a conversation. Codex sends the tools of its newer models in the first
 * kind, and the results of its own search among tools in the second (0.169, captured 2026-11-25).
 */
const declaring = new Set<unknown>(['additional_tools', 'tool_search_output'])

export function toolBook(tools: ResponsesBody['tools'], items: readonly Fields[]): ToolBook {
  const left = new Set<string>()
  const lists = items.filter(({ type }) => declaring.has(type)).map((item) => asList(item['tools']))
  const declared = [tools ?? [], ...lists].flat().flatMap((tool) => declaredBy(asFields(tool), left))
  const names = new CallNames()
  // A plain name is the client's own. It stays unchanged, whatever names the namespaces produce.
  for (const { shape } of declared) if (shape.namespace === undefined) names.claim(shape)
  const found = new Map<string, Tool>()
  for (const { shape, tool } of declared) {
    const name = names.claim(shape)
    found.set(name, tool(name))
  }
  return { tools: [...found.values()], names, left: [...left] }
}

function declaredBy(tool: Fields, left: Set<string>): Declaration[] {
  const { type } = tool
  if (type === 'namespace') return membersOf(tool, left)
  const declared = callable(tool, undefined) ?? agentTool(tool)
  if (!declared) left.add(`tools.${textIn(type) ?? 'unknown'}`)
  return declared ? [declared] : []
}

function membersOf(group: Fields, left: Set<string>): Declaration[] {
  const namespace = asText(group['name'])
  const members = asList(group['tools']).map(asFields)
  const declared = members.flatMap((member) => callable(member, namespace) ?? [])
  if (namespace === '' || declared.length < members.length) left.add('tools.namespace')
  const about = asText(group['description']).trim()
  if (about === '') return declared
  // The group's description has no other place.
  return declared.map(({ shape, tool }, i) => ({
    shape,
    tool: (name) => (i === 0 ? withAbout(tool(name), about) : tool(name)),
  }))
}

const withAbout = (tool: Tool, about: string): Tool => ({
  ...tool,
  description: [tool.description, about].filter((text) => (text ?? '') !== '').join('\n\n'),
})

function callable(tool: Fields, namespace: string | undefined): Declaration | undefined {
  const { type, name, description, parameters, strict, format } = tool
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string' || name === '') return undefined
  const about = textIn(description)
  const group = namespace === undefined || namespace === '' ? {} : { namespace }
  if (type === 'custom') {
    const shape: CallShape = { type: 'custom_tool_call', name, ...group }
    return { shape, tool: (as) => ({ kind: 'custom', name: as, description: about, format: fieldsIn(format) }) }
  }
  return {
    shape: { type: 'function_call', name, ...group },
    tool: (as) => ({
      kind: 'function',
      name: as,
      description: about,
      parameters: fieldsIn(parameters) && plainSchema(asFields(parameters)),
      strict: typeof strict === 'boolean' ? strict : undefined,
    }),
  }
}

/** A schema without `encrypted`. Codex marks with it the arguments that OpenAI's models seal (0.169, 2026-11). */
function plainSchema(schema: Fields): Fields {
  const properties = fieldsIn(schema['properties'])
  if (!properties) return schema
  const plain = Object.entries(properties).map(([name, property]) => {
    const fields = fieldsIn(property)
    if (!fields || !('encrypted' in fields)) return [name, property] as const
    const { encrypted: _, ...rest } = fields
    return [name, rest] as const
  })
  return { ...schema, properties: Object.fromEntries(plain) }
}

/**
 * Whether a tool has its own price. A search among the client's tools costs tokens only, wherever it runs. Every other
 * tool at a vendor has a price.
 */
export const isPriced = (tool: Fields): boolean => tool['type'] !== 'tool_search' && !isClientTool(tool)

/** Whether the client runs this kind of tool, so that any model can have it. */
export const isClientTool = (tool: Fields): boolean =>
  tool['type'] === 'namespace' ||
  tool['type'] === 'function' ||
  tool['type'] === 'custom' ||
  agentTool(tool) !== undefined

const needingTools = new Set<unknown>(['required', 'function', 'custom', 'allowed_tools'])

export function choiceOf(choice: ResponsesBody['tool_choice'], { names, tools }: ToolBook): ToolChoice | undefined {
  if (!choice) return undefined
  // The choice would be dropped upstream, and the answer would not be what the client requested.
  if (tools.length === 0 && needingTools.has(typeof choice === 'string' ? choice : choice.type)) {
    throw new BadInput('invalid_value', 'tool_choice', "Invalid 'tool_choice': the request has no tools.")
  }
  if (typeof choice === 'string') return { kind: choice }
  if (choice.type === 'allowed_tools') {
    const allowed = asList(choice['tools']).flatMap((tool) => nameOf(asFields(tool), names, tools) ?? [])
    return { kind: 'allowed', mode: choice['mode'] === 'required' ? 'required' : 'auto', names: allowed }
  }
  const name = nameOf(choice, names, tools)
  if (name !== undefined) return { kind: 'tool', name }
  const message = `'tool_choice' of type '${choice.type.slice(0, 100)}' is not supported, or there is no such tool.`
  throw new BadInput('unsupported_parameter', 'tool_choice.type', message)
}

/** The upstream's name of the tool in a choice. Undefined if there is none. */
function nameOf(choice: Fields, names: CallNames, tools: readonly Tool[]): string | undefined {
  const { type, name, namespace } = choice
  const named = textIn(name)
  if (type === 'function' || type === 'custom') {
    const shape: CallShape = { type: 'function_call', name: named ?? '', namespace: textIn(namespace) }
    const called = shape.namespace === undefined ? (names.shapeOf(shape.name) ?? shape) : shape
    return names.claim(called)
  }
  const shape = agentShape(asText(type))
  const own = shape && names.claim(shape)
  return tools.some((tool) => tool.name === own) ? own : undefined
}
