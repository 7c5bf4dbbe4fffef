/** A vendor refuses a field that no rule knows. It is called again without the field, and the client is notified. */
import { beforeEach, expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'

type Body = Record<string, unknown>
let vendor: Bun.Server<unknown>
let asked: Body[] = []
/** What the vendor says of a body; undefined: nothing. */
let refuse: (body: Body) => { status: number; body: object } | undefined = () => undefined

const chatAnswer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
}
const geminiAnswer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'fine' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
}

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const body = (await request.json()) as Body
        asked.push(body)
        const refusal = refuse(body)
        if (refusal) return Response.json(refusal.body, { status: refusal.status })
        if (request.url.includes(':generateContent')) return Response.json(geminiAnswer)
        return Response.json(chatAnswer)
      },
    })
    const base = `http://127.0.0.1:${vendor.port}`
    const price = 'price: { input: 1, output: 2 }'
    return {
      yaml: `
sandbox: false
providers:
  chat: { base_url: '${base}/v1', allow_private: true }
  gem: { preset: gemini, base_url: '${base}/v1beta', key: k, allow_private: true }
models:
  m: { ${price}, offers: [{ provider: chat, model: up }] }
  two: { ${price}, offers: [{ provider: chat, model: up }, { provider: gem, model: gemini-3-pro-preview, priority: 1 }] }
  g: { ${price}, offers: [{ provider: gem, model: gemini-3-pro-preview }] }
`,
    }
  },
  () => vendor.stop(true),
)
beforeEach(() => {
  asked = []
  refuse = () => undefined
})

const openai = (message: string, param: string | null = null): { status: number; body: object } => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param, code: null } },
})
const ask = (model: string, fields: object): Promise<Response> =>
  fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'seed and user' }], ...fields }),
  })

test.each([
  ['logit_bias', (field: string) => openai(`Unrecognized request argument supplied: ${field}`)],
  [
    'verbosity',
    (field: string) => openai(`Unsupported parameter: '${field}' is not supported with this model.`, field),
  ],
  ['seed', (field: string) => openai(`property '${field}' is unsupported`)],
  [
    'parallel_tool_calls',
    (field: string) => ({
      status: 422,
      body: { detail: [{ type: 'extra_forbidden', loc: ['body', field], msg: 'Extra inputs are not permitted' }] },
    }),
  ],
  ['reasoning_effort', (field: string) => ({ status: 400, body: { error: `This model does not support ${field}` } })],
])('%s is left out, and named', async (field, refusal) => {
  refuse = (body) => (field in body ? refusal(field) : undefined)
  const value =
    field === 'logit_bias' ? { 5: 1 } : field === 'parallel_tool_calls' ? true : field === 'seed' ? 7 : 'low'
  const response = await ask('m', { [field]: value, temperature: 0.5 })
  expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, field])
  expect(asked).toHaveLength(2)
  expect(asked[1]).not.toHaveProperty(field)
  expect(asked[1]).toHaveProperty('temperature', 0.5)
  // The refusal is on record, and costs nothing.
  expect(response.headers.get('x-tollgate-cost-usd')).toBe('0.000015')
})

test('several are left out one after the other, but not without end', async () => {
  const refused = ['seed', 'user', 'temperature', 'top_p', 'presence_penalty']
  refuse = (body) => {
    const found = refused.find((field) => field in body)
    return found === undefined ? undefined : openai(`Unknown parameter: '${found}'.`, found)
  }
  const [seed, ...rest] = [{ seed: 1 }, { user: 'u' }, { temperature: 0.5 }, { top_p: 0.5 }, { presence_penalty: 1 }]
  const four = await ask('m', Object.assign({}, ...rest) as object)
  expect([four.status, four.headers.get('x-tollgate-dropped')]).toEqual([
    200,
    'user, temperature, top_p, presence_penalty',
  ])
  const five = await ask('m', Object.assign({}, seed, ...rest) as object)
  expect(five.status).toBe(400)
})

test('what a client cannot live without, and a value that is wrong, is for it to hear', async () => {
  refuse = () => openai("Unsupported parameter: 'tools' is not supported with this model.", 'tools')
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
  expect((await ask('m', { tools, user: 'u' })).status).toBe(400)
  refuse = () => openai("Invalid 'temperature': must be at most 1.", 'temperature')
  expect((await ask('m', { temperature: 1.9 })).status).toBe(400)
  refuse = () => openai('Your prompt is not supported: seed of evil.')
  expect((await ask('m', {})).status).toBe(400)
  expect(asked).toHaveLength(3)
})

test('Gemini names its fields in two ways, and has them inside another', async () => {
  refuse = (body) =>
    'topK' in (body['generationConfig'] as Body)
      ? {
          status: 400,
          body: {
            error: {
              code: 400,
              status: 'INVALID_ARGUMENT',
              message: `Invalid JSON payload received. Unknown name "top_k" at 'generation_config': Cannot find field.`,
            },
          },
        }
      : undefined
  const response = await fetch(new URL('/v1beta/models/g:generateContent', gateway.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: '{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"topK":4,"temperature":1.0}}',
  })
  expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, 'topK'])
  expect(asked[1]?.['generationConfig']).toEqual({ temperature: 1 })
})
