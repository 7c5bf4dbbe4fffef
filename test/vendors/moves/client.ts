/** Clients of each dialect in a random conversation. They send what real ones send. */
import type { ClientDialect } from '../../../src/domain/turn.ts'
import { parseExact } from '../../../src/lib/json/exact-json.ts'
import { fieldsOf, listOf, type Fields } from '../seen.ts'
import type { ClientView } from './echo.ts'
import type { Plan, PlannedTurn } from './plan.ts'
import type { TrueCall } from './truth.ts'

/** The result of a call, under the id that the client knows the call by. */
export type IssuedCall = { readonly id: string; readonly name: string; readonly call: TrueCall }

export type Client = {
  system(text: string): void
  user(text: string, pictures: readonly string[]): void
  results(given: readonly IssuedCall[]): void
  heard(answer: ClientView): void
  /** The request, as JSON text. `model` is what the gateway's public model is called. */
  body(turn: PlannedTurn, how: { readonly stream: boolean; readonly previousId?: string | undefined }): string
}

const SCHEMA = { type: 'object', properties: { k0: {}, k1: {} }, additionalProperties: true }
const FORMAT = {
  type: 'object',
  properties: { said: { type: 'string' }, n: { type: 'number' } },
  required: ['said'],
  additionalProperties: false,
}
const USER = JSON.stringify({ device_id: 'c'.repeat(64), account_uuid: '', session_id: 'f'.repeat(36) })
const STOPS = ['</a>', '</b>', '</c>', '</d>', '</e>']

const textOfResult = ({ result }: TrueCall): string => result?.text ?? ''
/** A result with fields of its own, where it is one. */
const objectOf = (call: TrueCall): unknown =>
  call.result?.structured
    ? parseExact(call.result.text)
    : { [call.result?.isError ? 'error' : 'output']: textOfResult(call) }

function chat(plan: Plan): Client {
  const messages: Fields[] = []
  const url = (data: string): Fields => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })
  return {
    system: (content) => messages.push({ role: messages.length % 2 === 0 ? 'developer' : 'system', content }),
    user: (text, pictures) =>
      messages.push({
        role: 'user',
        content: pictures.length === 0 ? text : [{ type: 'text', text }, ...pictures.map(url)],
      }),
    results: (given) =>
      messages.push(...given.map(({ id, call }) => ({ role: 'tool', tool_call_id: id, content: textOfResult(call) }))),
    heard: ({ turn }) => messages.push(...(plan.forgets ? turn.map(asKnown) : turn)),
    body: ({ effort, sampling }, { stream }) =>
      JSON.stringify({
        model: 'public',
        messages,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
        max_completion_tokens: 4_000,
        reasoning_effort: effort,
        ...(sampling ? { temperature: 0.2, top_p: 0.9, top_k: 40, seed: 7, stop: STOPS, user: USER } : {}),
        ...(plan.tools.length === 0
          ? {}
          : {
              tools: plan.tools.map(({ name, kind }) =>
                kind === 'custom'
                  ? { type: 'custom', custom: { name } }
                  : { type: 'function', function: { name, parameters: SCHEMA } },
              ),
              parallel_tool_calls: true,
            }),
        ...(plan.isStructured
          ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: FORMAT } } }
          : {}),
      }),
  }
}

/** What the first SDKs keep of a message. */
const asKnown = ({ role, content, tool_calls: calls }: Fields): Fields => ({
  role,
  content,
  ...(calls === undefined
    ? {}
    : { tool_calls: listOf(calls).map(({ id, type, function: fn, custom }) => ({ id, type, function: fn, custom })) }),
})

function messages(plan: Plan): Client {
  const said: Fields[] = []
  let system: string | undefined
  const image = (data: string): Fields => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  })
  const result = ({ id, call }: IssuedCall): Fields => ({
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text: textOfResult(call) }, ...(call.result?.pictures ?? []).map(image)],
    ...(call.result?.isError ? { is_error: true } : {}),
  })
  const say = (blocks: readonly Fields[]): void => {
    const last = said.at(-1)
    if (last?.['role'] !== 'user') said.push({ role: 'user', content: blocks })
    else said[said.length - 1] = { role: 'user', content: [...listOf(last['content']), ...blocks] }
  }
  return {
    system(text) {
      if (said.length === 0) system = text
      else said.push({ role: 'system', content: text })
    },
    user: (text, pictures) => say([{ type: 'text', text }, ...pictures.map(image)]),
    results: (given) => say(given.map(result)),
    heard: ({ turn }) => said.push(...turn),
    body: ({ effort, sampling }, { stream }) =>
      JSON.stringify({
        model: 'public',
        max_tokens: 32_000,
        system,
        messages: said,
        ...(stream ? { stream } : {}),
        ...(effort === undefined || effort === 'none' || effort === 'xhigh'
          ? {}
          : { thinking: { type: 'enabled', budget_tokens: effort === 'low' ? 1_024 : 9_000 } }),
        ...(sampling ? { stop_sequences: STOPS, metadata: { user_id: USER } } : {}),
        ...(plan.tools.length === 0 ? {} : { tools: plan.tools.map(({ name }) => ({ name, input_schema: SCHEMA })) }),
        ...(plan.isStructured ? { output_config: { format: { type: 'json_schema', schema: FORMAT } } } : {}),
      }),
  }
}

