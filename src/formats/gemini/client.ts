/** A client that speaks Gemini's API. */
import { paintsInTurn, type Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { wordsOfParts, type Dialect } from '../../domain/turn.ts'
import { dataEvent } from '../../lib/http/sse.ts'
import type { ClientRequest, Adapter, AdapterContext } from '../core/contract.ts'
import { googleWords } from '../core/request-words.ts'
import { translated } from '../core/translated.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { geminiClientSide } from './client-side.ts'
import { DirectGemini, PaintedGemini } from './direct.ts'
import { writeGeminiFailure } from '../core/google-failure.ts'
import { checkPainting, wantsImages } from './paintings.ts'
import { exactGeminiBody, type GeminiRequest } from './request.ts'
import { geminiTurn } from './turn.ts'

type Parts = readonly { readonly text?: string | null | undefined }[] | null | undefined
const textsOf = (parts: Parts): readonly string[] => parts?.map(({ text }) => text ?? '') ?? []

export class GeminiClient implements ClientRequest {
  readonly endpoint = 'gemini'
  readonly failures = { write: writeGeminiFailure }
  readonly words = googleWords
  /** Google's SDK for JavaScript drops an event after a comment, unless the comment ends like an event (3.1). */
  readonly heartbeat = ': ping\n\n'
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly outputTokensMax: number | undefined
  readonly textBytes: number
  readonly imageParts: number
  readonly mediaBytes: number
  readonly remoteMedia: GeminiRequest['remoteMedia']
  readonly messages: number
  readonly painting: { readonly quality: string | undefined }
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
    this.painting = { quality: request.body.generationConfig?.imageConfig?.imageSize ?? undefined }
    this.remoteMedia = request.remoteMedia
    this.messages = request.body.contents.length + (request.body.systemInstruction ? 1 : 0)
  }

  check(model: Model): Failure | undefined {
    return paintsInTurn(model) ? checkPainting(this.request.body, model) : wantsImages(this.request.body, model)
  }

  wholeText(): string {
    return this.request.text
  }

  promptText(): string {
    const read = geminiTurn(this.request.body)
    if (read.kind === 'rejected') return ''
    const { messages, tools } = read.turn
    const texts = messages.map(({ parts }) => wordsOfParts(parts))
    if (tools.length > 0) texts.push(JSON.stringify(tools))
    return texts.join('\n')
  }

  opening(): readonly string[] {
    const { systemInstruction, contents } = this.request.body
    const first = contents.find(({ role }) => role !== 'model')
    if (typeof systemInstruction === 'string') return [systemInstruction, ...textsOf(first?.parts)]
    return [...textsOf(systemInstruction?.parts), ...textsOf(first?.parts)]
  }

  failStream(failure: Failure): string {
    return dataEvent(writeGeminiFailure(failure).body)
  }

  adapter(offered: readonly Dialect[], { model, imageService }: AdapterContext): Adapter {
    if (paintsInTurn(model)) return new PaintedGemini(this.request, imageService, offered)
    if (offered.includes('gemini')) return new DirectGemini(this.request)
    const { body, stream } = this.request
    const exact = exactGeminiBody(this.request)
    const thoughts = body.generationConfig?.thinkingConfig?.includeThoughts ? 'shown' : 'hidden'
    return translated(geminiTurn(exact), stream, geminiClientSide(thoughts), upstreamSideOf(offered))
  }
}
