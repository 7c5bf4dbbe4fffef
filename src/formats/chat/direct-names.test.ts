import { expect, test } from 'bun:test'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { DirectChat } from './direct.ts'

const quirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' } as const
const to = { upstreamModel: 'm', outputTokensMax: undefined, quirks }
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'm' }
const LONG = `mcp__files__${'read_'.repeat(12)}it`
const DOTTED = 'fs.read'

const tool = (name: string): object => ({ type: 'function', function: { name, parameters: { maximum: '1.0' } } })
const sent = {
  model: 'm',
  guided_choice: ['a'],
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      note: 1,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: LONG, arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '1' },
  ],
  tools: [tool(LONG), tool(DOTTED), tool('plain')],
  tool_choice: {
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: DOTTED } }] },
  },
}

function direct(body: object): DirectChat {
  const read = readChatRequest(JSON.stringify(body).replaceAll('"1.0"', '1.0'), 4_000)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return new DirectChat(read.request)
}

type NamedItem = { readonly function: { readonly name: string } }
type WrittenBody = {
  readonly tools: readonly NamedItem[]
  readonly messages: readonly { readonly note?: number; readonly tool_calls?: readonly NamedItem[] }[]
  readonly tool_choice: { readonly allowed_tools: { readonly tools: readonly NamedItem[] } }
}

test('names that vendors refuse are replaced at every place, and nothing else changes', () => {
  const { body } = direct(sent).request(to)
  const written = JSON.parse(body) as WrittenBody
  const [long = '', dotted = '', plain] = written.tools.map((one) => one.function.name)
  for (const name of [long, dotted]) expect(name).toMatch(/^[\w-]{1,64}$/)
  expect(plain).toBe('plain')
  expect(written.messages[1]).toMatchObject({ note: 1, tool_calls: [{ function: { name: long, arguments: '{}' } }] })
  expect(written.tool_choice.allowed_tools.tools[0]?.function.name).toBe(dotted)
  expect(body).toContain('"guided_choice":["a"]')
  expect(body).toContain('"maximum":1.0')
  const chosen = { ...sent, tool_choice: tool(LONG) }
  expect(JSON.parse(direct(chosen).request(to).body)).toMatchObject({ tool_choice: { function: { name: long } } })
})

test('an answer has the client’s own names, whole and streamed', async () => {
  const adapter = direct(sent)
  const { tools } = JSON.parse(adapter.request(to).body) as WrittenBody
  const call = { id: 'call_2', type: 'function', function: { name: tools[0]?.function.name, arguments: '{"n":1.0}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  const read = await adapter.readReply(JSON.stringify({ id: 'x', model: 'm', choices }), quirks)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  const usage = { inputText: 1, outputText: 1 } as unknown as Parameters<typeof read.reply.write>[1]
  expect(read.reply.write(facts, usage)).toContain(`"name":"${LONG}","arguments":"{\\"n\\":1.0}"`)
  const stream = adapter.openStream(facts, quirks)
  const delta = { role: 'assistant', tool_calls: [{ index: 0, ...call }] }
  const data = JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })
  expect(stream.read({ name: undefined, data })).toMatchObject({ text: expect.stringContaining(`"name":"${LONG}"`) })
})

test('a body with lawful names goes up byte for byte', () => {
  const plain = { ...sent, messages: [sent.messages[0]], tools: [tool('a-b_1'), tool('1')], tool_choice: 'auto' }
  expect(direct(plain).request(to).body).toBe(JSON.stringify(plain).replaceAll('"1.0"', '1.0'))
})
