/** A chat server that answers whole to requests for a stream. The client gets a stream, and the answer is charged. */
import { expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'
import { conversations } from '../vendors/clients.ts'

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"where":"here","at":1.0}' } }
const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 }
const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'up', usage }
const choice = (message: object, finish: string): object => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: finish }],
})
const answers: Readonly<Record<string, object>> = {
  words: { ...reply, ...choice({ content: 'Hello you' }, 'stop') },
  call: { ...reply, ...choice({ content: null, tool_calls: [call] }, 'tool_calls') },
  error: { error: { message: 'No such luck.', type: 'server_error' } },
  nothing: { hello: 'you' },
}

let vendor: Bun.Server<unknown>

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { model, stream } = (await request.json()) as { model: string; stream?: boolean }
        expect(stream).toBe(true)
        return Response.json(answers[model])
      },
    })
    const models = Object.keys(answers).map(
      (id) => `  ${id}: { price: { input: 1, output: 2 }, offers: [{ provider: up, model: ${id} }] }`,
    )
    return {
      yaml: `sandbox: false
providers: { up: { preset: custom, base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models:
${models.join('\n')}
`,
    }
  },
  () => vendor.stop(true),
)

async function spent(): Promise<number> {
  const answer = await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${gateway.key}` } })
  return Math.round(Number(((await answer.json()) as { posted: string }).posted) * -1e9)
}

const dialects = ['chat', 'messages', 'responses', 'gemini'] as const

test.each(dialects)('a client of %s has it as a stream', async (dialect) => {
  const before = await spent()
  expect(await conversations[dialect](gateway, 'words').ask(true)).toMatchObject({ status: 200, text: 'Hello you' })
  // 1,000 tokens at a dollar a million, 50 at two, in nano-dollars.
  expect((await spent()) - before).toBe(1_100_000)
  const { status, calls } = await conversations[dialect](gateway, 'call').ask(true)
  expect(status).toBe(200)
  expect(calls.map(({ name, args }) => [name, args])).toEqual([['look', call.function.arguments]])
})

test.each(dialects)('what is no answer is none, for a client of %s', async (dialect) => {
  const before = await spent()
  for (const model of ['error', 'nothing']) {
    expect((await conversations[dialect](gateway, model).ask(true)).status).toBe(502)
  }
  expect(await spent()).toBe(before)
})
