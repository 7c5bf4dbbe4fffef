/** Parsed chat requests for tests of later steps. */
import { readBySchema } from '../../src/formats/chat/by-schema.ts'
import { readOrdinaryRequest, type ReadChatRequest } from '../../src/formats/chat/request.ts'
import { scanRequest } from '../../src/formats/core/request-json.ts'

/** Reads a request's JSON text as the gateway does, but in one step. */
export function readChatRequest(text: string, bytes: number): ReadChatRequest {
  const scan = scanRequest(text)
  if (scan.kind === 'rejected') return scan
  return readOrdinaryRequest(scan, { text, bytes }) ?? readBySchema(scan, { text, bytes })
}
