/**
 * A strict vendor. It refuses what the real one refuses, calls two tools at once, then one, and then answers. The
 * client must return what the vendor sent: each result with its own call, and every digit unchanged.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { Dialect } from '../../src/domain/turn.ts'
import { parseExact } from '../../src/lib/json/exact-json.ts'
import { Raw, written, type VendorAnswer } from './answers.ts'
import { AWS_EVENT_STREAM } from '../support/aws-frames.ts'
import { converseRequests } from './converse-refusals.ts'
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
  /** The credential, for the fake's own origin. The default is a key. */
  readonly key?: (origin: string) => string
}

/** Credentials that the fake exchanges for a token. */
const entraApplication = (origin: string): string =>
  JSON.stringify({ tenant_id: 't', client_id: 'c', client_secret: 's', token_uri: `${origin}/token` })
const awsKeys = (): string =>
  JSON.stringify({ access_key_id: 'AKIDEXAMPLE', secret_access_key: 'secret', region: 'us-east-1' })
const serviceAccount = (origin: string): string => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return JSON.stringify({ client_email: 'robot@example.com', private_key: key, token_uri: `${origin}/token` })
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
  { ...chat('azure-deployments', checks.openaiChat, 'gpt-4.1'), base: '/openai', key: entraApplication },
  // aws-samples/bedrock-engineer#240
  {
    ...chat('bedrock', without({ thoughts: 'refused', developer: 'refused' }), 'openai.gpt-oss-120b-1:0'),
    base: '/openai/v1',
    key: awsKeys,
  },
  {
    preset: 'bedrock-anthropic',
    base: '/anthropic/v1',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    checks: { messages: checks.anthropicMessages },
    key: awsKeys,
  },
  // The kinds of models there: one whose own fields are known, one with rules of Amazon's own, one behind a template.
  ...[
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3#amazon.nova-pro-v1:0',
    'us.meta.llama4-maverick-17b-instruct-v1:0',
  ].map((model): Profile => ({
    preset: 'bedrock-converse',
    base: '',
    model,
    checks: { converse: converseRequests },
    key: awsKeys,
  })),
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
  chat('zai', checks.glmChat, 'glm-5.3'),
  chat('zhipu', checks.glmChat, 'glm-5.2'),
  chat('minimax', checks.minimaxChat, 'MiniMax-M3'),
  chat('hunyuan', checks.hunyuanChat, 'hunyuan-2.0-instruct-20251111'),
  // docs.siliconflow.cn/api-reference
  chat('siliconflow', without({ lengthMax: { stop: 4 }, developer: 'refused' }), 'Qwen/Qwen3.6-27B'),
  chat('stepfun', checks.stepChat, 'step-3.5-flash'),
  chat('nvidia', checks.nvidiaChat, 'nvidia/nemotron-3-super-120b-a12b'),
  chat('cloudflare', checks.cloudflareChat, '@cf/openai/gpt-oss-120b'),
  chat('cohere', checks.cohereChat, 'command-a-03-2025'),
  ...['together', 'fireworks', 'deepinfra', 'alibaba', 'qianfan', 'huggingface', 'ollama', 'llamacpp'].map((one) =>
    chat(one, checks.plainChat),
  ),
  { ...chat('vllm', checks.plainChat), checks: { chat: checks.plainChat, messages: checks.anthropicMessages } },
  { ...chat('perplexity', checks.plainChat), checks: { responses: checks.plainResponses } },
  { ...chat('custom-responses', checks.plainChat, 'gpt-5.5'), checks: { responses: checks.plainResponses } },
  ...['claude-sonnet-4-5', 'claude-opus-5'].map((model) => ({
    ...chat('anthropic', checks.plainChat, model),
    checks: { messages: checks.anthropicMessages },
  })),
  {
    preset: 'vertex-anthropic',
    base: '/v1beta1/projects/p/locations/global/publishers/anthropic',
    model: 'claude-sonnet-4-5@20250929',
    checks: { messages: checks.publisherMessages },
    key: serviceAccount,
  },
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
  if (/^\/model\/[^/]+\/converse(?:-stream)?$/.test(path)) return 'converse'
  if (path.endsWith('/responses')) return 'responses'
  if (path.endsWith('/messages') || /:(?:streamR|r)awPredict$/.test(path)) return 'messages'
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

const TOKEN = 'token-of-the-fake'

/** What is wrong with the credential or the address of a request, at vendors where neither is plain. */
function wrongIn({ preset, model }: Profile, { url, headers }: Request): string | undefined {
  const authorization = headers.get('authorization') ?? ''
  if (preset === 'bedrock-converse' && !url.includes(`/model/${encodeURIComponent(model.split('#')[0] ?? '')}/`)) {
    return 'not the model'
  }
  if (preset.startsWith('bedrock')) {
    return authorization.startsWith('AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/') ? undefined : 'not signed'
  }
  if (preset !== 'vertex-anthropic' && preset !== 'azure-deployments') return undefined
  if (authorization !== `Bearer ${TOKEN}`) return 'not the token'
  if (!url.includes(encodeURIComponent(model))) return 'no model in the path'
  const isOld = preset === 'azure-deployments'
  return isOld && !/\/openai\/deployments\/[^/]+\/[a-z/]+\?api-version=2024-10-21$/.test(url)
    ? 'Resource not found'
    : undefined
}

export function startVendor(profile: Profile, mind: Mind = lookTwice): Vendor {
  const seen: Vendor['seen'] = []
  const refused: string[] = []
  const refuse = ({ status, body, headers = {} }: Refusal): Response => {
    refused.push(`${status} ${JSON.stringify(body)}`)
    return Response.json(body, { status, headers })
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/token') return Response.json({ access_token: TOKEN, expires_in: 3_600 })
      const wrong = wrongIn(profile, request)
      if (wrong !== undefined) return refuse({ status: 401, body: { error: { message: wrong } } })
      const dialect = dialectOf(pathname)
      const text = await request.text()
      const body = fieldsOf(JSON.parse(text))
      seen.push({ dialect, body })
      const check = profile.checks[dialect]
      if (!check) return refuse({ status: 404, body: { error: { message: `no such path: ${pathname}` } } })
      const view = seenBy[dialect](fieldsOf(parseExact(text)))
      const refusal = check({ body, seen: view, model: profile.model, path: pathname })
      if (refusal) return refuse(refusal)
      const said = mind({ dialect, body, seen: view })
      if (typeof said === 'string') return refuse({ status: 400, body: { error: { message: `MIXED UP: ${said}` } } })
      const calls = said.calls.map((call) => ({ ...call, id: idFor(profile, call.id) }))
      const { whole, stream } = written[dialect]({ ...said, calls })
      if (body['stream'] === true || /:stream(?:GenerateContent|RawPredict)$|\/converse-stream$/.test(pathname)) {
        const type = dialect === 'converse' ? AWS_EVENT_STREAM : 'text/event-stream'
        return new Response(stream, { headers: { 'content-type': type } })
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
