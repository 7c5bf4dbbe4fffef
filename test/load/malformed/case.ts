/** The type of one malformed request. */
export type Case = {
  /** For the report of a failure. */
  readonly name: string
  /** A byte a character. */
  readonly bytes: string
  /**
   * `request`: framed as it should be, so exactly one refusal must come, and the connection can often be used again.
   * `wire`: anything; it has a connection for itself, which ends when nothing more comes of it.
   */
  readonly kind: 'request' | 'wire'
  /** Of `wire`: how many answers there may be at most. More would be a request that was smuggled in. */
  readonly answersMax?: number
  /** Of `request`: the field that the refusal must name. */
  readonly param?: string
}

export const CHAT = '/v1/chat/completions'
/** Text as its bytes in UTF-8, a byte a character. */
export const utf8 = (text: string): string => Buffer.from(text).toString('latin1')

/** A chat request with a body of a byte a character. */
export const chatText = (key: string, body: string, headers = ''): string =>
  `POST ${CHAT} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
  `${headers}content-length: ${body.length}\r\n\r\n${body}`

/** A body that is JSON, but never a valid request, whatever is done to its framing. */
export const HOPELESS = '{"model":"plain","temperature":"hot","messages":"none"}'
export const VALID = '{"model":"plain","max_tokens":4,"messages":[{"role":"user","content":"go"}]}'
