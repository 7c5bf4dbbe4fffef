import { detached } from '../primitives/copy-string.ts'
import { KIB } from '../primitives/units.ts'

/** One server-sent event: its name, if it has one, and its data lines joined. */
export type SseEvent = { readonly name: string | undefined; readonly data: string }

const CR = /\r\n?/g

/** If a read is longer than this, its unfinished rest is copied, so that it does not keep the whole read in memory. */
const DETACH_FROM_CHARS = 16 * KIB

/**
 * Splits a byte stream into server-sent events. It drops comments, ids and retry hints. It accepts CRLF, a CR alone and
 * a missing space after the colon, as clients do (WHATWG HTML, 9.2.5). It holds at most one unfinished event of
 * `eventCharsMax` characters, and reads at most twice as many characters without an event.
 */
export class SseDecoder {
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true })
  private rest = ''
  /** The last read ended with CR, which ended a line. An LF that follows belongs to it. */
  private isBehindCr = false
  private name: string | undefined
  private data: string | undefined
  private finished: SseEvent | undefined
  /** Characters since the last event. Comments and empty lines cost as much to read as text. */
  private idleChars = 0
  private readonly eventCharsMax: number

  constructor(eventCharsMax: number) {
    this.eventCharsMax = eventCharsMax
  }

  /** The characters of the incomplete event. */
  get unfinishedChars(): number {
    return this.rest.length + (this.data?.length ?? 0)
  }

  /**
   * The events that `chunk` completes. Throws RangeError for an event over the limit, and TypeError for invalid UTF-8.
   */
  push(chunk: Uint8Array): SseEvent[] {
    return this.take(this.utf8.decode(chunk, { stream: true }))
  }

  /** The events that the end of the stream completes. A last event without its blank line is still delivered. */
  end(): SseEvent[] {
    return this.take(`${this.utf8.decode()}\n\n`)
  }

  private take(read: string): SseEvent[] {
    const incoming = this.withPlainEnds(read)
    const events = this.eventsIn(incoming)
    this.idleChars = events.length > 0 ? 0 : this.idleChars + incoming.length
    if (this.idleChars > 2 * this.eventCharsMax) throw new RangeError('too much without an event')
    return events
  }

  /** Replaces every line end by LF. */
  private withPlainEnds(read: string): string {
    const text = this.isBehindCr && read.startsWith('\n') ? read.slice(1) : read
    if (read !== '') this.isBehindCr = read.endsWith('\r')
    return text.includes('\r') ? text.replaceAll(CR, '\n') : text
  }

  private eventsIn(incoming: string): SseEvent[] {
    // An event of megabytes comes in hundreds of reads. It is searched from the start only with the last of them.
    if (this.rest !== '' && !incoming.includes('\n')) {
      this.rest += incoming
      if (this.unfinishedChars > this.eventCharsMax) throw new RangeError('event too large')
      return []
    }
    const text = this.rest === '' ? incoming : this.rest + incoming
    const events: SseEvent[] = []
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.line(text, start, end)
      start = end + 1
      if (this.finished !== undefined) {
        events.push(this.finished)
        this.finished = undefined
      }
    }
    this.rest = start === 0 ? text : start < DETACH_FROM_CHARS ? text.slice(start) : detached(text.slice(start))
    if (this.unfinishedChars > this.eventCharsMax) throw new RangeError('event too large')
    return events
  }

  /** Reads a line in place. Slicing each line first would be a tenth of the format's cost per chunk. */
  private line(text: string, start: number, end: number): void {
    if (start === end) {
      if (this.data !== undefined) this.finished = { name: this.name, data: this.data }
      this.name = this.data = undefined
    } else if (text.startsWith('data:', start)) {
      const value = text.slice(text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5, end)
      this.data = this.data === undefined ? value : `${this.data}\n${value}`
    } else if (text.startsWith('event:', start)) {
      this.name = text.slice(start + 6, end).trim()
    }
  }
}

const LINE_BREAKS = /[\r\n]+/g

/** JSON as an unnamed event, ready to be written in one piece. A line break in JSON text can only be white space. */
export const dataEvent = (json: string): string =>
  `data: ${json.includes('\n') || json.includes('\r') ? json.replace(LINE_BREAKS, ' ') : json}\n\n`

/** JSON as a named event, for dialects whose clients use the name. */
export const namedEvent = (name: string, json: string): string => `event: ${name}\n${dataEvent(json)}`
