/** Chat completion requests that the schema has to check. */
import { failureOfIssue } from '../core/issue.ts'
import { chatRequestOf, type ReadChatRequest, type ScannedBody, type RequestText } from './request.ts'
import { chatRequestSchema } from './schema.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'

/** Reads a request that `readOrdinaryRequest` does not decide. A failure names the field. */
export function readBySchema({ value, members }: ScannedBody, sent: RequestText): ReadChatRequest {
  const checked = safeParse(chatRequestSchema, value)
  if (checked.success) return chatRequestOf(value, members, sent)
  return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], value) }
}
