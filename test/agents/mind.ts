/**
 * The scripted model of a vendor that plays the task. It uses the tools that an agent offers, two at once if possible,
 * and repeats their results at the end. Like a model, it knows only the request.
 */
import type { Dialect } from '../../src/domain/turn.ts'
import type { Call, VendorAnswer } from '../vendors/answers.ts'
import { fieldsOf, listOf, textOf, type Fields, type SeenRequest } from '../vendors/seen.ts'

export const WORD = 'XYZZY'
export const TEXT = 'Grüße, 世界'
export const TASK = 'Write a greeting to the file hello.txt, ask for the secret word, read the file, and tell me both.'

type Tool = {
  readonly kind: NonNullable<Call['kind']>
  readonly name: string
  readonly namespace?: string
  readonly schema: Fields
  readonly description: string
}

/** What a request lets its model call, in any dialect. */
export function toolsIn(dialect: Dialect, body: Fields): readonly Tool[] {
  const tools = listOf(body['tools'])
  switch (dialect) {
    case 'chat':
      return tools.map(({ type, function: fn, custom }) =>
        named(type === 'custom' ? 'custom' : 'function', fn ?? custom),
      )
    case 'messages':
      return tools.map((tool) => named('function', { ...tool, parameters: tool['input_schema'] }))
    case 'gemini':
      return tools.flatMap(({ functionDeclarations }) =>
        listOf(functionDeclarations).map((one) =>
          named('function', { ...one, parameters: one['parametersJsonSchema'] ?? one['parameters'] }),
        ),
      )
    case 'converse':
      return listOf(fieldsOf(body['toolConfig'])['tools']).map(({ toolSpec }) => {
        const { inputSchema, ...spec } = fieldsOf(toolSpec)
        return named('function', { ...spec, parameters: fieldsOf(inputSchema)['json'] })
      })
    case 'responses': {
      const later = listOf(body['input']).filter(({ type }) =>
        /^(?:additional_tools|tool_search_output)$/.test(textOf(type)),
      )
      return [...tools, ...later.flatMap((item) => listOf(item['tools']))].flatMap((tool) => fromResponses(tool))
    }
  }
}

function fromResponses(tool: Fields, namespace?: string): readonly Tool[] {
  const { type, name, tools } = tool
  if (type === 'namespace') return listOf(tools).flatMap((one) => fromResponses(one, textOf(name)))
  if (type === 'tool_search') return [named('tool_search', { ...tool, name: 'tool_search' })]
  if (type !== 'function' && type !== 'custom') return []
  return [{ ...named(type, tool), ...(namespace === undefined ? {} : { namespace }) }]
}

function named(kind: Tool['kind'], value: unknown): Tool {
  const { name, parameters, description } = fieldsOf(value)
  return { kind, name: textOf(name), schema: fieldsOf(parameters), description: textOf(description) }
}

const WRITE = `printf '${TEXT}' > hello.txt && echo written`
const READ = 'cat hello.txt'

export function think({ dialect, body, seen }: { dialect: Dialect; body: Fields; seen: SeenRequest }): VendorAnswer {
  const tools = toolsIn(dialect, body)
  const heard = seen.messages.flatMap(({ results }) => results.map(({ text }) => text)).join('\n')
  const count = seen.messages.reduce((sum, { calls }) => sum + calls.length, 0)
  if (tools.length === 0) return say(withoutTools(body, seen))
  const calls = nextCalls(tools, seen, heard)
  if (calls.length === 0) {
    const word = heard.includes(WORD) ? WORD : 'unknown'
    return say(`The word is ${word}. The file says ${heard.includes(TEXT) ? TEXT : 'nothing'}.`)
  }
  const numbered = calls.map((one, i) => ({ ...one, id: `call_${String(count + i).padStart(2, '0')}` }))
  return { thought: `Step ${count}.`, text: '', calls: numbered }
}

type NewCall = Omit<Call, 'id'>

