/**
 * Tools with call types of their own that the client runs: a search among its tools, a shell, patches. OpenAI's models
 * know them by training. Any other model gets a function, and its call is written back in the shape that the client
 * knows. Shapes: OpenAI's SDK for JavaScript 7, `resources/responses/responses.ts` (2026-11); `tool_search` and
 * `local_shell` also as Codex 0.169 sends and takes them.
 */
import type { Tool } from '../../domain/turn.ts'
import { asFields, asList, asText, fieldsIn, parseExactFields, textIn, type Fields } from '../core/fields.ts'
import type { CallShape, CallType, CallNames } from './call-names.ts'

type Kind = {
  readonly call: CallType
  readonly output: string
  readonly about: string
  readonly parameters: Fields
  /** `fields` makes the call's own fields from the function's arguments. `words` goes the other way. */
  readonly fields: (words: Fields) => Fields
  readonly words: (call: Fields) => unknown
  readonly result: (output: Fields, names: CallNames) => string
}

const text = { type: 'string' }
const count = { type: 'integer' }
const texts = { type: 'array', items: text }

/** By the type of the tool, which is also the function's name. */
const kinds: Readonly<Record<string, Kind>> = {
  tool_search: {
    call: 'tool_search_call',
    output: 'tool_search_output',
    about: 'Searches for tools that are not in the list; what is found can be called from then on.',
    parameters: { type: 'object', properties: { query: text }, required: ['query'] },
    fields: (words) => ({ execution: 'client', arguments: words }),
    words: (call) => call['arguments'],
    result: (output, names) => {
      const found = asList(output['tools']).flatMap((tool) => namesIn(asFields(tool), names))
      return found.length === 0 ? 'No tools were found.' : `These tools can be called now: ${found.join(', ')}.`
    },
  },
  local_shell: {
    call: 'local_shell_call',
    output: 'local_shell_call_output',
    about: 'Runs a command on the machine of the user and returns its output.',
    parameters: {
      type: 'object',
      properties: { command: texts, working_directory: text, timeout_ms: count },
      required: ['command'],
    },
    fields: ({ command, ...rest }) => {
      const words = typeof command === 'string' ? ['bash', '-lc', command] : asList(command)
      return {
        action: { type: 'exec', command: words, env: fieldsIn(rest['env']) ?? {}, ...without(rest, 'env', 'type') },
      }
    },
    words: (call) => without(asFields(call['action']), 'type'),
    result: ({ output }) => textIn(output) ?? JSON.stringify(output ?? ''),
  },
  shell: {
    call: 'shell_call',
    output: 'shell_call_output',
    about: 'Runs shell commands on the machine of the user and returns what they print.',
    parameters: {
      type: 'object',
      properties: { commands: texts, timeout_ms: count, max_output_length: count },
      required: ['commands'],
    },
    fields: ({ commands, ...rest }) => {
      const lines = typeof commands === 'string' ? [commands] : asList(commands)
      return {
        action: {
          commands: lines,
          timeout_ms: rest['timeout_ms'] ?? null,
          max_output_length: rest['max_output_length'] ?? null,
        },
      }
    },
    words: (call) => asFields(call['action']),
    result: ({ output }) => textIn(output) ?? JSON.stringify(output ?? ''),
  },
  apply_patch: {
    call: 'apply_patch_call',
    output: 'apply_patch_call_output',
    about: 'Creates, updates or deletes one file. `diff` is the body of a V4A diff, and left out to delete.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text,
        diff: text,
      },
      required: ['type', 'path'],
    },
    fields: (words) => ({ operation: words }),
    words: (call) => call['operation'],
    result: ({ status, output }) => [asText(status), asText(output)].filter((part) => part !== '').join('\n'),
  },
}

const byCall = new Map(Object.entries(kinds).map(([name, kind]) => [kind.call, { name, kind }]))
const byOutput = new Map(Object.entries(kinds).map(([, kind]) => [kind.output, kind]))

const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !names.includes(name) && (value ?? null) !== null),
  )

/** The names under which the found tools are in the model's list. */
function namesIn(tool: Fields, names: CallNames): string[] {
  const name = asText(tool['name'])
  if (tool['type'] !== 'namespace') return name === '' ? [] : [names.claim({ type: 'function_call', name })]
  const members = asList(tool['tools']).map((member) => asText(asFields(member)['name']))
  return members.map((member) => names.claim({ type: 'function_call', name: member, namespace: name }))
}

type AgentTool = { readonly shape: CallShape; readonly tool: (name: string) => Tool }

/** A tool of these kinds as a function. Undefined for any other tool, and for one that runs at the vendor. */
export function agentTool(declared: Fields): AgentTool | undefined {
  const type = asText(declared['type'])
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!kind || !isClients(declared)) return undefined
  return {
    shape: { type: kind.call, name: type },
    tool: (name) => ({
      kind: 'function',
      name,
      description: textIn(declared['description']) ?? kind.about,
      parameters: fieldsIn(declared['parameters']) ?? kind.parameters,
      strict: false,
    }),
  }
}

/** Whether the client runs the tool. A search or a shell container may also run at the vendor. */
function isClients({ type, execution, environment }: Fields): boolean {
  if (type === 'tool_search') return execution === 'client'
  const place = asFields(environment)['type']
  return type !== 'shell' || place === undefined || place === 'local'
}

/** The call shape, by the type of its tool. */
export function agentShape(type: string): CallShape | undefined {
  return Object.hasOwn(kinds, type) && kinds[type] ? { type: kinds[type].call, name: type } : undefined
}

export const isAgentCall = (type: unknown): boolean => byCall.has(type as CallType)
export const isAgentOutput = (type: unknown): boolean => byOutput.has(type as string)

/** Reads a call's item: its shape, and the function's arguments as JSON text. Undefined for any other item. */
export function readAgentCall(item: Fields): { readonly shape: CallShape; readonly words: string } | undefined {
  const found = byCall.get(item['type'] as CallType)
  if (!found) return undefined
  const words = found.kind.words(item)
  const shape = { type: found.kind.call, name: found.name }
  return { shape, words: typeof words === 'string' ? words : JSON.stringify(words ?? {}) }
}

/** The result in an item of these kinds, as text. */
export const readAgentOutput = (item: Fields, names: CallNames): string =>
  byOutput.get(item['type'] as string)?.result(item, names) ?? ''

/** The fields of a call's item that hold the model's output. */
export function agentCallFields(type: CallType, words: string): Fields {
  const kind = byCall.get(type)?.kind
  return kind ? kind.fields(parseExactFields(words) ?? {}) : {}
}
