export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

/** Structured logging: one JSON object per line. Callers never pass prompts, outputs, keys or media addresses. */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

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
    queued += `${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }, plain)}\n`
    if (level === 'error') flush()
  }
}

export const silentLog: Log = () => undefined
