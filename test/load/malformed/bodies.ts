/** A full body for each endpoint that reads JSON of clients, and the envelope of its refusals. */
import { SKIP_VALIDATOR } from '../../../src/formats/gemini/signature.ts'
import { sourceText } from '../../support/dialect-fixtures.ts'
import { writePng } from '../../support/test-pictures.ts'
import type { Json } from './shapes.ts'

type Fields = { [name: string]: Json }

/** A transparent picture, by its address. */
const PICTURE = `data:image/png;base64,${writePng({ width: 300, height: 300, channels: 4 }, () => [0, 0, 0, 0]).toString('base64')}`

export type Surface = {
  readonly name: string
  readonly models: readonly string[]
  readonly asked: (model: string) => { readonly path: string; readonly body: Json }
  readonly isEnvelope: (answer: object) => boolean
  /** Whether each answer is one request to the vendor that counts. */
  readonly isCounted: (model: string) => boolean
  /** Videos are paid when they are there. */
  readonly charges: 'now' | 'later' | 'never'
  /** What it gets of the whole, for one model. */
  readonly share: (count: number) => number
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

function isChatEnvelope(answer: object): boolean {
  const { error, ...rest } = answer as { error?: Record<string, unknown> }
  const { message, type, param, code, ...more } = error ?? {}
  if (Object.keys(rest).length > 0 || Object.keys(more).length > 0) return false
  return [message, type, code].every(isText) && (param === null || typeof param === 'string')
}

function isMessagesEnvelope(answer: object): boolean {
  const { type, error } = answer as { type?: unknown; error?: Record<string, unknown> }
  return type === 'error' && isText(error?.['type']) && isText(error?.['message'])
}

function isGeminiEnvelope(answer: object): boolean {
  const { error } = answer as { error?: Record<string, unknown> }
  return typeof error?.['code'] === 'number' && isText(error['status']) && isText(error['message'])
}

const SIDES = ['chat-side', 'messages-side', 'gemini-side', 'responses-side', 'sandbox-chat']
const golden = (dialect: 'chat' | 'messages' | 'gemini' | 'responses'): Fields =>
  JSON.parse(sourceText(dialect, 'request.json')) as Fields

/** What the sandbox takes only where it was signed by itself, and what not every vendor has. */
const SEALED = /^(?:thinking|redacted_thinking|reasoning)$/
const SIGNED = new Set(['thinking', 'mediaResolution', 'context_management'])
const CUSTOM = /^custom/

/** A copy without list entries and fields that are of such a type, or called so. */
function without(value: Json, unwanted: RegExp): Json {
  const isUnwanted = (one: Json): boolean =>
    typeof one === 'object' &&
    one !== null &&
    !Array.isArray(one) &&
    typeof one['type'] === 'string' &&
    unwanted.test(one['type'])
  if (Array.isArray(value)) return value.filter((one) => !isUnwanted(one)).map((one) => without(one, unwanted))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => {
    if (unwanted !== SEALED) return true
    return !SIGNED.has(name) && !(name === 'parts' && Object.hasOwn(value, 'response'))
  })
  return Object.fromEntries(kept.map(([name, one]) => [name, without(one, unwanted)]))
}

function fitting(body: Fields, model: string): Fields {
  if (model === 'gemini-side') return without(body, CUSTOM) as Fields
  return model === 'sandbox-chat' ? (without(without(body, CUSTOM), SEALED) as Fields) : body
}

const surface = (
  name: string,
  asked: Surface['asked'],
  more: Partial<Omit<Surface, 'name' | 'asked'>> = {},
): Surface => ({
  name,
  models: SIDES,
  asked,
  isEnvelope: isChatEnvelope,
  isCounted: (model) => (more.charges ?? 'now') === 'now' && model.endsWith('-side'),
  charges: 'now',
  share: (count) => Math.ceil(count / 40),
  ...more,
})

