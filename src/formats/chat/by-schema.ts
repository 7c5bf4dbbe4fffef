/** Chat completion requests that take the schema to be judged. */
import { failureOfIssue } from './issue.ts'
import { described, type ReadRequest, type Scanned, type Sent } from './request.ts'
import { chatRequestSchema } from './schema.ts'
import { safeParse } from '../../lib/safe-parse.ts'

/** Reads what `readOrdinaryRequest` says nothing of. Fails with the field named. */
export function readBySchema({ value, members }: Scanned, sent: Sent): ReadRequest {
  const checked = safeParse(chatRequestSchema, value)
  if (checked.success) return described(value, members, sent)
  return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], value) }
}
