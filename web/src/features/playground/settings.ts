/** The settings of a chat besides its messages, as typed, and the errors in them. */
import type { Key } from '../../lib/language.ts'
import { readJson } from '../../lib/json-text.ts'

export type Settings = {
  readonly system: string
  readonly temperature: string
  readonly topP: string
  readonly maxTokens: string
  readonly effort: '' | 'minimal' | 'low' | 'medium' | 'high'
  readonly format: '' | 'json_object' | 'json_schema'
  readonly schema: string
  readonly tools: string
  readonly toolChoice: '' | 'auto' | 'required' | 'none'
}

export const noSettings: Settings = {
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  effort: '',
  format: '',
  schema: '',
  tools: '',
  toolChoice: '',
}

export const exampleTools = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather of a place',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
  null,
  2,
)

/** The message that explains an error. */
export type Problem = { readonly key: Key; readonly values?: Readonly<Record<string, string | number>> }
export type Problems = Partial<Record<keyof Settings, Problem>>

const isBlank = (text: string): boolean => text.trim() === ''

function outside(text: string, { least, most }: { least: number; most: number }): Problem | undefined {
  if (isBlank(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? undefined : { key: 'play.wrong.range', values: { least, most } }
}

export function problemsOf(settings: Settings): Problems {
  const { temperature, topP, maxTokens, tools, format, schema } = settings
  const wrongLength = !isBlank(maxTokens) && !/^[1-9]\d{0,8}$/.test(maxTokens.trim())
  const found = {
    temperature: outside(temperature, { least: 0, most: 2 }),
    topP: outside(topP, { least: 0, most: 1 }),
    maxTokens: wrongLength ? ({ key: 'play.wrong.count' } as const) : undefined,
    tools: problemOfTools(tools),
    schema: format === 'json_schema' ? problemOfSchema(schema) : undefined,
  }
  return Object.fromEntries(Object.entries(found).filter(([, problem]) => problem !== undefined))
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

function problemOfTools(text: string): Problem | undefined {
  if (isBlank(text)) return undefined
  const read = readJson(text)
  if (read.kind === 'broken') return { key: 'play.wrong.json', values: { line: read.line, column: read.column } }
  if (!Array.isArray(read.value)) return { key: 'play.wrong.toolList' }
  const names = read.value.map((tool: unknown) => {
    const { type, function: made } = fieldsOf(tool) ?? {}
    const name = type === 'function' ? fieldsOf(made)?.['name'] : undefined
    return typeof name === 'string' && name !== '' ? name : undefined
  })
  const nameless = names.indexOf(undefined)
  if (nameless >= 0) return { key: 'play.wrong.tool', values: { n: nameless + 1 } }
  const twice = names.find((name, at) => names.indexOf(name) < at)
  return twice === undefined ? undefined : { key: 'play.wrong.toolTwice', values: { name: twice } }
}

function problemOfSchema(text: string): Problem | undefined {
  const read = readJson(text)
  if (read.kind === 'broken') return { key: 'play.wrong.json', values: { line: read.line, column: read.column } }
  return fieldsOf(read.value) ? undefined : { key: 'play.wrong.schema' }
}

/** The request fields of valid settings. Absent fields use the default of the model. */
export function settingFields(settings: Settings): Fields {
  const { temperature, topP, maxTokens, effort, format, schema, tools, toolChoice } = settings
  return {
    ...(isBlank(temperature) ? {} : { temperature: Number(temperature) }),
    ...(isBlank(topP) ? {} : { top_p: Number(topP) }),
    ...(isBlank(maxTokens) ? {} : { max_tokens: Number(maxTokens) }),
    ...(effort === '' ? {} : { reasoning_effort: effort }),
    ...(format === 'json_object' ? { response_format: { type: 'json_object' } } : {}),
    ...(format === 'json_schema'
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'answer', schema: JSON.parse(schema) as unknown },
          },
        }
      : {}),
    ...(isBlank(tools)
      ? {}
      : { tools: JSON.parse(tools) as unknown, ...(toolChoice === '' ? {} : { tool_choice: toolChoice }) }),
  }
}
