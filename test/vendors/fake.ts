/**
 * A strict vendor. It refuses what the real one refuses, calls two tools at once, then one, and then answers. The
 * client must return what the vendor sent: each result with its own call, and every digit unchanged.
 */
import type { Dialect } from '../../src/domain/turn.ts'
import { parseExact } from '../../src/lib/json/exact-json.ts'
import { Raw, written, type VendorAnswer } from './answers.ts'
import * as checks from './refusals.ts'
import type { Check, Refusal } from './refusals.ts'
import { fieldsOf, seenBy, type Fields, type SeenRequest } from './seen.ts'

export type Profile = {
  readonly preset: string
  /** Where it answers, as its preset has it. */
  readonly base: string
  readonly model: string
  /** By dialect: what it refuses in each. */
  readonly checks: Partial<Readonly<Record<Dialect, Check>>>
  readonly yaml?: string
}

const chat = (preset: string, check: Check, model = 'some-model'): Profile => ({
  preset,
  base: '/v1',
  model,
  checks: { chat: check },
})

const { chatWithout: without } = checks
const LOGPROBS = ['logprobs', 'top_logprobs', 'logit_bias']
const PENALTIES = ['presence_penalty', 'frequency_penalty']

/** A row for each vendor of text, and for the families that make a difference. */
export const profiles: readonly Profile[] = [
  ...['gpt-4.1', 'gpt-5', 'gpt-5.6-sol', 'o3'].map((model) => ({
    ...chat('openai', checks.openaiChat, model),
    checks: { chat: checks.openaiChat, responses: checks.openaiResponses },
  })),
  { ...chat('azure', checks.openaiChat, 'gpt-5.6-sol') },
  chat('mistral', checks.mistralChat, 'mistral-large-latest'),
  chat('deepseek', checks.deepseekChat, 'deepseek-v4-pro'),
  // console.groq.com/docs/openai
  chat('groq', without({ unknownFields: [...LOGPROBS, 'top_k'], thoughts: 'refused' }), 'openai/gpt-oss-120b'),
  // inference-docs.cerebras.ai/resources/openai
  chat(
    'cerebras',
    without({ unknownFields: [...PENALTIES, 'logit_bias', 'top_k'], thoughts: 'refused' }),
    'gpt-oss-120b',
  ),
  // docs.x.ai/docs/guides/reasoning
  chat('xai', without({ unknownFields: [...PENALTIES, 'stop', 'reasoning_effort', 'top_k'] }), 'grok-4'),
  // ujisati/claude-code-provider-proxy#11
  chat('openrouter', without({ lengthMax: { user: 128 } }), 'x/y'),
  chat('moonshot', checks.kimiChat, 'kimi-k2-thinking'),
  chat('ark', checks.arkChat, 'doubao-seed'),
  chat('modelark', checks.arkChat, 'doubao-seed'),
  chat('custom', checks.zhipuChat, 'glm-5'),
  ...['together', 'fireworks', 'deepinfra', 'alibaba', 'ollama', 'llamacpp'].map((one) => chat(one, checks.plainChat)),
  { ...chat('vllm', checks.plainChat), checks: { chat: checks.plainChat, messages: checks.anthropicMessages } },
  { ...chat('perplexity', checks.plainChat), checks: { responses: checks.plainResponses } },
  { ...chat('custom-responses', checks.plainChat, 'gpt-5.5'), checks: { responses: checks.plainResponses } },
  ...['claude-sonnet-4-5', 'claude-opus-5'].map((model) => ({
    ...chat('anthropic', checks.plainChat, model),
    checks: { messages: checks.anthropicMessages },
  })),
  { preset: 'gemini', base: '/v1beta', model: 'gemini-3-pro-preview', checks: { gemini: checks.geminiContents } },
]

/** Arguments whose digits no number of JavaScript holds, and spellings that none keeps. */
export const ARGS = ['{"n":1,"at":9007199254740993}', '{"n":2,"at":1.0}', '{"n":3,"at":1e3}'] as const

