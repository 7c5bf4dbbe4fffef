/** `param` names a field that the client sent, in its own dialect, or is null. */
import { expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'

let vendor: Bun.Server<unknown>
/** What the vendor finds fault with. */
let named = ''

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        await request.text()
        const error = { message: 'That is no good.', type: 'invalid_request_error', param: named, code: null }
        return Response.json({ error }, { status: 400 })
      },
    })
    const price = 'price: { input: 1, output: 2 }'
    return {
      yaml: `
sandbox: false
providers:
  v: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
models:
  m: { ${price}, offers: [{ provider: v, model: up }] }
  small: { ${price}, offers: [{ provider: v, model: up, context_tokens: 100 }] }
`,
    }
  },
  () => vendor.stop(true),
)

const bodies = {
  '/v1/chat/completions': (content: string) => ({ max_tokens: 9, messages: [{ role: 'user', content }] }),
  '/v1/messages': (content: string) => ({ max_tokens: 9, messages: [{ role: 'user', content }] }),
  '/v1/responses': (input: string) => ({ max_output_tokens: 9, input }),
  '/v1beta/models/MODEL:generateContent': (text: string) => ({
    generationConfig: { maxOutputTokens: 9 },
    contents: [{ role: 'user', parts: [{ text }] }],
  }),
}

type Refusal = {
  readonly error: {
    readonly param?: string | null
    readonly details?: readonly { readonly fieldViolations?: readonly { readonly field: string }[] }[]
  }
}

async function paramOf(path: keyof typeof bodies, model: string, words: string): Promise<string | null | undefined> {
  const response = await fetch(new URL(path.replace('MODEL', model), gateway.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...(path.includes('MODEL') ? {} : { model }), ...bodies[path](words) }),
  })
  expect(response.status).toBe(400)
  const { error } = (await response.json()) as Refusal
  if (path === '/v1/messages') expect(JSON.stringify(error)).not.toContain('param')
  return path.includes('MODEL') ? error.details?.[1]?.fieldViolations?.[0]?.field : error.param
}

test.each([
  ['/v1/chat/completions', 'messages'],
  ['/v1/responses', 'input'],
  ['/v1beta/models/MODEL:generateContent', 'contents'],
] as const)('%s: what is too long is %s', async (path, param) => {
  expect(await paramOf(path, 'small', 'word '.repeat(400))).toBe(param)
})

test.each([
  ['/v1/chat/completions', 'messages[0].content', 'messages[0].content'],
  ['/v1/chat/completions', 'max_completion_tokens', null],
  ['/v1/messages', 'messages[0].content', undefined],
  ['/v1/responses', 'messages[0].content', null],
  ['/v1beta/models/MODEL:generateContent', 'max_completion_tokens', undefined],
] as const)('%s: a vendor that names %s leaves %s', async (path, theirs, param) => {
  named = theirs
  expect(await paramOf(path, 'm', 'hi')).toBe(param)
})