function nextCalls(tools: readonly Tool[], { messages }: SeenRequest, heard: string): readonly NewCall[] {
  const called = messages.flatMap((message) => message.calls.map(({ args }) => args)).join('\n')
  const shell = shellIn(tools)
  const word = tools.find(({ name }) => name.includes('secret_word'))
  const ask = heard.includes(WORD) ? [] : word ? [call(word, {})] : byName(tools, heard)
  if (!shell) {
    // An answer in the form of a call, as structured output asks for it.
    const [first] = word || heard !== '' ? [] : tools
    return first ? [call(first, {})] : ask
  }
  if (!called.includes('echo written')) {
    const search = tools.find(({ name }) => /^(?:tool_search|ToolSearch)$/.test(name))
    const write = inShell(shell, WRITE)
    if (ask.length > 0) return [write, ...ask]
    if (search) return [write, call(search, { query: 'secret word' })]
    // Where the shell is a script's, so are the other tools.
    return isScript(shell) ? [write, inScript(shell)] : [write]
  }
  return called.includes(READ) ? ask : [...ask, inShell(shell, READ)]
}

/** qwen-code gives no tool that its search has found: it is called by its name (0.24.4). */
function byName(tools: readonly Tool[], heard: string): readonly NewCall[] {
  const caller = tools.find(({ name }) => name === 'tool_call')
  const name = /"name":"(\w*secret_word)"/.exec(heard)?.[1]
  return caller && name !== undefined ? [call(caller, { name, arguments: {} })] : []
}

const isScript = ({ kind, description }: Tool): boolean => kind === 'custom' || /javascript/i.test(description)

const say = (text: string): VendorAnswer => ({ thought: '', text, calls: [] })

/** Titles, summaries, and what an agent does that edits by its answers. */
function withoutTools(body: Fields, { messages }: SeenRequest): string {
  const all = JSON.stringify(body)
  if (!all.includes('file listing') || !messages.some(({ text }) => text.includes(TASK))) return 'Greetings'
  return `The file:\n\nhello.txt\n\`\`\`\n${TEXT}\n\`\`\`\n`
}

const shellIn = (tools: readonly Tool[]): Tool | undefined =>
  tools.find(({ name, schema }) => /bash|shell|exec|run_command/i.test(name) && commandOf(schema) !== undefined) ??
  tools.find(({ name, namespace, kind }) => kind !== 'tool_search' && /(?:^|_)exec$/.test(`${namespace}_${name}`))

const commandOf = ({ properties }: Fields): string | undefined =>
  Object.keys(fieldsOf(properties)).find((name) => /^(?:command|cmd|commands|script)$/.test(name))

function inShell(tool: Tool, line: string): NewCall {
  const field = commandOf(tool.schema)
  if (field === undefined)
    return script(tool, `text((await tools.exec_command({ cmd: ${JSON.stringify(line)} })).output)`)
  const { type } = fieldsOf(fieldsOf(tool.schema['properties'])[field])
  return call(tool, { [field]: type === 'array' ? [line] : line })
}

const inScript = (tool: Tool): NewCall => script(tool, 'text(JSON.stringify(await tools.mcp__words__secret_word({})))')

/** Where a custom tool was made a function, its input is the function's only string. */
function script(tool: Tool, source: string): NewCall {
  if (tool.kind === 'custom') return { ...identity(tool), args: source }
  const [field = 'input'] = Object.keys(fieldsOf(tool.schema['properties']))
  return call(tool, { [field]: source })
}

const identity = ({ kind, name, namespace }: Tool): Omit<Call, 'id' | 'args'> => ({
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
})

/** Whatever else the schema requires gets a value of its type. */
function call(tool: Tool, args: Fields): NewCall {
  const properties = fieldsOf(tool.schema['properties'])
  const required = Array.isArray(tool.schema['required']) ? tool.schema['required'] : []
  const rest = required
    .filter((name): name is string => typeof name === 'string' && !(name in args))
    .map((name) => [name, valueFor(fieldsOf(properties[name]))])
  return { ...identity(tool), args: JSON.stringify({ ...args, ...Object.fromEntries(rest) }) }
}

function valueFor({ type, enum: values, default: usual }: Fields): unknown {
  if (usual !== undefined) return usual
  if (Array.isArray(values)) return values[0]
  const kind = textOf(Array.isArray(type) ? type[0] : type).toLowerCase()
  return { boolean: false, integer: 1, number: 1, array: [], object: {} }[kind] ?? 'Does what the task says'
}