const chat: Fields = {
  ...golden('chat'),
  stream: false,
  n: 1,
  logprobs: false,
  logit_bias: { '50256': -100 },
  metadata: { a: 'b' },
  service_tier: 'auto',
  modalities: ['text'],
  store: false,
}
/** Other tools and other parts than those of the first. */
const chatOther: Fields = {
  model: 'public',
  max_tokens: 20,
  stream: true,
  stream_options: { include_usage: true },
  stop: 'END',
  tool_choice: { type: 'function', function: { name: 'note' } },
  tools: [{ type: 'function', function: { name: 'note', parameters: { type: 'object', $defs: {}, anyOf: [{}] } } }],
  response_format: { type: 'json_object' },
  messages: [
    {
      role: 'user',
      name: 'kim',
      content: [
        { type: 'text', text: 'go' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'yes' }],
      reasoning_details: [
        { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
      ],
    },
    { role: 'user', content: 'go on' },
  ],
}
const responsesOther: Fields = {
  model: 'public',
  input: 'go',
  stream: true,
  store: true,
  metadata: { a: 'b' },
  user: 'u',
  tool_choice: { type: 'function', name: 'note' },
  tools: [{ type: 'function', name: 'note', parameters: { type: 'object', properties: { a: { type: 'string' } } } }],
  text: { format: { type: 'json_object' } },
}
const geminiOther: Fields = {
  system_instruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'go' }, { inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }] },
    {
      role: 'model',
      parts: [{ functionCall: { name: 'weather', args: { city: 'Bern' } }, thoughtSignature: SKIP_VALIDATOR }],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            name: 'weather',
            response: { output: 'rain' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
        },
      ],
    },
  ],
  tools: {
    function_declarations: [
      { name: 'weather', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } },
    ],
  },
  generation_config: {
    max_output_tokens: 20,
    candidate_count: 1,
    response_mime_type: 'application/json',
    response_schema: {
      type: 'OBJECT',
      properties: { city: { type: 'STRING', nullable: true }, list: { type: 'ARRAY', items: { type: 'INTEGER' } } },
      required: ['city'],
      propertyOrdering: ['city', 'list'],
    },
    thinking_config: { thinking_budget: 2_048, include_thoughts: false },
    response_modalities: ['TEXT'],
  },
  labels: { a: 'b' },
}

const inBody =
  (path: string, body: Fields): Surface['asked'] =>
  (model) => ({ path, body: { ...fitting(body, model), model } })
const inPath =
  (action: string, body: Fields): Surface['asked'] =>
  (model) => ({ path: `/v1beta/models/${model}:${action}`, body: fitting(body, model) })

const messagesAsked = { isEnvelope: isMessagesEnvelope }
const geminiAsked = { isEnvelope: isGeminiEnvelope }
const free = { charges: 'never', models: ['chat-side'] } as const
const sandbox = (model: string): Partial<Surface> => ({ models: [model] })
/** Its pictures take a while. */
const painted = (model: string): Partial<Surface> => ({ models: [model], share: (count) => Math.ceil(count / 200) })

const image: Fields = {
  prompt: 'a boat',
  n: 1,
  size: '256x256',
  response_format: 'b64_json',
  user: 'u',
}
const edit: Fields = {
  prompt: 'a boat',
  n: 1,
  size: '1024x1024',
  quality: 'low',
  output_format: 'jpeg',
  output_compression: 10,
  background: 'auto',
  stream: false,
  partial_images: 0,
  images: [{ image_url: PICTURE }],
  mask: { image_url: PICTURE },
}
const video: Fields = {
  content: [
    { type: 'text', text: 'a boat' },
    { type: 'image_url', image_url: { url: PICTURE }, role: 'first_frame' },
  ],
  resolution: '480p',
  ratio: '16:9',
  duration: 4,
  seed: 7,
  watermark: false,
  generate_audio: false,
  input_type: 'first_last_frame',
  web_search: false,
  super_resolution_config: { resolution: '1080p', scene: 'aigc', tool_version: 'standard', fps: 30 },
}

export const bodies: readonly Surface[] = [
  surface('chat completions', inBody('/v1/chat/completions', chat)),
  surface('chat completions, streamed', inBody('/v1/chat/completions', chatOther)),
  surface('responses', inBody('/v1/responses', golden('responses'))),
  surface('responses, streamed', inBody('/v1/responses', responsesOther)),
  surface('messages', inBody('/v1/messages', golden('messages')), messagesAsked),
  surface('messages, streamed', inBody('/v1/messages', { ...golden('messages'), stream: true }), messagesAsked),
  surface('gemini', inPath('generateContent', golden('gemini')), {
    ...geminiAsked,
    models: SIDES.filter((model) => model !== 'sandbox-chat'),
  }),
  surface('gemini, streamed', inPath('streamGenerateContent?alt=sse', geminiOther), geminiAsked),
  surface('messages counted', inBody('/v1/messages/count_tokens', golden('messages')), { ...messagesAsked, ...free }),
  surface('responses counted', inBody('/v1/responses/input_tokens', golden('responses')), free),
  surface('gemini counted', inPath('countTokens', { generateContentRequest: golden('gemini') }), {
    ...geminiAsked,
    ...free,
  }),
  surface(
    'embeddings',
    inBody('/v1/embeddings', { input: ['a', 'b'], encoding_format: 'float', dimensions: 8, user: 'u' }),
    sandbox('sandbox-embedding'),
  ),
  surface(
    'embeddings of tokens',
    inBody('/v1/embeddings', { input: [[1, 2], [3]], encoding_format: 'base64' }),
    sandbox('sandbox-embedding'),
  ),
  surface('images', inBody('/v1/images/generations', image), painted('sandbox-image-classic')),
  surface('edits', inBody('/v1/images/edits', edit), painted('sandbox-image')),
  surface('videos', inBody('/v1/videos', video), { ...sandbox('sandbox-video'), charges: 'later' }),
]
