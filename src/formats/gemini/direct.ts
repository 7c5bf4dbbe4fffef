/** Gemini to Gemini: the client's own bytes up, the upstream's own bytes down. */
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
  message: "No upstream of this model speaks Gemini's API, in which alone it makes images.",
  param: 'model',
}

/** The same with images in the answer: each is decoded before the answer is passed on, because only then it is paid. */
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

/** What of an answer's ends is none, and nothing that the client could read came before it. */
function noEndIn(candidates: readonly Fields[], silence: Silence): FailedAnswer | undefined {
  for (const one of candidates) {
    const end = hasContent(one) ? undefined : failureOfFinish(one['finishReason'])
    if (end) return end
  }
  return candidates.some(hasContent) ? undefined : silentEnd(candidates[0]?.['finishReason'], silence)
}

/** Reads a 200 reply. What is no answer is a failure of the upstream, whatever its status said. */
function readDirectReply(received: BufferedReply, silence: Silence): DirectReply {
  const response = parseFields(received.text, () => received.parsed())
  if (!response) return garbage('the reply is not a JSON object')
  if (response['error']) return { kind: 'failed', failure: readGeminiError(undefined, response) }
  const candidates = fieldListIn(response['candidates'] ?? []) ?? []
  // A blocked prompt is an answer: its client knows how to read it.
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
