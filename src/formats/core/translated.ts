/** The adapter between two dialects: the client's request becomes a turn, and the upstream's answer becomes deltas. */
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import { ANSWER_CALLS_MAX } from '../../domain/limits.ts'
import { wordsOfParts, type Delta, type Reply, type Turn } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { isTaken } from '../../vendors/fit.ts'
import { DeltaOrder, wholeChoice, orderedDeltas } from './delta-order.ts'
import { SPARE_CHOICES, TOO_MANY_CALLS, TOO_MANY_CHOICES } from './answer-bounds.ts'
import { FreeText, withFunctions } from './free-text.ts'
import { sealedDeltas, sealedReply, withOwnSeals } from './own-seals.ts'
import { GeneratedTextBuffer } from './generated-text.ts'
import { withAllResults } from './open-calls.ts'
import { readReceived } from './buffered-reply.ts'
import { ToolNames } from './tool-names.ts'
import { withCallIds } from './call-ids.ts'
import type {
  AnswerFacts,
  ClientSide,
  FailureReader,
  Adapter,
  AdaptedStream,
  ReadEvent,
  ReadReply,
  StreamDecoder,
  StreamEncoder,
  UpstreamSide,
  WriterQuirks,
} from './contract.ts'

/** A request as a turn, or the failure that prevents it. */
export type TurnRead =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export function translated(read: TurnRead, stream: boolean, client: ClientSide, upstream: UpstreamSide): Adapter {
  const turn = (): Turn => {
    if (read.kind === 'turn') return read.turn
    throw new Error('this request cannot be sent to this upstream')
  }
  let way: Tools | undefined
  const tools = (quirks: WriterQuirks): Tools => (way ??= new Tools(turn(), { client, upstream, quirks }))
  const mapFailure = client.dialect === upstream.dialect ? asItIs : withoutParam
  return {
    dialect: upstream.dialect,
    obstacle: read.kind === 'rejected' ? read.failure : upstream.obstacle?.(read.turn),
    failures: mappedFailures(upstream.failures, mapFailure),
    request(to) {
      const written = upstream.write(tools(to.quirks).turn, stream || to.collected === true, to)
      return { ...written, dropped: [...new Set([...turn().foreign, ...written.dropped])] }
    },
    readReply: (text, quirks) =>
      readReceived(text, (received): ReadReply => {
        const got = upstream.readReply(received.text, quirks, tools(quirks).turn)
        if (got.kind === 'failed') return { kind: 'failed', failure: mapFailure(got.failure) }
        const restored = tools(quirks).restored(got.reply)
        const reply = {
          ...restored,
          choices: restored.choices.map(wholeChoice),
          deltas: restored.deltas && orderedDeltas(restored.deltas),
        }
        return {
          kind: 'reply',
          reply: {
            usage: reply.usage,
            produced: reply.choices.map(({ parts }) => wordsOfParts(parts)).join('\n'),
            write: (answer, billed) => client.reply(reply, answer, billed),
          },
        }
      }),
    collector: () => upstream.collector(),
    eventsOfReply: upstream.eventsOfReply,
    openStream: (answer: AnswerFacts, quirks) =>
      new TranslatedStream(upstream.decoder(quirks, tools(quirks).turn), client.encoder(answer), {
        choices: turn().choices,
        tools: tools(quirks),
        mapFailure,
      }),
  }
}

const isOwn = ({ kind }: Delta): boolean => kind === 'own'

type Ends = { readonly client: ClientSide; readonly upstream: UpstreamSide; readonly quirks: WriterQuirks }

/** A turn with tools that its upstream accepts, and the way back to the client's tools. */
class Tools {
  readonly turn: Turn
  private readonly names: ToolNames
  private readonly freeText: FreeText | undefined
  private readonly isSameDialect: boolean
  private readonly account: string | undefined

  constructor(turn: Turn, { client, upstream, quirks }: Ends) {
    const isOfOpenAi = upstream.dialect === 'chat' || upstream.dialect === 'responses'
    const hasFreeText = isOfOpenAi && isTaken('custom_tools', quirks.rules)
    this.freeText = hasFreeText ? undefined : new FreeText(turn)
    const { dialect } = upstream
    this.account = dialect === 'responses' ? quirks.account : undefined
    const own = withOwnSeals(hasFreeText ? turn : withFunctions(turn), this.account)
    const answered = withAllResults(withCallIds(own, dialect))
    this.names = new ToolNames(answered, dialect)
    this.turn = this.names.turn
    this.isSameDialect = client.dialect === dialect
  }

  restored(reply: Reply): Reply {
    const named = sealedReply(this.names.restored(reply), this.account)
    return this.freeText?.reply(named) ?? named
  }

  named(deltas: readonly Delta[]): readonly Delta[] {
    const common = this.isSameDialect || !deltas.some(isOwn) ? deltas : deltas.filter((delta) => !isOwn(delta))
    return sealedDeltas(this.names.restoredIn(common), this.account)
  }

