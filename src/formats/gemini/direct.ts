/** Gemini to Gemini: the client's own bytes up, the upstream's own bytes down. */
import { sameUsage } from '../../domain/usage.ts'
import type {
  AnswerFacts,
  Destination,
  Passage,
  PassedReply,
  PassedStream,
  ReadReply,
  UpstreamRequest,
} from '../format.ts'
import { reviseJson, unbounded, type ScanLimits } from '../../lib/json-scan.ts'
import { asFields, asList, parseFields } from '../fields.ts'
import { brokenFinish } from './decoder.ts'
import { editsOf, wordsOf } from './direct-edits.ts'
import { geminiFailures, readGeminiError } from './failure.ts'
import { upstreamPath } from './model-path.ts'
import { isBrokenFinish, readParts } from './parts.ts'
import { withoutCallIds, writeUpstreamBody, type GeminiRequest } from './request.ts'
import { GeminiStream } from './stream.ts'
import { readGeminiUsage, writeGeminiUsage } from './usage.ts'

export class DirectGemini implements Passage {
  readonly dialect = 'gemini'
  readonly obstacle = undefined
  readonly failures = geminiFailures
  private readonly client: GeminiRequest

  constructor(client: GeminiRequest) {
    this.client = client
  }

  request({ upstreamModel, outputTokensMax, quirks }: Destination): UpstreamRequest {
    const { stream } = this.client
    const written = writeUpstreamBody(this.client, outputTokensMax)
    const body = quirks.callIds === 'refused' ? withoutCallIds(written) : written
    const path = upstreamPath(upstreamModel, stream ? 'streamGenerateContent' : 'generateContent')
    return { path, headers: {}, body, dropped: [] }
  }

  readReply(text: string): ReadReply {
    return readDirectReply(text)
  }

  openStream({ publicModel }: AnswerFacts): PassedStream {
    return new GeminiStream(publicModel)
  }
}

/** An upstream is trusted further than a client, not blindly. */
const replyLimits: ScanLimits = { depthMax: 128, nodesMax: 2_000_000, commasMax: 4_000_000, ...unbounded }

/** Reads a 200 reply. What is no answer is a failure of the upstream, whatever its status said. */
function readDirectReply(text: string): ReadReply {
  const response = parseFields(text)
  const garbage = (message: string): ReadReply => ({
    kind: 'failed',
    failure: { kind: 'garbage', status: 200, message },
  })
  if (!response) return garbage('the reply is not a JSON object')
  if (response['error']) return { kind: 'failed', failure: readGeminiError(undefined, response) }
  const candidates = asList(response['candidates']).map(asFields)
  // A blocked prompt is an answer: its client knows how to read it.
  const isBlocked = asFields(response['promptFeedback'])['blockReason'] !== undefined
  if (candidates.length === 0 && !isBlocked) return garbage('the reply has no candidates')
  const malformed = candidates.find((one) => isBrokenFinish(one['finishReason']) && readParts(one).length === 0)
  if (malformed) return brokenFinish(malformed['finishReason'])
  const usage = readGeminiUsage(response['usageMetadata'])
  const reply: PassedReply = {
    usage,
    produced: wordsOf(candidates),
    write({ publicModel }, billed) {
      const stands = usage !== undefined && sameUsage(usage, billed)
      const edits = editsOf(response, publicModel, stands ? usage : undefined)
      if (!stands) edits.push({ key: 'usageMetadata', value: writeGeminiUsage(billed) })
      return edits.length === 0 ? text : reviseJson(text, edits, replyLimits)
    },
  }
  return { kind: 'reply', reply }
}
