/** Tools, their choice, and structured answers. */
import type { Tool, Turn } from '../../domain/turn.ts'
import type { ConverseFamily } from '../../vendors/converse-families.ts'
import { enforceable } from '../core/enforceable-schema.ts'
import type { Fields } from '../core/fields.ts'
import { newSchemaRoom, withoutReferences, type SchemaRoom } from '../core/schema-references.ts'

export type WrittenTools = {
  readonly config: object | undefined
  readonly isForced: boolean
  /** What the system prompt says because no field does. */
  readonly notes: readonly string[]
}

type ToolOptions = {
  readonly family: ConverseFamily
  /** Whether the model takes a choice that forces a tool. */
  readonly forcedTool: boolean
  readonly dropped: Set<string>
}

const NO_CALLS = 'Answer in words now. Do not call any tool.'

/**
 * The field `toolConfig`. The service wants it for a history with calls, too ("The toolConfig field must be defined
 * when using toolUse and toolResult content blocks",
 * https://github.com/aws-samples/bedrock-access-gateway/pull/239, 2026-04), and has no choice that forbids calls.
 */
export function toolsOf(turn: Turn, { family, forcedTool, dropped }: ToolOptions): WrittenTools {
  const { toolChoice: choice } = turn
  const allowed = choice?.kind === 'allowed' ? new Set(choice.names) : undefined
  const offered = turn.tools.filter(({ name }) => allowed?.has(name) ?? true)
  if (choice?.kind === 'none' || offered.length === 0) {
    const called = calledIn(turn)
    if (called.size === 0) return { config: undefined, isForced: false, notes: [] }
    if (choice?.kind === 'none') dropped.add('tool_choice')
    for (const { name } of turn.tools) called.delete(name)
    const lost = [...called].map((name): Tool => ({ kind: 'function', name }))
    const config = { tools: specsOf([...turn.tools, ...lost], family) }
    return { config, isForced: false, notes: [NO_CALLS] }
  }
  const toolChoice = choiceOf(turn, forcedTool ? family.choices : [], dropped)
  const config = { tools: specsOf(offered, family), ...(toolChoice ? { toolChoice } : {}) }
  return { config, isForced: toolChoice !== undefined, notes: [] }
}

/** The names of the tools that a conversation has called. */
function calledIn({ messages }: Turn): Set<string> {
  const names = new Set<string>()
  for (const { parts } of messages) for (const part of parts) if (part.kind === 'tool_call') names.add(part.name)
  return names
}

/** `auto` is the default, and some models refuse it by name. */
function choiceOf(
  { toolChoice: choice }: Turn,
  choices: ConverseFamily['choices'],
  dropped: Set<string>,
): object | undefined {
  const mode = choice?.kind === 'allowed' ? choice.mode : choice?.kind
  if (mode === undefined || mode === 'auto' || mode === 'none') return undefined
  if (choice?.kind === 'tool' && choices.includes('tool')) return { tool: { name: choice.name } }
  if (mode === 'required' && choices.includes('any')) return { any: {} }
  dropped.add('tool_choice')
  return undefined
}

function specsOf(tools: readonly Tool[], family: ConverseFamily): object[] {
  const room = newSchemaRoom()
  return tools.map((tool) => specOf(tool, family, room))
}

function specOf(tool: Tool, family: ConverseFamily, room: SchemaRoom): object {
  const { name, description } = tool
  const { parameters, strict } = tool.kind === 'function' ? tool : {}
  const isStrict = strict === true && family.schemas
  const schema = { type: 'object', ...parameters }
  const json = isStrict
    ? enforceable({ properties: {}, ...schema })
    : family.toolSchemas === 'plain_root'
      ? plainRoot(schema, room)
      : schema
  const said = description === undefined || description.trim() === '' ? {} : { description }
  return { toolSpec: { name, ...said, inputSchema: { json }, ...(isStrict ? { strict } : {}) } }
}

/** Nova refuses any other member ("extraneous key [definitions] is not permitted"). */
function plainRoot(schema: Fields, room: SchemaRoom): Fields {
  const { type, properties = {}, required } = withoutReferences(schema, room)
  return { type, properties, ...(Array.isArray(required) ? { required } : {}) }
}

const JSON_ONLY = 'Answer with one JSON object and nothing else, no code fence around it.'

/** The field `outputConfig`, or words for the system prompt if the model has no such field. */
export function formatOf(
  { format }: Turn,
  { schemas }: ConverseFamily,
  dropped: Set<string>,
): { readonly config?: object; readonly notes: readonly string[] } {
  switch (format?.kind) {
    case 'json_object':
      dropped.add('response_format')
      return { notes: [JSON_ONLY] }
    case 'json_schema': {
      const { name, description, schema } = format
      if (!schemas) {
        dropped.add('response_format.json_schema')
        return { notes: [`Answer with JSON alone, which fits this JSON schema:\n${JSON.stringify(schema)}`] }
      }
      const said = description === undefined ? {} : { description }
      const jsonSchema = { name, ...said, schema: JSON.stringify(enforceable(schema)) }
      return { config: { textFormat: { type: 'json_schema', structure: { jsonSchema } } }, notes: [] }
    }
    case 'text':
    case undefined:
      return { notes: [] }
  }
}
