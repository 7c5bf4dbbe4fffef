/** Gemini to Gemini: the client's bytes go up, and the upstream's bytes come down. */
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import { sameUsage } from '../../domain/usage.ts'
import type {
  AnswerFacts,
  Destination,
  ImageService,
  Adapter,
  AdaptedReply,
  AdaptedStream,
  ReadReply,
  ReplyCollector,
  UpstreamRequest,
} from '../core/contract.ts'
import { asFields, fieldListIn, parseFields, type Fields } from '../core/fields.ts'
import { readReceived, type BufferedReply } from '../core/buffered-reply.ts'
import { GeminiCollector } from './collector.ts'
import { editsOf, textOfCandidates } from './direct-edits.ts'
import { failureOfFinish, hasContent, silentEnd, type FailedAnswer, type Silence } from './ends.ts'
import { geminiFamilyOf } from '../../vendors/gemini-families.ts'
import { geminiFailures, readGeminiError } from '../core/google-failure.ts'
import { upstreamPath } from '../core/google-model-path.ts'
import { strangersIn, withoutStrangers } from './lawful.ts'
import { withoutCallIds } from './nameless-calls.ts'
import { paintedIn, SPOILED } from './paintings.ts'
import { writeGeminiBody, type GeminiRequest } from './request.ts'
import { GeminiStream } from './stream.ts'
import { readGeminiUsage, writeGeminiUsage } from './usage.ts'

export class DirectGemini implements Adapter {
  readonly dialect = 'gemini'
  readonly obstacle: Failure | undefined
  readonly failures = geminiFailures
  protected readonly client: GeminiRequest
  protected silence: Silence
  protected readonly read = (received: BufferedReply): DirectReply => readDirectReply(received, this.silence)

  constructor(client: GeminiRequest, obstacle?: Failure) {
    this.client = client
    this.silence = silenceOf(client)
    this.obstacle = obstacle
  }

  request({ upstreamModel, outputTokensMax, collected = false, quirks }: Destination): UpstreamRequest {
    const stream = this.client.stream || collected
    const family = geminiFamilyOf(upstreamModel)
    const strangers = strangersIn(this.client.body, family)
    const written = writeGeminiBody(this.client, outputTokensMax)
    const lawful = strangers.thoughts || strangers.calls ? withoutStrangers(written.body, family) : written.body
    const body = quirks.callIds === 'refused' ? withoutCallIds(lawful) : lawful
    const path = upstreamPath(upstreamModel, stream ? 'streamGenerateContent' : 'generateContent')
    const dropped = strangers.thoughts ? [...written.dropped, 'reasoning'] : written.dropped
    return { path, headers: {}, body, dropped }
  }

  readReply(text: string): ReturnType<Adapter['readReply']> {
    return readReceived(text, this.read)
  }

  collector(): ReplyCollector {
    return new GeminiCollector()
  }

  openStream({ publicModel }: AnswerFacts): AdaptedStream {
    return new GeminiStream(publicModel, { silence: this.silence })
  }
}

const NOT_SPOKEN: Failure = {
  kind: 'model_not_supported',
  message: "This model makes images through Gemini's API only, and none of its upstreams speaks it.",
  param: 'model',
}

/**
 * The same with images in the answer. Each image is decoded before the answer leaves, because only a valid one is
 * charged.
 */
export class PaintedGemini extends DirectGemini {
  private readonly imageService: ImageService

  constructor(client: GeminiRequest, imageService: ImageService, offered: readonly Dialect[]) {
    super(client, offered.includes('gemini') ? undefined : NOT_SPOKEN)
    this.silence = 'lawful'
    this.imageService = imageService
  }

  async join([text = '']: readonly string[]): Promise<ReadReply> {
    const read = await readReceived(text, this.read)
    if (read.kind === 'failed') return read
    const painted = await paintedIn(read.response, this.imageService)
    if (painted.images === 0 && painted.spoiled > 0) return garbage(SPOILED)
    return { kind: 'reply', reply: { ...read.reply, painted } }
  }

  override openStream({ publicModel }: AnswerFacts): AdaptedStream {
    return new GeminiStream(publicModel, { silence: this.silence, imageService: this.imageService })
  }
}

type DirectReply = Extract<ReadReply, { kind: 'failed' }> | { kind: 'reply'; reply: AdaptedReply; response: Fields }

const garbage = (message: string): Extract<ReadReply, { kind: 'failed' }> => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})

const silenceOf = ({ choices, body: { contents, generationConfig } }: GeminiRequest): Silence =>
  choices > 1 ||
  (generationConfig?.stopSequences?.length ?? 0) > 0 ||
  contents.at(-1)?.parts?.some(({ functionResponse }) => functionResponse) === true
    ? 'at_stop'
    : 'failure'

/** A finish reason that is a failure, if nothing that the client could read came before it. */
function noEndIn(candidates: readonly Fields[], silence: Silence): FailedAnswer | undefined {
  for (const one of candidates) {
    const end = hasContent(one) ? undefined : failureOfFinish(one['finishReason'])
    if (end) return end
  }
  return candidates.some(hasContent) ? undefined : silentEnd(candidates[0]?.['finishReason'], silence)
}

/** Reads a reply with status 200. A body that is no answer is an upstream failure in spite of its status. */
function readDirectReply(received: BufferedReply, silence: Silence): DirectReply {
  const response = parseFields(received.text, () => received.parsed())
  if (!response) return garbage('the reply is not a JSON object')
  if (response['error']) return { kind: 'failed', failure: readGeminiError(undefined, response) }
  const candidates = fieldListIn(response['candidates'] ?? []) ?? []
  // A blocked prompt is an answer that clients of this dialect can read.
  const isBlocked = asFields(response['promptFeedback'])['blockReason'] !== undefined
  if (candidates.length === 0 && !isBlocked) return garbage('the reply has no candidates')
  const noEnd = isBlocked ? undefined : noEndIn(candidates, silence)
  if (noEnd) return noEnd
  const usage = readGeminiUsage(response['usageMetadata'])
  const reply: AdaptedReply = {
    usage,
    produced: textOfCandidates(candidates),
    write({ publicModel }, billed) {
      const stands = usage !== undefined && sameUsage(usage, billed)
      const edits = editsOf(response, publicModel, stands ? usage : undefined)
      if (!stands) edits.push({ key: 'usageMetadata', value: writeGeminiUsage(billed) })
      return received.revised(edits)
    },
  }
  return { kind: 'reply', reply, response }
}
