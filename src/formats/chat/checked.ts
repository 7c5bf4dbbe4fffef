/** Reads chat completion requests, the odd ones too. */
import { scanRequest } from '../request-json.ts'
import { failureOfIssue } from './issue.ts'
import { described, readOrdinaryRequest, type ReadRequest } from './request.ts'
import { chatRequestSchema } from './schema.ts'

/** Reads a request's JSON text: structure, syntax, schema, in this order. Fails with the field named. */
export function readChatRequest(text: string, bytes: number, scan = scanRequest(text)): ReadRequest {
  const read = readOrdinaryRequest(scan, { text, bytes })
  if (read) return read
  if (scan.kind === 'rejected') return scan
  const checked = chatRequestSchema.safeParse(scan.value)
  if (checked.success) return described(scan.value, scan.members, { text, bytes })
  return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], scan.value) }
}
