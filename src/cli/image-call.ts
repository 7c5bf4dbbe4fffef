/** One request for an image over the public API. It is streamed to report previews while the image is made. */
import { SseDecoder } from '../lib/http/sse.ts'
import { readBytes } from '../outbound/bytes.ts'
import type { IncomingResponse, OutboundResult } from '../outbound/exchange.ts'
import { outbound } from '../outbound/send.ts'
import type { Stop } from '../outbound/stop.ts'
import { readText } from '../outbound/text.ts'
import { MIB } from '../lib/primitives/units.ts'

export type ImageCall = {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly key: string
  readonly body: object
  readonly stop: Stop
}

export type ImageUsage = { readonly input_tokens: number; readonly output_tokens: number }

export type ImageEnd =
  | {
      readonly kind: 'answered'
      readonly file: Buffer
      readonly size: string | null
      readonly revisedPrompt: string | null
      readonly usage: ImageUsage | null
      readonly requestId: string | null
      readonly tookMs: number
    }
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly message: string
      readonly requestId?: string | null
    }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'unreachable'; readonly message: string }

type ModelEntry = { readonly id: string; readonly endpoints?: readonly string[] }
type ModelList = Pick<Event, 'error'> & { readonly data?: readonly ModelEntry[] }

/** The first model that makes images, among those that the key may use. Undefined if there is none. */
export async function findImageModel(
  call: Omit<ImageCall, 'body'>,
): Promise<{ readonly kind: 'found'; readonly model: string | undefined } | Exclude<ImageEnd, { kind: 'answered' }>> {
  const sent = await send(call, `${call.baseUrl}/models`)
  if (sent.kind === 'network') return unreached(call, sent.message)
  const text = await readText(sent.response, FILE_BYTES_MAX)
  const { data, error } = parse<ModelList>(text) ?? {}
  if (error) return { kind: 'refused', code: error.code ?? 'unknown', message: error.message ?? '' }
  return { kind: 'found', model: data?.find(({ endpoints }) => endpoints?.includes('images.generations'))?.id }
}

/** The fields of a reply or of one event that are read. */
type Event = {
  readonly type?: string
  readonly partial_image_index?: number
  readonly size?: string
  readonly usage?: ImageUsage
  readonly data?: readonly { readonly b64_json?: string; readonly url?: string; readonly revised_prompt?: string }[]
  readonly error?: { readonly message?: string; readonly code?: string | null }
}

const EVENT_CHARS_MAX = 128 * MIB
const FILE_BYTES_MAX = 64 * MIB

/** Requests the image. `onPartial` receives the number of each preview, counted from 1. */
export async function callImage(call: ImageCall, onPartial: (count: number) => void): Promise<ImageEnd> {
  const startedMs = performance.now()
  try {
    const sent = await send(call, `${call.baseUrl}/images/generations`, JSON.stringify(call.body))
    if (sent.kind === 'network') throw new Error(sent.message)
    const { response } = sent
    const streams = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const last = streams ? await follow(response, onPartial) : parse<Event>(await readText(response, FILE_BYTES_MAX))
    const requestId = response.headers.get('x-request-id') ?? null
    if (last?.error)
      return { kind: 'refused', code: last.error.code ?? 'unknown', message: last.error.message ?? '', requestId }
    const [entry] = last?.data ?? []
    const file = entry && (await fileOf(call, entry))
    if (!file) return { kind: 'refused', code: 'not_an_answer', message: `no image came (status ${response.status})` }
    return {
      kind: 'answered',
      file,
      size: last?.size ?? null,
      revisedPrompt: entry.revised_prompt ?? null,
      usage: last?.usage ?? null,
      requestId,
      tookMs: performance.now() - startedMs,
    }
  } catch (error) {
    return unreached(call, error instanceof Error ? error.message : String(error))
  }
}

const unreached = (
  { stop }: Pick<ImageCall, 'stop'>,
  message: string,
): Extract<ImageEnd, { kind: 'interrupted' | 'unreachable' }> =>
  stop.isStopped ? { kind: 'interrupted' } : { kind: 'unreachable', message }

/** There is no timeout: the server has its own. Private addresses are allowed, since the user names the server. */
function send({ key, stop }: Omit<ImageCall, 'body'>, url: string, body?: string): Promise<OutboundResult> {
  const headers = { authorization: `Bearer ${key}` }
  if (body === undefined) return outbound.send({ url, method: 'GET', headers, stop, reach: 'private' })
  const typed = { ...headers, 'content-type': 'application/json' }
  return outbound.send({ url, method: 'POST', headers: typed, body, stop, reach: 'private' })
}

async function fileOf(
  call: ImageCall,
  { b64_json, url }: { b64_json?: string; url?: string },
): Promise<Buffer | undefined> {
  if (b64_json) return Buffer.from(b64_json, 'base64')
  if (!url) return undefined
  // The URL of an image may belong to another server, so the key is not sent there.
  const sent = await outbound.send({ url, method: 'GET', headers: {}, stop: call.stop, reach: 'private' })
  return sent.kind === 'response' && sent.response.status === 200 ? readBytes(sent.response, FILE_BYTES_MAX) : undefined
}

function parse<T>(text: string | undefined): T | undefined {
  try {
    return JSON.parse(text ?? '') as T
  } catch {
    return undefined // The caller reports it.
  }
}

/** The last event that is no preview. Rejects if the stream breaks off. */
async function follow(response: IncomingResponse, onPartial: (count: number) => void): Promise<Event | undefined> {
  const decoder = new SseDecoder(EVENT_CHARS_MAX)
  let last: Event | undefined
  const take = (events: readonly { readonly data: string }[]): void => {
    for (const { data } of events) {
      const event = parse<Event>(data)
      if (event?.type?.endsWith('.partial_image')) onPartial((event.partial_image_index ?? 0) + 1)
      else if (event) last = event
    }
  }
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  response.deliver({
    part: (bytes) => take(decoder.push(bytes)),
    end(bytes) {
      take(decoder.push(bytes))
      take(decoder.end())
      resolve()
    },
    broken: (message) => reject(new Error(message)),
  })
  await ended
  return last
}
