/** Bombs for text, tool calls and embeddings, to the sandbox in every dialect. */
import fc from 'fast-check'
import type { Bomb } from './bomb.ts'

const MODEL = 'sandbox-chat'
const size = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(max), fc.integer({ min: 1, max }))
const numbered = (count: number, prefix = 'k'): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

/** Schemas whose values are long, dear to find, or both. */
const leaf: fc.Arbitrary<object> = fc.oneof(
  size(100_000).map((minLength) => ({ type: 'string', minLength })),
  size(200_000).map((length) => ({ const: 'x'.repeat(length) })),
  size(3_000).map((count) => ({ type: 'string', pattern: '(ab|c)[^x-z]{2,9}'.repeat(count) })),
  fc.constant({ type: 'string', pattern: '((a{1000}){1000}){1000}', maxLength: 3 }),
  fc.constant({ type: 'string', pattern: '[^q]*q', minLength: 100_000 }),
  size(3_000).map((count) => ({ type: 'string', pattern: '[\\w\\W\\x00-\\uffff]'.repeat(count) })),
  size(50_000).map((depth) => ({ type: 'string', pattern: '('.repeat(depth) })),
  size(10_000).map((count) => ({ enum: numbered(count) })),
  fc.constantFrom('email', 'uri', 'date', 'uuid').map((format) => ({ type: 'string', format })),
  fc.constant({ type: 'integer', minimum: 1e300, multipleOf: 1e-300 }),
)

const wrapped = (inner: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.oneof(
    fc
      .record({ minItems: size(1_000_000), uniqueItems: fc.boolean(), items: inner })
      .map((list) => ({ type: 'array', ...list })),
    fc.tuple(inner, size(10_000)).map(([propertyNames, minProperties]) => ({
      type: 'object',
      propertyNames,
      minProperties,
    })),
    fc.tuple(inner, size(1_000)).map(([schema, count]) => ({
      type: 'object',
      properties: Object.fromEntries(numbered(count).map((name) => [name, { $ref: '#/$defs/it' }])),
      $defs: { it: schema },
      required: numbered(count),
    })),
    fc.tuple(inner, size(50_000)).map(([schema, length]) => ({ properties: { ['n'.repeat(length)]: schema } })),
    fc
      .tuple(inner, size(5_000))
      .map(([schema, count]) => ({ anyOf: [...Array(count).fill({ type: 'null' }), schema] })),
    fc.tuple(inner, size(1_000)).map(([schema, count]) => ({ allOf: [...Array(count).fill({ minItems: 9 }), schema] })),
    fc.tuple(inner, size(28)).map(([schema, steps]) => doubling(schema, steps)),
  )

/** Definitions that name each other twice. */
function doubling(schema: object, steps: number): object {
  const $defs: Record<string, object> = { [`d${steps}`]: schema }
  for (let step = 0; step < steps; step += 1) {
    const next = { $ref: `#/$defs/d${step + 1}` }
    $defs[`d${step}`] = { type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] }
  }
  return { $defs, $ref: '#/$defs/d0' }
}

const schema = leaf.chain((one) => fc.integer({ min: 1, max: 3 }).chain((times) => nest(fc.constant(one), times)))

function nest(inner: fc.Arbitrary<object>, times: number): fc.Arbitrary<object> {
  return times === 0 ? inner : nest(wrapped(inner), times - 1)
}

/** What a message says, for searches in it. */
const words: fc.Arbitrary<string> = fc.constantFrom(
  'a',
  'a'.repeat(2_000),
  'Write 200000 tokens',
  'Repeat "lighthouse" 200000 times',
  `Say exactly: ${'ab'.repeat(200_000)}`,
  `Say exactly: ${'漢'.repeat(100_000)}`,
  `repeat${' '.repeat(3_900)}`,
  `what is my${' '.repeat(3_900)}.`,
  `write${' '.repeat(3_900)}x`,
  `Play this scenario:\ncall x${' '.repeat(300_000)}\u2028x`,
  `Play this scenario:\n${'call x {}\n'.repeat(30_000)}`,
  `http://${'.'.repeat(1_900)}x`,
  'What is my what is '.repeat(200),
  'A.'.repeat(50_000),
)

type Wish = { readonly schema: object; readonly text: string; readonly tokens: number; readonly n: number }

