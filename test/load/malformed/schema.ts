/** Valid JSON that breaks the schema: every field of the chat request with a wrong type or value. */
import fc from 'fast-check'
import { chatText, utf8, type Case } from './case.ts'

type JsonType = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null'
type Rule = {
  readonly types: readonly JsonType[]
  /** Values of an allowed type that are wrong all the same. */
  readonly wrong?: fc.Arbitrary<unknown>
  readonly required?: true
}

/** A field of this name is refused before any other is looked at: `prototypes` in json.ts. */
const isHonest = (value: unknown): boolean => !JSON.stringify(value).includes('__proto__')
const text = fc.string({ maxLength: 20 }).filter(isHonest)
const json = fc.jsonValue({ maxDepth: 1 }).filter(isHonest)
const values: Record<JsonType, fc.Arbitrary<unknown>> = {
  string: text,
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  array: fc.array(json, { maxLength: 4 }),
  object: fc.dictionary(text, json, { maxKeys: 4 }),
  null: fc.constant(null),
}
const typesOf = Object.keys(values) as JsonType[]
const anyBut = (...types: readonly JsonType[]): fc.Arbitrary<unknown> =>
  fc.oneof(...typesOf.filter((type) => !types.includes(type)).map((type) => values[type]))

const fraction = fc.double({ min: 0.001, max: 0.999, noNaN: true })
const notACount = fc.oneof(
  fc.integer({ max: 0 }),
  fc.integer({ min: 1, max: 1_000 }).chain((n) => fraction.map((part) => n + part)),
)
const outside = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.double({ max: min, noNaN: true, noDefaultInfinity: true }).filter((value) => value < min),
    fc.double({ min: max, noNaN: true, noDefaultInfinity: true }).filter((value) => value > max),
  )

const role = text.filter((name) => !['system', 'user', 'assistant', 'developer', 'tool', 'function'].includes(name))
const message = { role: 'user', content: 'go' }
const wrongMessage = fc.oneof(
  anyBut('object'),
  role.map((name) => ({ ...message, role: name })),
  anyBut('string').map((value) => ({ ...message, role: value })),
  anyBut('string', 'array').map((value) => ({ ...message, content: value })),
  anyBut('object').map((part) => ({ ...message, content: [part] })),
  anyBut('string').map((type) => ({ ...message, content: [{ type, text: 'go' }] })),
  fc.constantFrom({ role: 'user' }, { content: 'go' }, {}, { ...message, content: [] }, { role: 'tool', content: 'x' }),
  anyBut('array', 'null').map((calls) => ({ role: 'assistant', tool_calls: calls })),
  anyBut('object').map((call) => ({ role: 'assistant', tool_calls: [call] })),
)
/** One wrong message between right ones. */
const wrongMessages = fc
  .tuple(fc.nat({ max: 3 }), wrongMessage, fc.nat({ max: 3 }))
  .map(([before, wrong, after]) => [
    ...Array.from({ length: before }, () => message),
    wrong,
    ...Array.from({ length: after }, () => message),
  ])

const made = { name: 'f', description: 'd', parameters: {} }
const wrongTool = fc.oneof(
  anyBut('object'),
  anyBut('string').map((type) => ({ type, function: made })),
  fc.constantFrom({ type: 'function' }, {}, { function: made }, { type: 'function', function: {} }),
  anyBut('object', 'null').map((value) => ({ type: 'function', function: value })),
  anyBut('string').map((name) => ({ type: 'function', function: { ...made, name } })),
  fc.constant({ type: 'function', function: { ...made, name: '' } }),
  anyBut('string', 'null').map((description) => ({ type: 'function', function: { ...made, description } })),
  anyBut('object', 'null').map((parameters) => ({ type: 'function', function: { ...made, parameters } })),
)

/** The contract's fields, and those every client of the format sends. Null means "not set". */
const rules: Readonly<Record<string, Rule>> = {
  model: { types: ['string'], wrong: fc.constant(''), required: true },
  messages: { types: ['array'], wrong: fc.oneof(fc.constant([]), wrongMessages), required: true },
  max_tokens: { types: ['number'], wrong: notACount },
  max_completion_tokens: { types: ['number'], wrong: notACount },
  n: { types: ['number'], wrong: notACount },
  temperature: { types: ['number'], wrong: outside(0, 2) },
  top_p: { types: ['number'], wrong: outside(0, 1) },
  stream: { types: ['boolean'] },
  stream_options: { types: ['object'], wrong: anyBut('boolean', 'null').map((flag) => ({ include_usage: flag })) },
  stop: { types: ['string', 'array'], wrong: anyBut('string').map((value) => ['a', value]) },
  tools: { types: ['array'], wrong: wrongTool.map((tool) => [tool]) },
  tool_choice: {
    types: ['string', 'object'],
    wrong: fc.oneof(
      text.filter((choice) => !['none', 'auto', 'required'].includes(choice)),
      anyBut('string').map((type) => ({ type })),
    ),
  },
  frequency_penalty: { types: ['number'] },
  presence_penalty: { types: ['number'] },
  logprobs: { types: ['boolean'] },
  top_logprobs: { types: ['number'], wrong: fc.integer({ max: -1 }) },
  parallel_tool_calls: { types: ['boolean'] },
  response_format: { types: ['object'], wrong: anyBut('string').map((type) => ({ type })) },
  reasoning_effort: { types: ['string'] },
}

const sound = { model: 'plain', max_tokens: 4, messages: [message] }
/** Nearly every client sends some of these; they must not distract from what is wrong. */
const company = fc.record(
  {
    temperature: fc.constantFrom(0, 1, 2),
    stream: fc.boolean(),
    stop: fc.constantFrom('x', ['x', 'y'], null),
    user: text,
    metadata: values.object,
    tools: fc.constant([{ type: 'function', function: made }]),
  },
  { requiredKeys: [] },
)

function wrongValues({ types, wrong, required }: Rule): fc.Arbitrary<unknown> {
  const otherType = anyBut(...types, ...(required ? [] : (['null'] as const)))
  const missing = required ? [fc.constant(undefined)] : []
  return fc.oneof(otherType, ...(wrong ? [wrong] : []), ...missing)
}

/** One field wrong, all others right: the refusal must name it. */
export function schemaCases(key: string): fc.Arbitrary<Case> {
  const perField = Object.entries(rules).map(([name, rule]) =>
    fc.tuple(company, wrongValues(rule)).map(([others, value]): Case => {
      const body = JSON.stringify({ ...sound, ...others, [name]: value })
      return { kind: 'request', name: `schema: ${name}`, bytes: chatText(key, utf8(body)), param: name }
    }),
  )
  return fc.oneof(...perField)
}
