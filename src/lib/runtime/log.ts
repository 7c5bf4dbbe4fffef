import { safeJson } from '../primitives/safe-text.ts'
import { MIB } from '../primitives/units.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
/** JSON values. Amounts are decimal text. */
export type LogFields = Readonly<Record<string, unknown>>

/** Structured logging: one JSON object per line. Callers never pass prompts, outputs, keys or media addresses. */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

let lastMs = 0
let lastText = ''

/** The time as ISO text, formatted once a millisecond. */
function timeText(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastText = new Date(nowMs).toISOString()
  }
  return lastText
}

/**
 * The text that is kept for a reader that has stopped reading. It is counted since the reader last had everything,
 * because the runtime does not tell how much is unread.
 */
const UNREAD_CHARS_MAX = 16 * MIB

type Readable = Pick<NodeJS.WriteStream, 'write' | 'on'>

/** A writer with a bound for a stuck reader. When the reader goes on, the writer reports how much was lost. */
export function writerTo(stream: Readable): (text: string) => void {
  let unread = 0
  let lost = 0
  stream.on('drain', () => {
    unread = 0
    if (lost === 0) return
    const text = `{"time":"${timeText()}","level":"error","event":"log.lost","lines":${lost}}\n`
    lost = 0
    stream.write(text)
  })
  return (text) => {
    if (unread > UNREAD_CHARS_MAX) lost += text.split('\n').length - 1
    else if (!stream.write(text)) unread += text.length
  }
}

let toStderr: ReturnType<typeof writerTo> | undefined

/** One writer for all logs of the process, because they have the same reader. */
const stderrWriter = (): ReturnType<typeof writerTo> => (toStderr ??= writerTo(process.stderr))

/**
 * A log that writes to standard error, so that standard output stays free for data. The lines of one tick are written
 * together, because under load a write per request would cost more than the line itself.
 */
export function createLog(levelMin: LogLevel, write = stderrWriter()): Log {
  let queued = ''
  const flush = (): void => {
    const text = queued
    queued = ''
    write(text)
  }
  return (level, event, fields) => {
    if (order[level] < order[levelMin]) return
    if (queued === '') setImmediate(flush)
    const rest = fields ? safeJson(JSON.stringify(fields)).slice(1) : '}'
    queued += `{"time":"${timeText()}","level":"${level}","event":"${event}"${rest === '}' ? '' : ','}${rest}\n`
    if (level === 'error') flush()
  }
}
