/** One server-sent event, ready to be written, and how many output tokens it carries. */
export type Frame = { text: string; tokens: number }

/** What a modality answers. It knows nothing of time and sockets: delivery.ts paces it, and breaks it when asked to. */
export type Reply = JsonReply | { kind: 'stream'; frames: Iterable<Frame> }
export type JsonReply = { kind: 'json'; status: number; body: unknown; headers?: Record<string, string> }

/** The part of the error envelope that varies; `type` is `invalid_request_error` unless said otherwise. */
export type Complaint = { message: string; code: string | null; param?: string | null; type?: string }

export const DONE: Frame = { text: 'data: [DONE]\n\n', tokens: 0 }

export function frameOf(json: string, tokens: number): Frame {
  return { text: `data: ${json}\n\n`, tokens }
}

/** OpenAI's error envelope: all four keys, always. */
function errorBody(complaint: Complaint): object {
  const { message, type = 'invalid_request_error', param = null, code } = complaint
  return { error: { message, type, param, code } }
}

export function refuse(status: number, complaint: Complaint): JsonReply {
  return { kind: 'json', status, body: errorBody(complaint) }
}