const wish: fc.Arbitrary<Wish> = fc.record({
  schema,
  text: words,
  tokens: fc.constantFrom(1, 16, 1_000, 16_384),
  n: fc.constantFrom(1, 2, 8, 128),
})

const user = (content: unknown): object => ({ role: 'user', content })
const chat = (body: object): Omit<Bomb, 'name'> => ({ path: '/v1/chat/completions', body: { model: MODEL, ...body } })
const messages = (body: object): Omit<Bomb, 'name'> => ({ path: '/v1/messages', body: { model: MODEL, ...body } })
const responses = (body: object): Omit<Bomb, 'name'> => ({ path: '/v1/responses', body: { model: MODEL, ...body } })
const gemini = (body: object): Omit<Bomb, 'name'> => ({ path: `/v1beta/models/${MODEL}:generateContent`, body })

const asFunction = (parameters: object): object[] => [{ type: 'function', function: { name: 'go', parameters } }]
const object = (properties: object): object => ({ type: 'object', properties, required: Object.keys(properties) })

/** A wish of each dialect. */
const wishes: Readonly<Record<string, (wish: Wish) => Omit<Bomb, 'name'>>> = {
  'a form of chat': ({ schema: it, text, tokens, n }) =>
    chat({
      n,
      max_tokens: tokens,
      messages: [user(text)],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: it } },
    }),
  'a tool of chat': ({ schema: it, text, tokens, n }) =>
    chat({
      n,
      max_tokens: tokens,
      messages: [user(text)],
      tools: asFunction(object({ it })),
      tool_choice: 'required',
    }),
  'many tools of chat': ({ text, tokens, n }) =>
    chat({
      n,
      max_tokens: tokens,
      messages: [user(`${text.slice(0, 500)} lighthouse`)],
      tools: numbered(100, 'lighthouse').map((name) => ({
        type: 'function',
        function: { name, parameters: object({ it: { type: 'array', minItems: 10_000 } }) },
      })),
    }),
  'a text of chat': ({ text, tokens, n }) => chat({ n, max_tokens: tokens, messages: [user(text)] }),
  'an object of chat': ({ text, tokens, n }) =>
    chat({ n, max_tokens: tokens, messages: [user(text)], response_format: { type: 'json_object' } }),
  'probabilities of chat': ({ tokens, n }) =>
    chat({ n, max_tokens: tokens, messages: [user('Write 99999 tokens')], logprobs: true, top_logprobs: 20 }),
  'stops of chat': ({ tokens }) =>
    chat({
      max_tokens: tokens,
      messages: [user(`Say exactly: ${'ab'.repeat(40_000)}`)],
      stop: Array(4).fill('ab'.repeat(99) + 'ba'),
    }),
  'a form of messages': ({ schema: it, text, tokens }) =>
    messages({
      max_tokens: tokens,
      messages: [user(text)],
      output_config: { format: { type: 'json_schema', schema: it } },
    }),
  'a tool of messages': ({ schema: it, text, tokens }) =>
    messages({
      max_tokens: tokens,
      messages: [user(text)],
      tools: [{ name: 'go', input_schema: object({ it }) }],
      tool_choice: { type: 'any' },
    }),
  'marks of messages': ({ tokens }) =>
    messages({
      max_tokens: tokens,
      messages: [user(numbered(3_000).map((text) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })))],
    }),
  'a form of gemini': ({ schema: it, text, tokens, n }) =>
    gemini({
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: {
        maxOutputTokens: tokens,
        candidateCount: Math.min(n, 8),
        responseMimeType: 'application/json',
        responseJsonSchema: it,
      },
    }),
  'a tool of gemini': ({ schema: it, text, tokens }) =>
    gemini({
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { maxOutputTokens: tokens },
      tools: [{ functionDeclarations: [{ name: 'go', parametersJsonSchema: object({ it }) }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    }),
  'a form of responses': ({ schema: it, text, tokens }) =>
    responses({
      store: false,
      max_output_tokens: Math.max(16, tokens),
      input: text,
      text: { format: { type: 'json_schema', name: 'x', schema: it } },
    }),
  'a tool of responses': ({ schema: it, text, tokens }) =>
    responses({
      store: false,
      max_output_tokens: Math.max(16, tokens),
      input: text,
      tools: [{ type: 'function', name: 'go', parameters: object({ it }), strict: false }],
      tool_choice: 'required',
    }),
}

/** Conversations of so many calls with their results. */
const histories: Readonly<Record<string, (count: number) => Omit<Bomb, 'name'>>> = {
  'a history of chat': (count) =>
    chat({
      max_tokens: 16,
      messages: [
        user('go'),
        {
          role: 'assistant',
          content: null,
          tool_calls: numbered(count).map((id) => ({
            id,
            type: 'function',
            function: { name: 'go', arguments: '{}' },
          })),
        },
        ...numbered(count).map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
      ],
    }),
  'a history of messages': (count) =>
    messages({
      max_tokens: 16,
      messages: [
        user('go'),
        { role: 'assistant', content: numbered(count).map((id) => ({ type: 'tool_use', id, name: 'go', input: {} })) },
        user(numbered(count).map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }))),
      ],
    }),
  'a history of responses': (count) =>
    responses({
      store: false,
      max_output_tokens: 16,
      input: [
        user('go'),
        ...numbered(count).map((id) => ({ type: 'function_call', call_id: id, name: 'go', arguments: '{}' })),
        ...numbered(count).map((id) => ({ type: 'function_call_output', call_id: id, output: 'x' })),
      ],
    }),
}

