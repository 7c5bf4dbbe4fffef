/** Google's official SDK directly against the sandbox. The gateway may rely on what the SDK accepts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel, type Content } from '@google/genai'
import { startSandboxProcess, type TestSandbox } from '../support/gateway.ts'

let sandbox: TestSandbox
let ai: GoogleGenAI

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  ai = new GoogleGenAI({
    apiKey: 'sk-test',
    httpOptions: { baseUrl: new URL(sandbox.baseUrl).origin, apiVersion: 'v1beta' },
  })
})
afterAll(() => sandbox.stop())

const model = 'sandbox-chat'
const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const tools = [{ functionDeclarations: [weather] }]

test('text, its usage and what it answers to', async () => {
  const reply = await ai.models.generateContent({ model, contents: 'Say exactly: Hello, world!' })
  expect(reply.text).toBe('Hello, world!')
  expect(reply.candidates?.[0]).toMatchObject({ finishReason: 'STOP', index: 0 })
  const { promptTokenCount = 0, candidatesTokenCount, totalTokenCount } = reply.usageMetadata ?? {}
  expect(candidatesTokenCount).toBe(4)
  expect(totalTokenCount).toBe(promptTokenCount + 4)
  expect(reply.modelVersion).toBe(model)
})

test('a stream, its limit and its stop sequence', async () => {
  const config = { maxOutputTokens: 5 }
  const chunks = await Array.fromAsync(
    await ai.models.generateContentStream({ model, contents: 'Write 50 tokens', config }),
  )
  expect(chunks.filter(({ text }) => text)).toHaveLength(5)
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('MAX_TOKENS' as never)
  expect(chunks.at(-1)?.usageMetadata).toMatchObject({ candidatesTokenCount: 5 })
  const stopped = await ai.models.generateContent({
    model,
    contents: 'Say exactly: a, b',
    config: { stopSequences: [','], systemInstruction: 'Be brief.' },
  })
  expect(stopped.text).toBe('a')
})

test('thoughts are counted apart and shown when asked for', async () => {
  const thinkingConfig = { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH }
  const reply = await ai.models.generateContent({ model, contents: 'Write 10 tokens', config: { thinkingConfig } })
  expect(reply.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ thought: true })
  expect(reply.usageMetadata).toMatchObject({ candidatesTokenCount: 10, thoughtsTokenCount: 32 })
})

describe('tools', () => {
  const question: Content = { role: 'user', parts: [{ text: 'What is the weather in both Oslo and Rome?' }] }
  const asked = async (): Promise<Content> => {
    const reply = await ai.models.generateContent({ model, contents: [question], config: { tools } })
    expect(reply.functionCalls).toMatchObject([{ args: { city: 'Oslo' } }, { args: { city: 'Rome' } }])
    return reply.candidates?.[0]?.content ?? {}
  }
  const results: Content = {
    role: 'user',
    parts: ['Oslo: 4', 'Rome: 21'].map((output) => ({
      functionResponse: { name: 'get_weather', response: { output } },
    })),
  }

  test('parallel calls, of which the first is signed; the results go back', async () => {
    const answer = await asked()
    expect(answer.parts?.map(({ thoughtSignature }) => typeof thoughtSignature)).toEqual(['string', 'undefined'])
    const reply = await ai.models.generateContent({ model, contents: [question, answer, results], config: { tools } })
    expect(reply.text).toContain('Oslo: 4')
    expect(reply.text).toContain('Rome: 21')
  })

  test('a signature that is missing or of another call is refused', async () => {
    const answer = await asked()
    const [first, second] = answer.parts ?? []
    const unsigned = { role: 'model', parts: [{ functionCall: first?.functionCall ?? {} }, second ?? {}] }
    const swapped = {
      role: 'model',
      parts: [
        { ...second, thoughtSignature: first?.thoughtSignature ?? '' },
        { functionCall: first?.functionCall ?? {} },
      ],
    }
    for (const forged of [unsigned, swapped]) {
      const contents = [question, forged, results]
      const failed = await ai.models
        .generateContent({ model, contents, config: { tools } })
        .catch((error: unknown) => error)
      expect(failed).toMatchObject({ status: 400, message: expect.stringMatching(/signature/i) })
    }
  })

  test('a tool may be forced or forbidden', async () => {
    const call = (mode: FunctionCallingConfigMode) =>
      ai.models.generateContent({
        model,
        contents: 'Hello',
        config: { tools, toolConfig: { functionCallingConfig: { mode } } },
      })
    expect((await call(FunctionCallingConfigMode.ANY)).functionCalls).toHaveLength(1)
    expect((await call(FunctionCallingConfigMode.NONE)).functionCalls).toBeUndefined()
  })
})

test('structured output follows the schema, old and new', async () => {
  const contents = 'Ada is 36 years old'
  const json = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }
  const open = { type: 'OBJECT', properties: { name: { type: 'STRING' }, age: { type: 'INTEGER' } } } as never
  for (const schema of [{ responseJsonSchema: json }, { responseSchema: open }]) {
    const config = { responseMimeType: 'application/json', ...schema }
    const reply = await ai.models.generateContent({ model, contents, config })
    expect(JSON.parse(reply.text ?? '')).toEqual({ name: 'Ada', age: 36 })
  }
})

test('an image is seen and counted', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
  const reply = await ai.models.generateContent({ model, contents: [{ text: 'What is this?' }, image] })
  expect(reply.text).toContain('1 image (image/png)')
  const { totalTokens } = await ai.models.countTokens({ model, contents: [{ text: 'What is this?' }, image] })
  expect(totalTokens).toBe(reply.usageMetadata?.promptTokenCount ?? 0)
})

test("the SDK's own choice of version works, too", async () => {
  const plain = new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl: new URL(sandbox.baseUrl).origin } })
  expect((await plain.models.generateContent({ model, contents: 'Say exactly: v1' })).text).toBe('v1')
})

test('models are listed', async () => {
  const names = (await Array.fromAsync(await ai.models.list())).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['models/sandbox-chat', 'models/sandbox-mini']))
})

test.each([
  ['sandbox-chat!status=503', 503, 'UNAVAILABLE'],
  ['sandbox-chat!status=429,retry-after=3', 429, 'retryDelay\\":\\"3s'],
  ['gemini-none', 404, 'NOT_FOUND'],
])('%s fails as Google does', async (id, status, words) => {
  const failed = await ai.models.generateContent({ model: id, contents: 'Hi' }).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(ApiError)
  expect(failed).toMatchObject({ status, message: expect.stringContaining(words.replaceAll('\\', '')) })
})

test('an error in the middle of a stream throws', async () => {
  const stream = await ai.models.generateContentStream({
    model: 'sandbox-chat!errorEvent=4,pace=5',
    contents: 'Write 20 tokens',
  })
  const texts: unknown[] = []
  const read = async (): Promise<void> => {
    for await (const { text } of stream) texts.push(text)
  }
  expect(await read().catch((error: unknown) => error)).toMatchObject({ status: 500 })
  expect(texts).toHaveLength(3)
})
