/** The orders of a client process and its answers: one line of JSON each, the same in every language. */
import type { ChatCompletion, ChatCompletionChunk } from 'openai-6/resources/chat/completions'

export type Usage = NonNullable<ChatCompletion['usage']>

/** `requestId` as the SDK shows it, null where it shows none. */
export type ReadAnswer = { readonly completion: ChatCompletion; readonly requestId: string | null }

/** `error`: what the SDK threw in the middle, after these chunks. */
export type StreamedAnswer = {
  readonly chunks: readonly ChatCompletionChunk[]
  readonly requestId: string | null
  readonly error: SeenError | null
}

export type SeenError = {
  /** The name of the class that was thrown. */
  readonly name: string
  /** Is it an APIError of the SDK? */
  readonly isApiError: boolean
  readonly status: number | null
  readonly code: string | null
  readonly param: string | null
  readonly type: string | null
  readonly message: string
  readonly requestId: string | null
}

export type Replies = {
  readonly describe: { readonly runtime: string; readonly sdk: string }
  /** One call. With `stream` in the body, its chunks, read until `stopAfter`. */
  readonly create: ReadAnswer
  readonly stream: StreamedAnswer
  /** The SDK's own helper that puts a stream together again. */
  readonly assemble: ReadAnswer
  /** The SDK's own structured output: a person, by a zod or pydantic schema. */
  readonly parse: ReadAnswer & { readonly parsed: { name: string; age: number; tags: readonly string[] } }
  /** Calls, answers each tool call with `result`, calls again with the SDK's own message object in the history. */
  readonly toolRound: readonly ReadAnswer[]
  /** The SDK's own tool loop, JavaScript only. */
  readonly runTools: { readonly text: string | null; readonly inputs: readonly unknown[]; readonly usage: Usage }
  readonly models: readonly { readonly id: string; readonly object: string; readonly owned_by: string }[]
  readonly model: { readonly id: string; readonly object: string; readonly created: number }
  /** The same call so many `times` at once on one client; in Python on the asynchronous one. */
  readonly parallel: readonly ReadAnswer[]
  /** `images.generate`, or `images.edit` where the order has pictures. */
  readonly image: { readonly data?: readonly SeenImage[]; readonly usage?: { readonly output_tokens: number } }
  readonly imageStream: readonly SeenImageEvent[]
}
export type SeenImage = { readonly b64_json?: string | null; readonly url?: string | null }
export type SeenImageEvent = { readonly type: string; readonly b64_json: string }
export type Command = keyof Replies

export type Order = {
  /** Chat fields. The SDK gets them as they are. */
  readonly body?: object
  readonly id?: string
  readonly times?: number
  readonly result?: string
  /** Files for an edit, as base64: one goes alone, several as a list. */
  readonly pictures?: readonly string[]
  readonly mask?: string
  /** Stop reading a stream after this many chunks, by leaving the loop or by aborting the call. */
  readonly stopAfter?: number
  readonly leave?: 'break' | 'abort'
  readonly retriesMax?: number
  readonly timeoutMs?: number
  /** Headers the user of an SDK may set by its own options. */
  readonly organization?: string
}

export type AddressedCall = Order & { readonly command: Command; readonly baseUrl: string; readonly key: string }

export type Reply = { readonly seen: unknown } | { readonly error: SeenError }
