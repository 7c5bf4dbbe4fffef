/**
 * SDKs and frameworks with tool loops, against the strict vendors, with model names that they know. What they send
 * depends on these names.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { GoogleGenAI } from '@google/genai'
import { HumanMessage, type AIMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages'
import { tool as langTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool, type LanguageModel } from 'ai'
import { z } from 'zod'
import { think, WORD } from '../agents/mind.ts'
import { strictVendors } from '../agents/vendors.ts'
import { openTill, PRICE, type Till } from './till.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startVendor, type Vendor } from '../vendors/fake.ts'

/** It would print what it leaves out by itself. */
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const QUESTION = 'Ask for the secret word and tell it.'
const RESULT = `The word is ${WORD}.`

type To = { readonly origin: string; readonly key: string; readonly model: string }
type Sdk = { readonly name: string; readonly model: string; readonly run: (to: To) => Promise<string> }

const secretWord = tool({ description: 'Tells the secret word.', inputSchema: z.object({}), execute: () => RESULT })

async function withAiSdk(model: LanguageModel): Promise<string> {
  const options = {
    model,
    tools: { secret_word: secretWord },
    stopWhen: stepCountIs(4),
    prompt: QUESTION,
    maxRetries: 0,
  }
  const { text } = await generateText({ ...options, temperature: 0.2, seed: 7 })
  const stream = streamText({ ...options, onError: ({ error }) => console.error(error) })
  const streamed = await stream.text
  return text === streamed ? text : `whole '${text}', streamed '${streamed}'`
}

async function withLangChain({ origin, key, model }: To, useResponsesApi: boolean): Promise<string> {
  const word = langTool(() => RESULT, { name: 'secret_word', description: 'Tells the word.', schema: z.object({}) })
  const configuration = { baseURL: `${origin}/v1` }
  const chat = new ChatOpenAI({ model, apiKey: key, useResponsesApi, maxRetries: 0, configuration }).bindTools([word])
  const messages: BaseMessage[] = [new HumanMessage(QUESTION)]
  const asked: AIMessage = await chat.invoke(messages)
  messages.push(asked)
  for (const call of asked.tool_calls ?? []) {
    const result: unknown = await word.invoke(call)
    messages.push(result as ToolMessage)
  }
  return (await chat.invoke(messages)).text
}

async function withToolRunner({ origin, key, model }: To): Promise<string> {
  const client = new Anthropic({ apiKey: key, baseURL: origin, maxRetries: 0 })
  const inputSchema = { type: 'object', properties: {} } as const
  const word = betaTool({ name: 'secret_word', description: 'Tells it.', inputSchema, run: () => RESULT })
  const messages = [{ role: 'user' as const, content: QUESTION }]
  const last = await client.beta.messages.toolRunner({ model, max_tokens: 4_000, messages, tools: [word] })
  return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

async function withGenAi({ origin, key, model }: To): Promise<string> {
  const ai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })
  const word = {
    tool: () => Promise.resolve({ functionDeclarations: [{ name: 'secret_word', description: 'Tells the word.' }] }),
    callTool: (calls: readonly { id?: string; name?: string }[]) =>
      Promise.resolve(
        calls.map(({ id, name }) => ({
          functionResponse: { ...(id && { id }), name: name ?? '', response: { result: RESULT } },
        })),
      ),
  }
  const { text } = await ai.models.generateContent({ model, contents: QUESTION, config: { tools: [word] } })
  return text ?? ''
}

const sdks: readonly Sdk[] = [
  {
    name: '@ai-sdk/openai, chat',
    model: 'gpt-5',
    run: ({ origin, key, model }) => withAiSdk(createOpenAI({ baseURL: `${origin}/v1`, apiKey: key }).chat(model)),
  },
  {
    name: '@ai-sdk/openai, responses',
    model: 'gpt-5.1',
    run: ({ origin, key, model }) => withAiSdk(createOpenAI({ baseURL: `${origin}/v1`, apiKey: key }).responses(model)),
  },
  {
    name: '@ai-sdk/openai-compatible',
    model: 'deepseek-chat',
    run: ({ origin, key, model }) =>
      withAiSdk(createOpenAICompatible({ name: 'tollgate', baseURL: `${origin}/v1`, apiKey: key })(model)),
  },
  {
    name: '@ai-sdk/anthropic',
    model: 'claude-sonnet-4-5',
    run: ({ origin, key, model }) => withAiSdk(createAnthropic({ baseURL: `${origin}/v1`, apiKey: key })(model)),
  },
  {
    name: '@ai-sdk/google',
    model: 'gemini-2.5-pro',
    run: ({ origin, key, model }) =>
      withAiSdk(createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: key })(model)),
  },
  { name: 'LangChain, chat', model: 'gpt-4.1', run: (to) => withLangChain(to, false) },
  { name: 'LangChain, responses', model: 'o3', run: (to) => withLangChain(to, true) },
  { name: '@anthropic-ai/sdk, its tool runner', model: 'claude-opus-4-5', run: withToolRunner },
  { name: '@google/genai, its calls by itself', model: 'gemini-2.5-flash', run: withGenAi },
]

describe.each([...strictVendors])('before $name', ({ profile }) => {
  let vendor: Vendor
  let gateway: TestGateway
  let till: Till

  beforeAll(async () => {
    vendor = startVendor(profile, think)
    const { preset, base, model } = profile
    const sold = sdks.map(
      ({ model: id }) =>
        `  ${id}: { price: ${PRICE}, output_tokens_max: 64000, offers: [{ provider: v, model: ${model} }] }`,
    )
    const provider = `  v: { preset: ${preset}, base_url: '${vendor.origin}${base}', key: k, allow_private: true }`
    gateway = await startGateway({ yaml: ['sandbox: false', 'providers:', provider, 'models:', ...sold].join('\n') })
    till = openTill(() => gateway)
  }, 30_000)

  afterAll(async () => {
    await gateway.close()
    await vendor.stop()
  }, 30_000)

  test.each([...sdks])('$name calls its tool and says what it said', async ({ model, run }) => {
    const me = await till.join()
    const before = vendor.seen.length
    const text = await run({ origin: new URL(gateway.baseUrl).origin, key: me.key, model })
    expect(text).toBe(`The word is ${WORD}. The file says nothing.`)
    expect(vendor.refused).toEqual([])
    const records = await till.recordsOf(me, vendor.seen.length - before)
    await till.expectBalance(me, records)
  })
})
