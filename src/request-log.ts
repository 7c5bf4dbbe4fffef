/** The line of the log about a request. */
import { nanoDigits } from './domain/money.ts'
import { inputTokens, outputTokens } from './domain/usage.ts'
import type { Log } from './lib/runtime/log.ts'
import type { AttemptNote, RequestRecord } from './records/records.ts'

/** The vendor's answer to an attempt, as far as it is kept. */
const saidIn = ({ requestId: id, status, code, type, message }: AttemptNote): object => ({
  id,
  status,
  code,
  type,
  message,
})

/** Logs one line for each request: who, what, how much and how long. It has no prompts, outputs or secrets. */
export function logRecord(log: Log, record: RequestRecord, client: string | undefined): void {
  const { id: request, accountId: account, keyId: key, model, status, outcome, errorCode, attempts, usage } = record
  log('info', 'request', {
    request,
    account,
    key,
    client,
    endpoint: record.endpoint,
    model,
    stream: record.stream,
    status,
    outcome,
    code: errorCode,
    provider: record.providerId,
    attempts: attempts.map(({ providerId, result }) => `${providerId}:${result}`),
    upstream: attempts.map(saidIn),
    inputTokens: inputTokens(usage),
    outputTokens: outputTokens(usage),
    usage: record.usageSource,
    heldNanoUsd: nanoDigits(record.held),
    chargedNanoUsd: nanoDigits(record.charged),
    firstEventMs: record.firstEventMs === undefined ? undefined : Math.round(record.firstEventMs),
    totalMs: Math.round(record.totalMs),
  })
}
