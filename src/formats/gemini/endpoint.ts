/** Reads the path of a Gemini request, and the body that belongs to it. */
import type { Failure } from '../../domain/failure.ts'
import { asFields } from '../core/fields.ts'
import type { ClientRequest } from '../core/contract.ts'
import { afterScan } from '../core/request-json.ts'
import { GeminiClient } from './client.ts'
import { readModelPath } from '../core/google-model-path.ts'
import { readGeminiRequest, type GeminiRead } from './request.ts'

type GeminiCall = { readonly text: string; readonly bytes: number; readonly path: string; readonly query: string }
type ReadClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const ARRAY_STREAM =
  "Streams are answered as server-sent events here: add '?alt=sse' to the address, as Google's SDKs do."

/** Reads a request for content, whole or streamed. */
export function readGeminiClient({ text, bytes, path, query }: GeminiCall): ReadClient | Promise<ReadClient> {
  const { model = '', action } = readModelPath(path) ?? {}
  const stream = action === 'streamGenerateContent'
  if (stream && new URLSearchParams(query).get('alt') !== 'sse') {
    return { kind: 'rejected', failure: { kind: 'unsupported_parameter', message: ARRAY_STREAM, param: 'alt' } }
  }
  return afterScan(text, bytes, (scan) => made(readGeminiRequest({ text, bytes, model, stream, scan })))
}

/** Reads a request to count tokens: the contents alone, or the whole request that would send them. */
export function readGeminiCount({ text, bytes, path }: GeminiCall): ReadClient | Promise<ReadClient> {
  const { model = '' } = readModelPath(path) ?? {}
  return afterScan(text, bytes, (scan) => {
    const fields = scan.kind === 'scanned' ? asFields(scan.value) : {}
    const whole = fields['generateContentRequest'] ?? fields['generate_content_request']
    if (whole === undefined) return made(readGeminiRequest({ text, bytes, model, stream: false, scan }))
    return made(readGeminiRequest({ text: JSON.stringify(asFields(whole)), bytes, model, stream: false }))
  })
}

const made = (read: GeminiRead): ReadClient =>
  read.kind === 'rejected' ? read : { kind: 'read', request: new GeminiClient(read.request) }
