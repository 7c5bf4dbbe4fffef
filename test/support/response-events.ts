/** OpenAI's documented rules for a response and its events, written from the documents and not from this code. */
import { expect } from 'bun:test'
import { z } from 'zod'

const text = z.string()
const index = z.int().min(0)
const id = (prefix: string): z.ZodString => z.string().regex(new RegExp(`^${prefix}_[0-9a-z_]+$`))
const status = z.enum(['in_progress', 'completed', 'incomplete'])
const textPart = z.strictObject({
  type: z.literal('output_text'),
  text,
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()),
})
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: text })
const contentPart = z.discriminatedUnion('type', [textPart, refusalPart])
const summaryPart = z.strictObject({ type: z.literal('summary_text'), text })
const sealed = { tollgate_sealed: text.optional() }

const item = z.discriminatedUnion('type', [
  z.strictObject({
    id: id('msg'),
    type: z.literal('message'),
    status,
    role: z.literal('assistant'),
    content: z.array(contentPart),
  }),
  z.strictObject({
    id: id('rs'),
    type: z.literal('reasoning'),
    status,
    summary: z.array(summaryPart),
    content: z.array(z.never()),
    encrypted_content: text.optional(),
  }),
  z.strictObject({
    id: id('fc'),
    type: z.literal('function_call'),
    status,
    call_id: text.min(1),
    name: text,
    arguments: text,
    ...sealed,
  }),
  z.strictObject({
    id: id('ctc'),
    type: z.literal('custom_tool_call'),
    status,
    call_id: text.min(1),
    name: text,
    input: text,
    ...sealed,
  }),
])

const usage = z
  .strictObject({
    input_tokens: index,
    input_tokens_details: z.strictObject({ cached_tokens: index, cache_write_tokens: index }),
    output_tokens: index,
    output_tokens_details: z.strictObject({ reasoning_tokens: index }),
    total_tokens: index,
  })
  .refine((sums) => sums.total_tokens === sums.input_tokens + sums.output_tokens)

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: text,
  description: text.nullable(),
  parameters: z.record(text, z.unknown()).nullable(),
  strict: z.boolean().nullable(),
})
const customTool = z.strictObject({
  type: z.literal('custom'),
  name: text,
  description: text.nullable(),
  format: z.looseObject({ type: text }),
})

/** The 31 fields that Open Responses requires, null where it allows null and nowhere else; `user` is OpenAI's own. */
export const responseSchema = z.strictObject({
  id: id('resp'),
  object: z.literal('response'),
  created_at: index,
  completed_at: index.nullable(),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  error: z
    .strictObject({ code: z.enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt']), message: text })
    .nullable(),
  incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  instructions: text.nullable(),
  model: text,
  previous_response_id: text.nullable(),
  output: z.array(item),
  tools: z.array(z.discriminatedUnion('type', [functionTool, customTool])),
  tool_choice: z.union([text, z.looseObject({ type: text })]),
  parallel_tool_calls: z.boolean(),
  truncation: z.enum(['auto', 'disabled']),
  text: z.strictObject({ format: z.looseObject({ type: text }), verbosity: text }),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  reasoning: z.strictObject({ effort: text.nullable(), summary: text.nullable() }),
  usage: usage.nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(text, text),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
  user: text.nullable(),
})

const numbered = { sequence_number: index }
const inItem = { ...numbered, item_id: text, output_index: index }
const inPart = { ...inItem, content_index: index }
const inSummary = { ...inItem, summary_index: index }
const noLogprobs = { logprobs: z.array(z.never()) }
const told = { code: text, message: text, param: text.nullable() }
const whole = { ...numbered, response: responseSchema }

const fieldsOf: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.incomplete': whole,
  'response.failed': whole,
  error: { ...numbered, ...told, error: z.strictObject({ type: text, ...told }) },
  'response.output_item.added': { ...numbered, output_index: index, item },
  'response.output_item.done': { ...numbered, output_index: index, item },
  'response.content_part.added': { ...inPart, part: contentPart },
  'response.content_part.done': { ...inPart, part: contentPart },
  'response.output_text.delta': { ...inPart, delta: text, ...noLogprobs },
  'response.output_text.done': { ...inPart, text, ...noLogprobs },
  'response.refusal.delta': { ...inPart, delta: text },
  'response.refusal.done': { ...inPart, refusal: text },
  'response.function_call_arguments.delta': { ...inItem, delta: text },
  'response.function_call_arguments.done': { ...inItem, name: text, arguments: text },
  'response.custom_tool_call_input.delta': { ...inItem, delta: text },
  'response.custom_tool_call_input.done': { ...inItem, input: text },
  'response.reasoning_summary_part.added': { ...inSummary, part: summaryPart },
  'response.reasoning_summary_part.done': { ...inSummary, part: summaryPart },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: text },
  'response.reasoning_summary_text.done': { ...inSummary, text },
}
const schemas = new Map(
  Object.entries(fieldsOf).map(([type, fields]) => [type, z.strictObject({ type: z.literal(type), ...fields })]),
)

export type ShownResponse = z.infer<typeof responseSchema>
export type StreamEvent = { readonly type: string; readonly sequence_number: number } & Readonly<
  Record<string, unknown>
>

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Checks a whole stream, numbers from `from` on: framing, fields, order, and that the parts add up to the whole. */
export function expectStream(stream: string, from = 0): StreamEvent[] {
  const frames = stream.split('\n\n')
  expect(frames.at(-1)).toBe('')
  expect(frames.at(-2)).toBe('data: [DONE]')
  const events = frames.slice(0, -2).map((frame) => {
    const [, name, data = ''] = /^(?:: ping\n)*event: (\S+)\ndata: ([^\r\n]+)$/.exec(frame) ?? []
    const event = JSON.parse(data) as StreamEvent
    expect(event.type).toBe(name ?? '')
    const checked = schemas.get(event.type)?.safeParse(event)
    expect([event.type, checked?.error?.issues ?? []]).toEqual([event.type, []])
    return event
  })
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => from + i))
  const ends = events.filter(({ type }) => TERMINAL.has(type))
  expect(ends).toEqual([events.at(-1) as StreamEvent])
  if (from === 0) expectWhole(events)
  return events
}

/** The items of the last event are those that were told piece by piece. */
function expectWhole(events: readonly StreamEvent[]): void {
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
  const words = new Map<string, string>()
  const done = new Map<unknown, unknown>()
  let added = 0
  for (const event of events) {
    const { type } = event
    const at = JSON.stringify([event['item_id'], event['content_index'] ?? event['summary_index']])
    if (type === 'response.output_item.added') expect(event['output_index']).toBe(added++)
    if (type.endsWith('.delta')) words.set(at, (words.get(at) ?? '') + String(event['delta']))
    const said = event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input']
    if (type.endsWith('.done') && typeof said === 'string') expect(said).toBe(words.get(at) ?? '')
    if (type === 'response.output_item.done') done.set(event['output_index'], event['item'])
  }
  const last = events.at(-1) as StreamEvent & { readonly response: ShownResponse }
  const { output, status } = last.response
  expect(output).toHaveLength(added)
  for (const [i, shown] of output.entries()) {
    if (done.has(i)) expect(done.get(i)).toEqual(shown)
    else expect([shown.status, ['failed', 'cancelled'].includes(status)]).toEqual(['incomplete', true])
  }
}
