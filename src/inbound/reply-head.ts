/** The head of an answer. The gateway sets names and values. A line break in one would begin a second answer. */
import { STATUS_CODES } from 'node:http'

export type ReplyHeaders = Readonly<Record<string, string>>

const LINE_BREAK = /[\r\n]/
const NO_HEADERS: ReplyHeaders = {}

let dateSecond = 0
let dateText = ''

/** The HTTP date, formatted once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}

/** Writes a head. `always` holds headers of every answer. They replace headers of the same name. */
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

/** Cached line prefixes of the gateway's few header names. */
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
  // The engine joins three parts to one text. Five parts would make two.
  return text + linePrefix(name) + value
}
