/**
 * One server-sent event, ready to be written, and how many output tokens it carries. `isBeside`: it comes at the same
 * time as the one before, for another choice. A model makes all choices of an answer side by side.
 */
export type Frame = { text: string; tokens: number; isTerminator?: true; isBeside?: true }

/** What a modality answers. It knows nothing of time and sockets: delivery.ts paces it, and breaks it when asked to. */
export type SandboxReply = JsonReply | { kind: 'stream'; frames: Iterable<Frame> } | BytesReply
export type BytesReply = { kind: 'bytes'; contentType: string; bytes: Uint8Array<ArrayBuffer> }
export type JsonReply = {
  kind: 'json'
  status: number
  body: unknown
  /** The body as text in UTF-8, where that is long. */
  json?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** Of an error: what it says, for dialects that say it in another envelope. */
  complaint?: ErrorFields
}

/** How a dialect that is not OpenAI's puts its errors, and what it calls them in a stream. */
export type ErrorDialect = { envelope: (complaint: ErrorFields, status: number) => object; event: string }

/** The part of the error envelope that varies; `type` is `invalid_request_error` unless said otherwise. */
export type ErrorFields = { message: string; code: string | null; param?: string | null; type?: string }

export const DONE: Frame = { text: 'data: [DONE]\n\n', tokens: 0, isTerminator: true }

export function frameOf(json: string, tokens: number, event?: string): Frame {
  return { text: `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`, tokens }
}

/** OpenAI's error envelope: all four keys, always. */
export function errorBody(complaint: ErrorFields): object {
  const { message, type = 'invalid_request_error', param = null, code } = complaint
  return { error: { message, type, param, code } }
}

export function refuse(status: number, complaint: ErrorFields): JsonReply {
  return { kind: 'json', status, body: errorBody(complaint), complaint }
}

/** The same error in a dialect's own envelope. */
export function inDialect(reply: JsonReply, errors: ErrorDialect | undefined): JsonReply {
  const { complaint, status } = reply
  return errors && complaint ? { ...reply, body: errors.envelope(complaint, status) } : reply
}
