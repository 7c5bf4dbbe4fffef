/** The head of an answer. Names and values come from the gateway; a line break in one would be a second answer. */
import { STATUS_CODES } from 'node:http'

export type ReplyHeaders = Readonly<Record<string, string>>

const LINE_BREAK = /[\r\n]/
const NO_HEADERS: ReplyHeaders = {}

let dateSecond = 0
let dateText = ''

/** The date as HTTP writes it, made once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}

/** `always` goes with every answer: of two equal names its own is written. */
export function replyHead(
  status: number,
  headers: ReplyHeaders,
  framing: string,
  always: ReplyHeaders = NO_HEADERS,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\ndate: ${httpDate()}`
  for (const name in headers) if (always[name] === undefined) text = withLine(text, name, headers[name] as string)
  for (const name in always) text = withLine(text, name, always[name] as string)
  return `${text}\r\n${framing}\r\n`
}

/** The gateway's own few names. */
const prefixes = new Map<string, string>()

function linePrefix(name: string): string {
  let prefix = prefixes.get(name)
  if (prefix === undefined) {
    prefix = `\r\n${name}: `
    prefixes.set(name, prefix)
  }
  return prefix
}

function withLine(text: string, name: string, value: string): string {
  if (LINE_BREAK.test(value)) throw new Error(`a line break in the header ${name}`)
  // Three parts are one text to the engine; five would be two.
  return text + linePrefix(name) + value
}
