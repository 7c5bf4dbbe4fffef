import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isOrdinary } from './fast-path.ts'
import { chatRequestSchema } from './schema.ts'

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, '', 'auto', 'x', 0, 1, 2, 3, -1, 0.5, 1e21, Number.NaN, Infinity, true, []),
  fc.constantFrom<unknown>({}, { type: 'x' }, { type: 1 }, { include_usage: 'yes' }, ['a', 1], [null], [{}], [[]]),
)
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: junk })
const some = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.record(Object.fromEntries(Object.entries(model).map(([name, value]) => [name, mostly(value)])), {
    requiredKeys: [],
  })

const part = some({ type: fc.constantFrom('text', 'image_url'), text: fc.string() })
const message = some({
  role: fc.constantFrom('system', 'user', 'assistant', 'developer', 'tool', 'function'),
  content: fc.oneof(fc.string(), fc.array(mostly(part), { maxLength: 2 })),
  tool_calls: fc.array(mostly(some({ id: fc.string(), type: fc.constant('function') })), { maxLength: 2 }),
  tool_call_id: fc.string(),
  name: fc.string(),
})
const tool = some({
  type: fc.constantFrom('function', 'custom'),
  function: some({ name: fc.string(), description: fc.string(), parameters: fc.constant({}) }),
})
const body = fc
  .tuple(
    some({
      model: fc.constant('m'),
      messages: fc.array(mostly(message), { minLength: 1, maxLength: 3 }),
    }),
    some({
      max_tokens: fc.integer({ min: 1 }),
      max_completion_tokens: fc.integer({ min: 1 }),
      temperature: fc.double({ min: 0, max: 2 }),
      top_p: fc.double({ min: 0, max: 1 }),
      n: fc.integer({ min: 1, max: 4 }),
      stream: fc.boolean(),
      stream_options: fc.constant({ include_usage: true }),
      stop: fc.oneof(fc.string(), fc.array(fc.string())),
      tools: fc.array(mostly(tool), { maxLength: 2 }),
      tool_choice: fc.constantFrom<unknown>('none', 'auto', { type: 'function' }),
      frequency_penalty: fc.double(),
      presence_penalty: fc.double(),
      logprobs: fc.boolean(),
      top_logprobs: fc.nat(),
      parallel_tool_calls: fc.boolean(),
      response_format: fc.constant({ type: 'json_object' }),
      reasoning_effort: fc.constant('low'),
      anything: fc.anything(),
    }),
  )
  .map(([must, may]) => ({ ...may, ...must }))

test('the fast path says yes only if the schema does, and nearly always if it does', () => {
  let valid = 0
  let missed = 0
  const property = fc.property(body, (value) => {
    const schemaSays = chatRequestSchema.safeParse(value).success
    const quick = isOrdinary(value)
    if (quick) expect(schemaSays).toBe(true)
    if (schemaSays) valid++
    if (schemaSays && !quick) missed++
  })
  fc.assert(property, { numRuns: 5_000 })
  expect(valid).toBeGreaterThan(200)
  expect(missed).toBeLessThan(valid / 50)
})

test('every optional field of the schema is checked, and junk in any of them is not ordinary', () => {
  for (const name of Object.keys(chatRequestSchema.shape)) {
    for (const value of [Symbol('junk'), Number.NaN, [[]]]) {
      expect(isOrdinary({ model: 'm', messages: [{ role: 'user', content: 'x' }], [name]: value })).toBe(false)
    }
  }
})