  /** The deltas in order. Calls of custom tools have free text. */
  freed(deltas: readonly Delta[]): readonly Delta[] {
    return this.freeText?.deltas(deltas) ?? deltas
  }
}

type FailureMapping = (failure: UpstreamFailure) => UpstreamFailure

const asItIs: FailureMapping = (failure) => failure
/** A vendor names fields of its own dialect. A request in another dialect has no such field. */
const withoutParam: FailureMapping = (failure) => {
  const { param: _, ...others } = failure
  return others
}

const mappedFailures = (failures: FailureReader, mapFailure: FailureMapping): FailureReader => ({
  response: (status, headers, body) => mapFailure(failures.response(status, headers, body)),
  hidden(body) {
    const failure = failures.hidden(body)
    return failure && mapFailure(failure)
  },
})

const NOTHING: ReadEvent = { kind: 'chunk', text: '', meaningful: false }

/** Deltas that are encoded when their text is read, because only then they may leave. */
class Chunk {
  readonly kind = 'chunk'
  readonly meaningful = true
  private readonly stream: TranslatedStream
  private readonly deltas: readonly Delta[]
  private said: string | undefined

  constructor(stream: TranslatedStream, deltas: readonly Delta[]) {
    this.stream = stream
    this.deltas = deltas
  }

  get text(): string {
    return (this.said ??= this.stream.say(this.deltas))
  }
}

type StreamOptions = { readonly choices: number; readonly tools: Tools; readonly mapFailure: FailureMapping }

class TranslatedStream implements AdaptedStream {
  readonly produced = new GeneratedTextBuffer()
  readonly thoughts = new GeneratedTextBuffer()
  pieces = 0
  private calls = 0
  private readonly decoder: StreamDecoder
  private readonly encoder: StreamEncoder
  private readonly choices: number
  private readonly tools: Tools
  private readonly mapFailure: FailureMapping
  private readonly ended = new Set<number>()
  private readonly order = new DeltaOrder()
  /** What was read last and not encoded yet. An encoder repeats at its end what it has encoded. */
  private unsaid: readonly Delta[] = []

  constructor(decoder: StreamDecoder, encoder: StreamEncoder, { choices, tools, mapFailure }: StreamOptions) {
    this.decoder = decoder
    this.encoder = encoder
    this.choices = choices
    this.tools = tools
    this.mapFailure = mapFailure
  }

  get usage(): Usage | undefined {
    return this.decoder.usage
  }

  get finished(): boolean {
    // Some vendors send choices one after the other. The end of the first is not the end of the answer.
    return this.decoder.finished && this.ended.size >= this.choices
  }

  read(event: SseEvent): ReadEvent {
    const decoded = this.decoder.decode(event)
    if (decoded.kind === 'failed') return { kind: 'failed', failure: this.mapFailure(decoded.failure) }
    if (decoded.kind === 'done') return decoded
    const deltas = this.tools.named(decoded.deltas)
    this.pieces += deltas.length
    for (const delta of deltas) {
      if (!this.isChoice(delta.choice)) return TOO_MANY_CHOICES
      if (delta.kind === 'reasoning') this.thoughts.add(delta.text)
      else if ('text' in delta) this.produced.add(delta.text)
      else if (delta.kind === 'call') {
        if (++this.calls > ANSWER_CALLS_MAX) return TOO_MANY_CALLS
        this.produced.add(delta.name)
      } else if (delta.kind === 'finish') this.ended.add(delta.choice)
    }
    if (deltas.length === 0) return NOTHING
    this.unsaid = deltas
    return new Chunk(this, deltas)
  }

  say(deltas: readonly Delta[]): string {
    if (this.unsaid === deltas) this.unsaid = []
    return this.encode(deltas)
  }

  private encode(deltas: readonly Delta[]): string {
    return this.encodeOrdered(this.order.take(deltas))
  }

  private encodeOrdered(ordered: readonly Delta[]): string {
    const deltas = this.tools.freed(ordered)
    return deltas.length === 0 ? '' : this.encoder.encode(deltas)
  }

  private isChoice(choice: number): boolean {
    return Number.isInteger(choice) && choice >= 0 && choice < this.choices + SPARE_CHOICES
  }

  cutAtLength(): string {
    for (const { kind, choice } of this.unsaid) if (kind === 'finish') this.ended.delete(choice)
    const deltas: Delta[] = []
    for (let choice = 0; choice < this.choices; choice++) {
      if (!this.ended.has(choice)) deltas.push({ kind: 'finish', choice, reason: 'length' })
    }
    return this.encode(deltas)
  }

  end(billed: Usage): string {
    return this.encodeOrdered(this.order.end()) + this.encoder.end(billed)
  }

  fail(failure: Failure, billed?: Usage): string {
    return this.encodeOrdered(this.order.rest()) + this.encoder.fail(failure, billed)
  }
}
