/**
 * One server-sent event, ready to be written, and the number of its output tokens. `isBeside`: it comes at the same
 * time as the event before, for another choice, because a model makes all choices in parallel.
 */
export type Frame = { text: string; tokens: number; isTerminator?: true; isBeside?: true }

/** The reply of a modality. It knows nothing of time and sockets. delivery.ts paces it and breaks it on demand. */
export type SandboxReply = JsonReply | { kind: 'stream'; frames: Iterable<Frame> } | BytesReply
export type BytesReply = { kind: 'bytes'; contentType: string; bytes: Uint8Array<ArrayBuffer> }
export type JsonReply = {
  kind: 'json'
  status: number
  body: unknown
  /** The body as UTF-8 text, if it is long. */
  json?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** The fields of an error, for dialects with another envelope. */
  complaint?: ErrorFields
}

/** The error envelope of a dialect other than OpenAI's, and the name of its error event in a stream. */
export type ErrorDialect = { envelope: (complaint: ErrorFields, status: number) => object; event: string }

/** The fields of an error that vary. The default `type` is `invalid_request_error`. */
export type ErrorFields = { message: string; code: string | null; param?: string | null; type?: string }

export const DONE: Frame = { text: 'data: [DONE]\n\n', tokens: 0, isTerminator: true }

export function frameOf(json: string, tokens: number, event?: string): Frame {
  return { text: `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`, tokens }
}

/** OpenAI's error envelope. It always has all four keys. */
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