const vectors: Readonly<Record<string, (count: number) => object>> = {
  'texts for vectors': (count) => ({ input: numbered(Math.min(count, 2_048)) }),
  'tokens for vectors': (count) => ({ input: Array.from({ length: count * 2 }, () => [1]) }),
  'a long text for a vector': (count) => ({ input: 'lighthouse '.repeat(count) }),
  'vectors as base64': (count) => ({ input: numbered(Math.min(count, 2_048)), encoding_format: 'base64' }),
}

const named = <T>(
  makers: Readonly<Record<string, (of: T) => Omit<Bomb, 'name'>>>,
  of: fc.Arbitrary<T>,
  told: (of: T) => string,
): fc.Arbitrary<Bomb> =>
  fc
    .tuple(fc.constantFrom(...Object.entries(makers)), of)
    .map(([[name, make], one]) => ({ name: `${name}, ${told(one)}`, ...make(one) }))

const wishText = ({ schema: it, text, tokens, n }: Wish): string =>
  `${n} × ${tokens} tokens of ${JSON.stringify(it).slice(0, 120)}; ${text.slice(0, 30)}`

export const textBombs: fc.Arbitrary<Bomb> = fc.oneof(
  { weight: 7, arbitrary: named(wishes, wish, wishText) },
  { weight: 2, arbitrary: named(histories, size(6_000), (count) => `${count} calls`) },
  {
    weight: 1,
    arbitrary: named(
      Object.fromEntries(
        Object.entries(vectors).map(([name, make]) => [
          name,
          (count: number) => ({ path: '/v1/embeddings', body: { model: 'sandbox-embedding', ...make(count) } }),
        ]),
      ),
      size(20_000),
      (count) => `${count} inputs`,
    ),
  },
)

const items = (minItems: number, of: object, more: object = {}): object => ({
  type: 'array',
  minItems,
  items: of,
  ...more,
})
const form = (it: object, more: object = {}): Omit<Bomb, 'name'> =>
  chat({
    max_tokens: 1,
    messages: [user('a')],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: it } },
    ...more,
  })

/** Those that took seconds and gigabytes once. */
export const knownTextBombs: readonly Bomb[] = [
  { name: 'long texts', ...form(items(10_000, { type: 'string', minLength: 100_000 })) },
  { name: 'a long pattern', ...form(items(400, { type: 'string', pattern: '(ab|c)x'.repeat(2_000) })) },
  {
    name: 'a constant that must differ',
    ...form(items(10_000, { const: 'x'.repeat(200_000) }, { uniqueItems: true })),
  },
  { name: 'many choices', ...chat({ n: 128, max_tokens: 16_384, messages: [user('Write 200000 tokens')] }) },
  { name: '6,000 calls', ...histories['a history of chat']?.(6_000) } as Bomb,
  { name: 'blanks', ...chat({ messages: [user(`repeat${' '.repeat(3_900)}`)] }) },
]
