/** A chat client's custom tools at vendors of the same format, with and without custom tools. */
import { expect, test } from 'bun:test'
import { rulesFor } from '../../vendors/fit.ts'
import type { Fields } from '../core/fields.ts'
import type { Destination, Adapter, AdapterContext } from '../core/contract.ts'
import { readChatClient } from './client.ts'

const answer = { requestId: 'req_1', createdAtMs: 1_000_500, publicModel: 'public' }
const usage = { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 }
const at = (vendor: string, model: string): Destination => ({
  upstreamModel: model,
  outputTokensMax: undefined,
  quirks: {
    outputMaxField: 'max_tokens',
    usageInStream: 'on_request',
    usageDialect: 'inclusive',
    rules: rulesFor(vendor, model),
  },
})

const custom = { type: 'custom', custom: { name: 'note', format: { type: 'text' } } }
const call = { id: 'c0', type: 'custom', custom: { name: 'note', input: 'a "b"' } }
const body = {
  messages: [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c0', content: 'noted' },
  ],
  tools: [custom],
  a_new_field: 1,
}

async function adapter(fields: object): Promise<Adapter> {
  const text = JSON.stringify({ model: 'public', ...fields })
  const read = await readChatClient(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return read.request.adapter(['chat'], {} as AdapterContext)
}

const sent = async (fields: object, to: Destination): Promise<Fields> =>
  JSON.parse((await adapter(fields)).request(to).body) as Fields

test('custom tools pass unchanged to a vendor that has them', async () => {
  expect(await sent(body, at('openai', 'gpt-5.1'))).toMatchObject(body)
})

test('custom tools are functions for a vendor without them, and their calls come back as custom, whole and streamed', async () => {
  const to = at('deepseek', 'deepseek-v4-pro')
  expect(await sent(body, to)).toMatchObject({
    messages: [
      {},
      { tool_calls: [{ type: 'function', function: { name: 'note', arguments: '{"input":"a \\"b\\""}' } }] },
      {},
    ],
    tools: [{ type: 'function', function: { name: 'note' } }],
  })
  const calls = [{ index: 0, id: 'c1', type: 'function', function: { name: 'note', arguments: '{"input":"x\\ny"}' } }]
  const whole = await adapter(body)
  whole.request(to)
  const choice = { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: calls } }
  const read = await whole.readReply(JSON.stringify({ choices: [choice], usage: {} }), to.quirks)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  expect(JSON.parse(read.reply.write(answer, usage))).toMatchObject({
    choices: [{ message: { tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'note', input: 'x\ny' } }] } }],
  })
  const streamed = await adapter({ ...body, stream: true })
  streamed.request(to)
  const stream = streamed.openStream(answer, to.quirks)
  const event = stream.read({
    name: undefined,
    data: JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] }),
  })
  const text = event.kind === 'chunk' ? event.text : ''
  expect(text).toContain('"custom":{"name":"note","input":""}')
  expect(text).toContain('"custom":{"input":"x\\ny"}')
})

test('requests without custom tools do not change', async () => {
  const { tools: _, ...plain } = { ...body, messages: [{ role: 'user', content: 'go' }] }
  expect(await sent(plain, at('deepseek', 'deepseek-v4-pro'))).toMatchObject(plain)
})
