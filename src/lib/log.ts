export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
/** Values as JSON has them: amounts go as decimal text. */
export type LogFields = Readonly<Record<string, unknown>>

/** Structured logging: one JSON object per line. Callers never pass prompts, outputs, keys or media addresses. */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

let lastMs = 0
let lastText = ''

/** The time as ISO text, made once a millisecond. */
function timeText(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastText = new Date(nowMs).toISOString()
  }
  return lastText
}

/**
 * A log that writes to standard error, so that standard output stays free for data. Lines of one tick leave in one
 * write: under load a write per request would cost more than the line itself.
 */
export function createLog(levelMin: LogLevel, write = (text: string): unknown => process.stderr.write(text)): Log {
  let queued = ''
  const flush = (): void => {
    const text = queued
    queued = ''
    write(text)
  }
  return (level, event, fields) => {
    if (order[level] < order[levelMin]) return
    if (queued === '') setImmediate(flush)
    const rest = fields ? JSON.stringify(fields).slice(1) : '}'
    queued += `{"time":"${timeText()}","level":"${level}","event":"${event}"${rest === '}' ? '' : ','}${rest}\n`
    if (level === 'error') flush()
  }
}
