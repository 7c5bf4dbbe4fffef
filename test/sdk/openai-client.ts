/**
 * The official `openai` package for JavaScript in a process of its own, in Bun or in Node. It reads orders from
 * standard input and writes the parsed answers to standard output. The environment variable SDK names the version.
 */
import { createInterface } from 'node:readline'
import type { ChatCompletionMessageParam } from 'openai-6/resources/chat/completions'
import type * as Package from 'openai-6'
import type { OpenAI } from 'openai-6'
import type * as ZodHelpers from 'openai-6/helpers/zod'
import { z } from 'zod'
import type {
  AddressedCall,
  ReadAnswer,
  Command,
  Replies,
  Reply,
  SeenError,
  SeenImageEvent,
  StreamedAnswer,
} from './protocol.ts'

const is7 = process.env['SDK'] === 'openai-7'
/** The two majors have the same surface here, but private members keep their types apart. */
const sdk = (is7 ? await import('openai-7') : await import('openai-6')) as typeof Package
const { zodResponseFormat } = (
  is7 ? await import('openai-7/helpers/zod') : await import('openai-6/helpers/zod')
) as typeof ZodHelpers
const { VERSION } = is7 ? await import('openai-7/version') : await import('openai-6/version')

const person = z.object({ name: z.string(), age: z.int().min(0), tags: z.array(z.string()) })

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming

const answered = (completion: OpenAI.ChatCompletion & { _request_id?: string | null }): ReadAnswer => ({
  completion,
  requestId: completion._request_id ?? null,
})

/** Kept, like in a program that runs for long: one that was failed or aborted must serve the next call as well. */
const clients = new Map<string, OpenAI>()

function connect({ baseUrl, key, retriesMax, timeoutMs, organization }: AddressedCall): OpenAI {
  const options = {
    baseURL: baseUrl,
    apiKey: key,
    ...(organization && { organization, project: 'proj_test' }),
    ...(retriesMax !== undefined && { maxRetries: retriesMax }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  }
  const name = JSON.stringify(options)
  const client = clients.get(name) ?? new sdk.OpenAI(options)
  clients.set(name, client)
  return client
}

async function stream(client: OpenAI, body: Body, { stopAfter, leave }: AddressedCall): Promise<StreamedAnswer> {
  const opened = await client.chat.completions.create({ ...body, stream: true }).withResponse()
  const chunks: OpenAI.ChatCompletionChunk[] = []
  let error: SeenError | null = null
  try {
    for await (const chunk of opened.data) {
      chunks.push(chunk)
      if (chunks.length !== stopAfter) continue
      if (leave === 'break') break
      opened.data.controller.abort()
    }
  } catch (thrown) {
    error = seenError(thrown)
  }
  return { chunks, requestId: opened.request_id, error }
}

async function toolRound(client: OpenAI, body: Body, result: string): Promise<ReadAnswer[]> {
  const first = await client.chat.completions.create(body)
  const message = first.choices[0]?.message
  if (!message) throw new Error('no choice')
  const results = (message.tool_calls ?? []).map((call): ChatCompletionMessageParam => {
    return { role: 'tool', tool_call_id: call.id, content: result }
  })
  const { tool_choice: _, ...rest } = body
  const messages = [...body.messages, message, ...results]
  return [answered(first), answered(await client.chat.completions.create({ ...rest, messages }))]
}

async function runTools(client: OpenAI, body: Body, result: string): Promise<Replies['runTools']> {
  const inputs: unknown[] = []
  const tools = (body.tools ?? []).map((tool) => {
    if (tool.type !== 'function') throw new Error('not a function')
    const run = (input: object): string => {
      inputs.push(input)
      return result
    }
    return { type: 'function', function: { ...tool.function, function: run, parse: JSON.parse } } as const
  })
  const runner = body.stream
    ? client.chat.completions.runTools({ ...body, stream: true, tools: tools as never })
    : client.chat.completions.runTools({ ...body, stream: false, tools: tools as never })
  return { text: await runner.finalContent(), inputs, usage: await runner.totalUsage() }
}

/** The parameters of an edit: PNG files as the package makes them. */
async function withFiles({ body, pictures = [], mask }: AddressedCall): Promise<OpenAI.ImageEditParams> {
  const file = (base64: string, name: string): Promise<File> =>
    sdk.toFile(Buffer.from(base64, 'base64'), name, { type: 'image/png' })
  const files = await Promise.all(pictures.map((one, i) => file(one, `${i}.png`)))
  const [only] = files
  const image = only && files.length === 1 ? only : files
  return {
    ...(body as OpenAI.ImageEditParams),
    image,
    ...(mask !== undefined && { mask: await file(mask, 'mask.png') }),
  }
}

const commands: { [Name in Command]: (client: OpenAI, order: AddressedCall) => Promise<Replies[Name]> } = {
  describe: async () => {
    const runtime = process.versions['bun'] ? `bun ${process.versions['bun']}` : `node ${process.versions.node}`
    return { runtime, sdk: VERSION }
  },
  create: async (client, { body }) => answered(await client.chat.completions.create(body as Body)),
  stream: (client, order) => stream(client, order.body as Body, order),
  assemble: async (client, { body }) => {
    const completion = await client.chat.completions.stream({ ...(body as Body), stream: true }).finalChatCompletion()
    return { completion, requestId: null }
  },
  parse: async (client, { body }) => {
    const format = zodResponseFormat(person, 'person')
    const completion = await client.chat.completions.parse({ ...(body as Body), response_format: format })
    const parsed = completion.choices[0]?.message.parsed
    if (!parsed) throw new Error('nothing was parsed')
    return { ...answered(completion), parsed }
  },
  toolRound: (client, { body, result = '' }) => toolRound(client, body as Body, result),
  runTools: (client, { body, result = '' }) => runTools(client, body as Body, result),
  models: async (client) => {
    const models: OpenAI.Model[] = []
    for await (const model of client.models.list()) models.push(model)
    return models
  },
  model: (client, { id = '' }) => client.models.retrieve(id),
  parallel: async (client, { body, times = 1 }) => {
    const calls = Array.from({ length: times }, () => client.chat.completions.create(body as Body))
    return (await Promise.all(calls)).map(answered)
  },
  image: async (client, order) => {
    if (order.pictures) return client.images.edit({ ...(await withFiles(order)), stream: false })
    return client.images.generate({ ...(order.body as OpenAI.ImageGenerateParams), stream: false })
  },
  imageStream: async (client, order) => {
    const events: SeenImageEvent[] = []
    const opened = order.pictures
      ? await client.images.edit({ ...(await withFiles(order)), stream: true })
      : await client.images.generate({ ...(order.body as OpenAI.ImageGenerateParams), stream: true })
    for await (const event of opened) events.push(event)
    return events
  },
}

function seenError(thrown: unknown): SeenError {
  if (!(thrown instanceof Error)) throw new TypeError(`not an error: ${String(thrown)}`)
  const { name } = thrown.constructor
  const isApiError = thrown instanceof sdk.APIError
  const { status = null, code = null, param = null, type = null, requestID = null } = isApiError ? thrown : {}
  const message = isApiError ? thrown.message : (thrown.stack ?? thrown.message)
  const fields = { status: status ?? null, code: code ?? null, param: param ?? null, type: type ?? null }
  return { name, isApiError, message, ...fields, requestId: requestID ?? null }
}

async function obey(order: AddressedCall): Promise<Reply> {
  try {
    return { seen: await commands[order.command](connect(order), order) }
  } catch (thrown) {
    return { error: seenError(thrown) }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await obey(JSON.parse(line) as AddressedCall)))
}