function responses(plan: Plan): Client {
  const input: Fields[] = []
  /** What was sent before, where the gateway keeps it. */
  let sent = 0
  const message = (role: string, content: readonly Fields[]): number => input.push({ type: 'message', role, content })
  const image = (data: string): Fields => ({ type: 'input_image', image_url: `data:image/png;base64,${data}` })
  return {
    system: (text) => message('developer', [{ type: 'input_text', text }]),
    user: (text, pictures) => message('user', [{ type: 'input_text', text }, ...pictures.map(image)]),
    results: (given) =>
      input.push(
        ...given.map(({ id, call }) => {
          const text = textOfResult(call)
          const pictures = call.result?.pictures ?? []
          return {
            type: call.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
            call_id: id,
            output: pictures.length === 0 ? text : [{ type: 'input_text', text }, ...pictures.map(image)],
          }
        }),
      ),
    heard({ turn }) {
      if (plan.isKept) sent = input.length
      else input.push(...turn)
    },
    body: ({ effort, sampling }, { stream, previousId }) =>
      JSON.stringify({
        model: 'public',
        input: input.slice(sent),
        ...(stream ? { stream } : {}),
        ...(plan.isKept ? { previous_response_id: previousId } : { store: false }),
        ...(plan.forgets ? {} : { include: ['reasoning.encrypted_content'] }),
        reasoning: { effort, summary: 'auto' },
        ...(sampling ? { temperature: 0.2, safety_identifier: USER, prompt_cache_key: 'k'.repeat(36) } : {}),
        parallel_tool_calls: true,
        ...(plan.tools.length === 0
          ? {}
          : {
              tools: plan.tools.map(({ name, kind }) =>
                kind === 'custom'
                  ? { type: 'custom', name, format: { type: 'text' } }
                  : { type: 'function', name, strict: false, parameters: SCHEMA },
              ),
            }),
        ...(plan.isStructured
          ? { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: FORMAT } } }
          : {}),
      }),
  }
}

function gemini(plan: Plan): Client {
  const contents: { readonly role: string; readonly parts: readonly Fields[] }[] = []
  let system: string | undefined
  const say = (parts: readonly Fields[]): void => {
    const last = contents.at(-1)
    if (last?.role !== 'user') contents.push({ role: 'user', parts })
    else contents[contents.length - 1] = { role: 'user', parts: [...last.parts, ...parts] }
  }
  const image = (data: string): Fields => ({ inlineData: { mimeType: 'image/png', data } })
  const result = ({ id, name, call }: IssuedCall): Fields => ({
    functionResponse: {
      ...(id === '' ? {} : { id }),
      name,
      response: fieldsOf(objectOf(call)),
      ...(call.result?.pictures.length ? { parts: call.result.pictures.map(image) } : {}),
    },
  })
  return {
    system(text) {
      if (contents.length === 0) system = text
      else say([{ text }])
    },
    user: (text, pictures) => say([{ text }, ...pictures.map(image)]),
    results: (given) => say(given.map(result)),
    heard: ({ turn }) => contents.push(...turn.map(({ parts }) => ({ role: 'model', parts: listOf(parts) }))),
    body: ({ effort, sampling }) =>
      JSON.stringify({
        contents,
        ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
        generationConfig: {
          maxOutputTokens: 4_000,
          ...(effort === undefined
            ? {}
            : { thinkingConfig: { includeThoughts: !plan.forgets, thinkingLevel: effort === 'low' ? 'low' : 'high' } }),
          ...(sampling ? { temperature: 0.2, topP: 0.9, topK: 40, stopSequences: STOPS } : {}),
          ...(plan.isStructured ? { responseMimeType: 'application/json', responseJsonSchema: FORMAT } : {}),
        },
        ...(plan.tools.length === 0
          ? {}
          : {
              tools: [{ functionDeclarations: plan.tools.map(({ name }) => ({ name, parametersJsonSchema: SCHEMA })) }],
            }),
      }),
  }
}

export const clients: Readonly<Record<ClientDialect, (plan: Plan) => Client>> = { chat, messages, responses, gemini }
