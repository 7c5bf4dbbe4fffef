/**
 * One turn of a conversation in no dialect. Every dialect's reader makes one, and every writer takes one. It exists
 * only if client and upstream speak different dialects. Within a dialect the bytes pass.
 */
import type { Usage } from './usage.ts'

/** The dialects of text generation that clients speak. */
export const clientDialects = ['chat', 'responses', 'messages', 'gemini'] as const
export type ClientDialect = (typeof clientDialects)[number]
/** All dialects of text generation. `converse` is only spoken to a vendor. */
export const dialects = [...clientDialects, 'converse'] as const
export type Dialect = (typeof dialects)[number]

/**
 * Data that only its maker can read (the signature of a thought, encrypted reasoning). It is kept unchanged and goes
 * back only to the dialect that it came from.
 */
export type SealedData = {
  readonly origin: Dialect
  readonly data: string
  readonly form?: string | undefined
  /** The one account that can read it, if there is only one. */
  readonly account?: string | undefined
}

/** How long a vendor may keep everything up to this part in its prompt cache. */
export type CacheHint = '5m' | '1h'

export type TextPart = { readonly kind: 'text'; readonly text: string; readonly cache?: CacheHint | undefined }
/** Bytes in base64, or an address that the upstream fetches itself. */
export type MediaSource =
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string }
export type ImagePart = { readonly kind: 'image'; readonly source: MediaSource; readonly detail?: string | undefined }
export type AudioPart = { readonly kind: 'audio'; readonly source: MediaSource }
export type FilePart = { readonly kind: 'file'; readonly source: MediaSource; readonly name?: string | undefined }
export type InputPart = TextPart | ImagePart | AudioPart | FilePart

export type RefusalPart = { readonly kind: 'refusal'; readonly text: string }
/** `text` may be shown. Either `text` or `sealed` may be missing. */
export type ReasoningPart = {
  readonly kind: 'reasoning'
  readonly text: string
  readonly sealed?: SealedData | undefined
}
export type ToolCallPart = {
  readonly kind: 'tool_call'
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it. Any text for a custom tool. */
  readonly arguments: string
  readonly tool: 'function' | 'custom'
  /** The group of tools that `name` belongs to, in dialects with groups. */
  readonly namespace?: string | undefined
  readonly sealed?: SealedData | undefined
}
export type OutputPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart

export type Message =
  /** `developer` counts as system. Its place among the messages is where it was said. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] }
  | { readonly role: 'user'; readonly parts: readonly InputPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly OutputPart[] }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly parts: readonly InputPart[]
      readonly isError?: boolean | undefined
    }

export type Tool =
  | {
      readonly kind: 'function'
      readonly name: string
      readonly description?: string | undefined
      /** A JSON schema. Undefined for a function without arguments. */
      readonly parameters?: Readonly<Record<string, unknown>> | undefined
      readonly strict?: boolean | undefined
    }
  | {
      readonly kind: 'custom'
      readonly name: string
      readonly description?: string | undefined
      readonly format?: Readonly<Record<string, unknown>> | undefined
    }

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] }

export type OutputFormat =
  | { readonly kind: 'text' | 'json_object' }
  | {
      readonly kind: 'json_schema'
      readonly name: string
      readonly schema: Readonly<Record<string, unknown>>
      readonly description?: string | undefined
      readonly strict?: boolean | undefined
    }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export type Turn = {
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice | undefined
  readonly parallelToolCalls?: boolean | undefined
  readonly format?: OutputFormat | undefined
  readonly effort?: Effort | undefined
  /** A thinking budget in tokens, in dialects that have one. */
  readonly thinkingTokens?: number | undefined
  /** Whether the client wants to see reasoning. */
  readonly showReasoning?: boolean | undefined
  readonly verbosity?: string | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly choices: number
  readonly logprobs?: number | undefined
  readonly user?: string | undefined
  /** Requests with the same key share their beginning in the vendor's prompt cache. */
  readonly cacheKey?: string | undefined
  /** Fields that only the client's dialect has, by name. They are dropped if the upstream speaks another one. */
  readonly foreign: readonly string[]
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** A piece of a streamed answer. `choice` and `call` are counted from 0. */
export type Delta =
  | { readonly kind: 'text' | 'refusal' | 'reasoning'; readonly choice: number; readonly text: string }
  /** Ends the reasoning before it and belongs to it. */
  | { readonly kind: 'sealed'; readonly choice: number; readonly sealed: SealedData }
  | {
      readonly kind: 'call'
      readonly choice: number
      readonly call: number
      readonly id: string
      readonly name: string
      readonly tool: 'function' | 'custom'
      readonly namespace?: string | undefined
      readonly sealed?: SealedData | undefined
    }
  | { readonly kind: 'arguments'; readonly choice: number; readonly call: number; readonly text: string }
  | { readonly kind: 'finish'; readonly choice: number; readonly reason: FinishReason }
  | OwnDelta

/**
 * Content that only the dialect of its origin can express. Clients of other dialects do not get it. `message`: begins a
 * message with these fields. `…_rest`: the item that ends here, or the call of that number, has these further fields.
 * `item`: a whole item.
 */
export type OwnDelta = {
  readonly kind: 'own'
  readonly choice: number
  readonly origin: Dialect
  readonly what: 'message' | 'message_rest' | 'reasoning_rest' | 'call_rest' | 'item'
  readonly call?: number | undefined
  readonly fields: Readonly<Record<string, unknown>>
}

/** A whole answer. */
export type Reply = {
  readonly choices: readonly { readonly parts: readonly OutputPart[]; readonly finish: FinishReason }[]
  readonly usage: Usage | undefined
  /** The same answer as the deltas of a stream, if they tell clients of the upstream's dialect more. */
  readonly deltas?: readonly Delta[] | undefined
}

/** The text of parts, for an estimate if no usage is reported. */
export function wordsOfParts(parts: readonly (InputPart | OutputPart)[]): string {
  const words: string[] = []
  for (const part of parts) {
    if (part.kind === 'tool_call') words.push(part.name, part.arguments)
    else if ('text' in part) words.push(part.text)
  }
  return words.join('\n')
}
