/** The sandbox accepts the same requests as Google's server. */
import { expect, test } from 'bun:test'
import { createVendor } from '../server.ts'

const vendor = createVendor({})
async function ask(action: string, body: object, model = 'sandbox-chat'): Promise<{ status: number; body: unknown }> {
  const url = `http://sandbox/v1beta/models/${model}:${action}`
  const answer = await vendor.answer(new Request(url, { method: 'POST', body: JSON.stringify(body) }))
  return { status: answer.status, body: await answer.json() }
}
const contents = [{ role: 'user', parts: [{ text: 'Reply with exactly PONG' }] }]
const bytes = Buffer.from([251, 255, 254, 63])

test.each([
  ['plain', { contents }],
  [
    'both alphabets',
    {
      contents: [
        { parts: [{ text: 'x' }, { inlineData: { mimeType: 'image/png', data: bytes.toString('base64url') } }] },
      ],
    },
  ],
  ['padding', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: bytes.toString('base64') } }] }] }],
  [
    'an answer by JSON schema',
    { contents, generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } } },
  ],
  [
    'schemas as the SDK types them',
    {
      contents,
      tools: [
        {
          functionDeclarations: [
            {
              name: 'f',
              parameters: {
                type: 'OBJECT',
                properties: { a: { type: 'ARRAY', maxItems: '5', items: { type: 'TYPE_UNSPECIFIED' } } },
              },
            },
          ],
        },
      ],
    },
  ],
  [
    'what a function gives back',
    { contents, tools: [{ functionDeclarations: [{ name: 'f', responseJsonSchema: { type: 'string' } }] }] },
  ],
])('takes %s', async (_, body) => {
  expect(await ask('generateContent', body)).toMatchObject({ status: 200 })
})

test('refuses invalid base64 and unknown fields', async () => {
  const data = { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'not base64!' } }] }] }
  expect(await ask('generateContent', data)).toMatchObject({ status: 400 })
  expect(await ask('generateContent', { contents, wish: 1 })).toMatchObject({ status: 400 })
})

test('obeys orders and caches in this dialect, too', async () => {
  const systemInstruction = { parts: [{ text: 'A rule of the house. '.repeat(400) }] }
  const first = await ask('generateContent', { contents, systemInstruction })
  expect(first.body).toMatchObject({ candidates: [{ content: { parts: [{ text: 'PONG' }] } }] })
  const again = await ask('generateContent', { contents, systemInstruction })
  const cached = expect.any(Number) as number
  expect(again.body).toMatchObject({ usageMetadata: { cachedContentTokenCount: cached } })
})

test('embeds one content or several, with embedding models only', async () => {
  const content = { parts: [{ text: 'one' }] }
  const one = await ask('embedContent', { content, outputDimensionality: 8 }, 'sandbox-embedding-small')
  expect((one.body as { embedding: { values: number[] } }).embedding.values).toHaveLength(8)
  const requests = [{ model: 'models/sandbox-embedding-small', content }, { content }]
  const both = await ask('batchEmbedContents', { requests }, 'sandbox-embedding-small')
  expect((both.body as { embeddings: object[] }).embeddings).toHaveLength(2)
  expect(await ask('embedContent', { content })).toMatchObject({ status: 404 })
  expect(await ask('embedContent', {}, 'sandbox-embedding-small')).toMatchObject({ status: 400 })
})
