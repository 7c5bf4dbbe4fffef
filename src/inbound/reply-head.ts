/** The head of an answer. Names and values come from the gateway; a line break in one would be a second answer. */
import { STATUS_CODES } from 'node:http'

export type ReplyHeaders = Readonly<Record<string, string>>

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

export function replyHead(status: number, headers: ReplyHeaders, framing: string): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\ndate: ${httpDate()}\r\n`
  for (const name in headers) {
    const value = headers[name] as string
    if (value.includes('\n') || value.includes('\r')) throw new Error(`a line break in the header ${name}`)
    text += `${name}: ${value}\r\n`
  }
  return `${text}${framing}\r\n`
}
