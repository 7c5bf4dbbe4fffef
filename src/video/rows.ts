/** A task as a row. Composite values are JSON text, and amounts in them are decimal text. */
import type { VideoTask, VideoTerms } from '../domain/video-task.ts'
import type { Row, SqlValue } from '../store/statement.ts'

const NANO = /^-?\d+n$/

/** JSON text in which amounts are written as `123n`. */
export const packed = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))

function unpacked<T>(text: string): T {
  const revived: unknown = JSON.parse(text, (_, part: unknown) =>
    typeof part === 'string' && NANO.test(part) ? BigInt(part.slice(0, -1)) : part,
  )
  return revived as T
}

const text = (value: SqlValue | undefined): string | undefined => (value as string | null) ?? undefined
const time = (value: SqlValue | undefined): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)
const json = <T>(value: SqlValue | undefined): T | undefined =>
  typeof value === 'string' ? unpacked<T>(value) : undefined

export const taskOf = (row: Row): VideoTask => ({
  id: row['id'] as string,
  accountId: row['account_id'] as string,
  keyId: row['key_id'] as string,
  requestId: row['request_id'] as string,
  model: row['model'] as string,
  stage: row['stage'] as VideoTask['stage'],
  progress: Number(row['progress']),
  wish: unpacked(row['wish'] as string),
  terms: unpacked<VideoTerms>(row['terms'] as string),
  held: row['held'] as bigint,
  offerId: text(row['offer_id']),
  upstreamId: text(row['upstream_id']),
  upscaleId: text(row['upscale_id']),
  made: json(row['made']),
  usage: json(row['usage']),
  reason: text(row['reason']),
  createdAtMs: Number(row['created_at']),
  deadlineAtMs: Number(row['deadline_at']),
  startedAtMs: time(row['started_at']),
  endedAtMs: time(row['ended_at']),
})