const script: readonly VendorAnswer[] = [
  {
    thought: 'I need both.',
    text: '',
    calls: [
      { id: 'call_b', name: 'TOOL', args: ARGS[0] },
      { id: 'call_a', name: 'TOOL', args: ARGS[1] },
    ],
  },
  { thought: 'And one more.', text: 'Nearly there.', calls: [{ id: 'call_c', name: 'TOOL', args: ARGS[2] }] },
  { thought: '', text: 'All done.', calls: [] },
]

/** The number of the call that a result belongs to must be in it, and all that was called must be as it was said. */
function mixedUp({ messages }: SeenRequest): string | undefined {
  const calls = messages.flatMap((message) => message.calls)
  const results = messages.flatMap((message) => message.results)
  for (const [i, { args }] of calls.entries()) {
    if (args.replaceAll(/\s/g, '') !== ARGS[i]) return `call ${i} came back with ${args}, it was ${ARGS[i]}`
  }
  for (const [i, { id, text }] of results.entries()) {
    const call = id === '' ? calls[i] : calls.find((one) => one.id === id)
    const n = /"n":(\d)/.exec(call?.args ?? '')?.[1]
    if (text !== `result ${n}`) return `the result of call ${n} is '${text}'`
  }
  return undefined
}

/** What a vendor says to a request that it takes; or what is wrong with what came back of its own words. */
export type Mind = (sent: {
  readonly dialect: Dialect
  readonly body: Fields
  readonly seen: SeenRequest
}) => VendorAnswer | string

export type Vendor = {
  readonly origin: string
  readonly seen: { dialect: Dialect; body: Fields }[]
  /** What it refused, as it said it. */
  readonly refused: string[]
  stop(): Promise<void>
}

function dialectOf(path: string): Dialect {
  if (path.endsWith('/responses')) return 'responses'
  if (path.endsWith('/messages')) return 'messages'
  return path.includes(':') ? 'gemini' : 'chat'
}

/** Plays the script before the tool that is called `look`. */
const lookTwice: Mind = ({ seen }) => {
  const fault = mixedUp(seen)
  if (fault !== undefined) return fault
  const results = seen.messages.flatMap((message) => message.results).length
  const said = script[results === 0 ? 0 : results < 3 ? 1 : 2] ?? expectNever()
  if (seen.tools.length === 0) return { thought: '', text: 'All done.', calls: [] }
  const name = seen.tools.find((tool) => tool.includes('look')) ?? 'look'
  return { ...said, calls: said.calls.map((call) => ({ ...call, name })) }
}

export function startVendor(profile: Profile, mind: Mind = lookTwice): Vendor {
  const seen: Vendor['seen'] = []
  const refused: string[] = []
  const refuse = ({ status, body }: Refusal): Response => {
    refused.push(`${status} ${JSON.stringify(body)}`)
    return Response.json(body, { status })
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const dialect = dialectOf(pathname)
      const text = await request.text()
      const body = fieldsOf(JSON.parse(text))
      seen.push({ dialect, body })
      const check = profile.checks[dialect]
      if (!check) return refuse({ status: 404, body: { error: { message: `no such path: ${pathname}` } } })
      const view = seenBy[dialect](fieldsOf(parseExact(text)))
      const refusal = check({ body, seen: view, model: profile.model })
      if (refusal) return refuse(refusal)
      const said = mind({ dialect, body, seen: view })
      if (typeof said === 'string') return refuse({ status: 400, body: { error: { message: `MIXED UP: ${said}` } } })
      const calls = said.calls.map((call) => ({ ...call, id: idFor(profile, call.id) }))
      const { whole, stream } = written[dialect]({ ...said, calls })
      if (body['stream'] === true || pathname.endsWith(':streamGenerateContent')) {
        return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
      }
      const answer = whole instanceof Raw ? whole.text : JSON.stringify(whole)
      return new Response(answer, { headers: { 'content-type': 'application/json' } })
    },
  })
  return { origin: `http://127.0.0.1:${server.port}`, seen, refused, stop: () => server.stop(true) }
}

const expectNever = (): never => {
  throw new Error('the script has no such turn')
}

/** Ids as each vendor makes them. */
const idFor = ({ preset }: Profile, id: string): string =>
  preset === 'mistral' ? `${id.replace('_', '')}0000`.slice(0, 9) : preset === 'moonshot' ? `functions.look:${id}` : id
