/** What a path of Gemini's API asks for, and with which body. */
import type { Failure } from '../../domain/failure.ts'
import { asFields, parseFields } from '../fields.ts'
import type { ClientRequest } from '../format.ts'
import { GeminiClient } from './client.ts'
import { readModelPath } from './model-path.ts'
import { readGeminiRequest } from './request.ts'

type Asked = { readonly text: string; readonly bytes: number; readonly path: string; readonly query: string }
type Read =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const ARRAY_STREAM =
  "Streams are answered as server-sent events here: add '?alt=sse' to the address, as Google's SDKs do."

/** Reads a request for content, whole or streamed. */
export function readGeminiClient({ text, bytes, path, query }: Asked): Read {
  const { model = '', action } = readModelPath(path) ?? {}
  const stream = action === 'streamGenerateContent'
  if (stream && new URLSearchParams(query).get('alt') !== 'sse') {
    return { kind: 'rejected', failure: { kind: 'unsupported_parameter', message: ARRAY_STREAM, param: 'alt' } }
  }
  const read = readGeminiRequest({ text, bytes, model, stream })
  return read.kind === 'rejected' ? read : { kind: 'read', request: new GeminiClient(read.request) }
}

/** Reads a request to count: the contents alone, or the whole request they would be sent in. */
export function readGeminiCount({ text, bytes, path }: Asked): Read {
  const { model = '' } = readModelPath(path) ?? {}
  const fields = parseFields(text) ?? {}
  const whole = fields['generateContentRequest'] ?? fields['generate_content_request']
  const counted = whole === undefined ? text : JSON.stringify(asFields(whole))
  const read = readGeminiRequest({ text: counted, bytes, model, stream: false })
  return read.kind === 'rejected' ? read : { kind: 'read', request: new GeminiClient(read.request) }
}

/** The answer to a request to count. */
export const writeGeminiCount = (tokens: number): object => ({ totalTokens: tokens })
