/** A client that speaks Gemini's API. */
import { wordsOfParts, type Dialect } from '../../domain/turn.ts'
import type { Failure } from '../../domain/failure.ts'
import { dataEvent } from '../../lib/sse.ts'
import type { ClientRequest, Passage } from '../format.ts'
import { translated } from '../translated.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { geminiClientSide } from './client-side.ts'
import { DirectGemini } from './direct.ts'
import { writeGeminiFailure } from './failure.ts'
import type { GeminiRequest } from './request.ts'
import { geminiTurn } from './turn.ts'

export class GeminiClient implements ClientRequest {
  readonly endpoint = 'gemini'
  readonly failures = { write: writeGeminiFailure }
  /** Google's SDK for JavaScript drops an event with a comment before it: the comment ends like an event (3.1). */
  readonly heartbeat = ': ping\n\n'
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly outputTokensMax: number | undefined
  readonly textBytes: number
  readonly imageParts: number
  readonly mediaBytes: number
  readonly messages: number
  private readonly request: GeminiRequest

  constructor(request: GeminiRequest) {
    this.request = request
    this.model = request.model
    this.stream = request.stream
    this.choices = request.choices
    this.outputTokensMax = request.outputTokensMax
    this.textBytes = request.textBytes
    this.imageParts = request.imageParts
    this.mediaBytes = request.mediaBytes
    this.messages = request.body.contents.length + (request.body.systemInstruction ? 1 : 0)
  }

  promptText(): string {
    const read = geminiTurn(this.request.body)
    if (read.kind === 'rejected') return ''
    const { messages, tools } = read.turn
    const texts = messages.map(({ parts }) => wordsOfParts(parts))
    if (tools.length > 0) texts.push(JSON.stringify(tools))
    return texts.join('\n')
  }

  failStream(failure: Failure): string {
    return dataEvent(writeGeminiFailure(failure).body)
  }

  passage(offered: readonly Dialect[]): Passage {
    if (offered.includes('gemini')) return new DirectGemini(this.request)
    const { body, stream } = this.request
    const thoughts = body.generationConfig?.thinkingConfig?.includeThoughts ? 'shown' : 'hidden'
    return translated(geminiTurn(body), stream, geminiClientSide(thoughts), upstreamSideOf(offered))
  }
}
