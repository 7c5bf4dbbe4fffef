/** A finished request as spans and metrics see it: its operation, its error, and its attempts with their times. */
import type { Model } from '../domain/catalog.ts'
import { isRequestFault, type UpstreamFailureKind } from '../domain/failure.ts'
import type { AttemptNote, RequestRecord } from '../records/records.ts'
import type { AttemptTarget, AttemptTargets } from './attempt-target.ts'

export type FinishedAttempt = {
  readonly note: AttemptNote
  readonly target: AttemptTarget
  /** To the end of the answer. */
  readonly tookMs: number
  /** The value of `error.type`: the kind of failure. Undefined if it served, or was stopped for its client. */
  readonly error: string | undefined
  /** For the attempt that the client's charge is for. */
  readonly served: ServedAttempt | undefined
}

export type ServedAttempt = {
  /** From the start of the attempt to the first event of a stream. */
  readonly firstEventMs: number | undefined
}

export type FinishedRequest = {
  readonly record: RequestRecord
  /** The value of `error.type`, if the gateway or its upstreams failed the client. */
  readonly error: string | undefined
  readonly attempts: readonly FinishedAttempt[]
}

/** The values of `gen_ai.operation.name` by endpoint. What makes media has the name of Google's action. */
const operations: Readonly<Record<string, string>> = {
  'chat.completions': 'chat',
  responses: 'chat',
  messages: 'chat',
  gemini: 'generate_content',
  embeddings: 'embeddings',
}

type ModelFinder = { model(id: string): Pick<Model, 'kind'> | undefined }

/** `gemini` is the endpoint of embeddings as well. */
function operationOf({ endpoint, model }: RequestRecord, catalog: ModelFinder): string {
  const isEmbedding = endpoint === 'gemini' && catalog.model(model)?.kind === 'embedding'
  return isEmbedding ? 'embeddings' : (operations[endpoint] ?? 'generate_content')
}

/**
 * A client that left and a request that is itself at fault are no errors of a server. After the head of a stream, the
 * status says nothing of the end.
 */
function errorOf({ outcome, status, errorCode, attempts }: RequestRecord): string | undefined {
  if (status >= 500) return errorCode ?? String(status)
  if (outcome === 'cut') return outcome
  const isLate = outcome === 'failed' && status === 200
  const last = attempts.at(-1)?.result
  return isLate && !(last !== undefined && isRequestFault(last as UpstreamFailureKind))
    ? (errorCode ?? outcome)
    : undefined
}

/** The gateway has stopped an attempt that is `aborted` or `outrun`. */
const NO_ERRORS: ReadonlySet<string> = new Set(['ok', 'aborted', 'outrun'])

/** Nothing was sent, because the provider had no room. */
const isSent = ({ result }: AttemptNote): boolean => result !== 'full'

export function finishedRequest(record: RequestRecord, catalog: ModelFinder, targets: AttemptTargets): FinishedRequest {
  const operation = operationOf(record, catalog)
  const last = record.attempts.findLast((note) => isSent(note) && note.offerId === record.offerId)
  const attempts: FinishedAttempt[] = []
  for (const note of record.attempts) {
    if (!isSent(note)) continue
    const { providerId, upstreamModel, result, startedMs } = note
    // The note of a stream that went well has the time to its first event.
    const isOpen = note === last && result === 'ok' && record.stream
    attempts.push({
      note,
      target: targets.of({ providerId, upstreamModel, operation }),
      tookMs: Math.max(0, isOpen ? record.totalMs - startedMs : note.tookMs),
      error: NO_ERRORS.has(result) ? undefined : result,
      served: note === last ? servedIn(record, startedMs) : undefined,
    })
  }
  return { record, error: errorOf(record), attempts }
}

function servedIn({ stream, firstEventMs }: RequestRecord, startedMs: number): ServedAttempt {
  const isTimed = stream && firstEventMs !== undefined
  return { firstEventMs: isTimed ? Math.max(0, firstEventMs - startedMs) : undefined }
}
