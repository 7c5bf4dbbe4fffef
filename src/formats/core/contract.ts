/**
 * What a dialect of text generation is made of. A client's side reads requests and writes answers and failures; an
 * upstream's side writes requests and reads answers and failures. Between two dialects stands one neutral turn.
 */
import type { Model, ModelKind } from '../../domain/catalog.ts'
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import type { ImageFormat, ImageWish } from '../../domain/image.ts'
import type { Delta, Dialect, Reply, Turn } from '../../domain/turn.ts'
import type { Usage, UsageSource } from '../../domain/usage.ts'
import type { HeaderFields } from '../../lib/http/message-head.ts'
import type { UploadBody } from '../../lib/http/form.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import type { Rule } from '../../vendors/rules.ts'
import type { GeneratedText } from './generated-text.ts'
import type { Quirks } from '../../vendors/preset.ts'
import type { RemoteMedium } from './remote-media.ts'
import type { RequestWords } from './request-words.ts'
import type { VideoBody } from './video-body.ts'

/** What the relay has to know of a client's request, whatever its dialect. */
export type ClientRequest = RequestedWork & {
  /** What the model must make; text where it is not said. */
  readonly kind?: ModelKind
  /** What this model cannot do of what the request asks for. */
  check?(model: Model): Failure | undefined
  /** For the record: `chat.completions`, `responses`, … */
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  /** The client's own output limit for one choice. */
  readonly outputTokensMax: number | undefined
  /** Bytes of text: no tokenizer makes more tokens of them. */
  readonly textBytes: number
  readonly imageParts: number
  /** Decoded bytes of audio and file payloads, whose tokens cannot exceed them. */
  readonly mediaBytes: number
  /** Media it names by address, but for what lies in a store of its dialect's vendor; left out: none. */
  readonly remoteMedia?: readonly RemoteMedium[] | undefined
  /** How many messages a chat template wraps. */
  readonly messages: number
  /** Whether the model may reason and call tools, where that decides in which of its formats a vendor is asked. */
  readonly hasTools?: boolean
  /** The words of the prompt, without media, for an estimate. */
  promptText(): string
  /** All that the client sent, so that no vendor's message that repeats any of it is kept. Left out: the prompt. */
  wholeText?(): string
  readonly failures: FailureWriter
  /** What its dialect calls the parts of a request that a refusal speaks of. Left out: as in chat. */
  readonly words?: RequestWords
  /** The comment that fills silence in its streams, where the usual one (`: ping\n`) would be misread. */
  readonly heartbeat?: string
  /** A stream that ends before anything of an answer: the dialect's error inside a stream. */
  failStream(failure: Failure, answer: AnswerFacts): string
  /** Whether it asks for addresses of this gateway: their files take room on its disk. */
  readonly leavesFiles?: boolean
  /** The way to an upstream that speaks one of these dialects; the first is used where none is the client's own. */
  adapter(offers: readonly Dialect[], context: AdapterContext): Adapter
  /** In dialects whose conversations the gateway keeps. */
  readonly conversation?: Conversation | undefined
}

/** What a request asks for besides text, as far as its price depends on it. */
export type RequestedWork = {
  /** In a dialect in which a turn may be answered with images: how large they are to be, as its vendor calls it. */
  readonly painting?: { readonly quality: string | undefined }
  readonly images?: ImageWish
  /** A video is made by a task: neither streamed nor passed. */
  readonly video?: VideoBody
}

/** A turn as it is kept: JSON texts that only its dialect reads. */
export type KeptTurn = {
  readonly id: string
  readonly parentId: string | undefined
  readonly state: 'running' | 'ended'
  /** What its request decided, and how it stands. */
  readonly head: string
  readonly standing: string
  /** The items that this turn brought, and no others. */
  readonly input: string
  readonly output: string
  /** How its stream was cut into events, where it may be followed. */
  readonly trace: string | undefined
}

/** What later turns need of one. */
export type PastTurn = Pick<KeptTurn, 'id' | 'state' | 'input' | 'output'>

/** A request's part in a conversation that the gateway keeps. */
export type Conversation = {
  /** The turn it continues. */
  readonly previousId: string | undefined
  /** Turns of which it names single items. */
  readonly referredIds: readonly string[]
  /** Whether the client waits for the answer; asks for it later; or listens to one that does not need it. */
  readonly mode: 'attached' | 'polled' | 'followed'
  /**
   * Takes what was said before, oldest first: from here on the request can be priced and written. Called once, before
   * anything else, also where there is nothing to tell.
   */
  recall(earlier: readonly PastTurn[], referred: readonly PastTurn[]): Failure | undefined
  /** The client wants the answer no more, or not even to know of it. */
  cancel(what: 'stopped' | 'forgotten'): void
  /** About what its turn will take to keep, but for the answer; undefined where the client wants nothing kept. */
  readonly keptBytes: number | undefined
  /** The turn as it stands at its beginning. */
  begun(answer: AnswerFacts): KeptTurn
  /** The turn once its answer has ended; undefined before, and where the client wants nothing kept. */
  ended(): KeptTurn | undefined
  /** A turn as the client sees it, whole. */
  show(turn: KeptTurn): string
  /** Events that are the same as those of the answer, also while it is made. */
  follow(answer: AnswerFacts, after: number): Follower
}

/** Reads the events of a turn from the first one after a number on. */
export type Follower = {
  /** Events that were not read yet, up to here or up to the end, which must have been settled. */
  read(upTo: 'here' | 'end'): string
}

/** What an adapter may want to know of its surroundings. */
export type AdapterContext = { readonly model: Model; readonly imageService: ImageService }

/** What is done with the bytes of images on their way; the relay lends it. */
export type ImageService = {
  /** Fetches what an upstream left at an address of its own; undefined when it cannot be had. */
  fetch(url: string): Promise<Buffer | undefined>
  /** Decodes an image to see that it is one; undefined when it is not. */
  inspect(bytes: Buffer): Promise<ImageInfo | undefined>
  /** Whether the gateway has an address by which a client could fetch anything. */
  readonly canHost: boolean
  /** Keeps the bytes for a while where the client finds them: their address. */
  host(bytes: Buffer, format: ImageFormat): Promise<string>
}
export type ImageInfo = { readonly format: ImageFormat; readonly width: number; readonly height: number }

/** An image that arrived, as far as its price depends on it. */
export type DeliveredImage = { readonly size: string; readonly quality: string }

/** Images that came as part of a turn. */
export type InlineImages = {
  readonly images: number
  /** How many there were besides that cannot be decoded. */
  readonly spoiled: number
  /** Who is why no more came: a client that leaves, or sets a limit, has had the vendor work for it. */
  readonly endedBy: 'vendor' | 'client'
}

/** What a request consumed, and how we know. */
export type MeteredUsage = { readonly usage: Usage; readonly source: UsageSource }

export type WrittenFailure = {
  readonly status: number
  readonly code: string
  /** The dialect's envelope, as JSON text. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** How a dialect tells its client of a failure. */
export type FailureWriter = {
  /** `requestId` for dialects whose envelope names it. */
  write(failure: Failure, requestId?: string): WrittenFailure
}

/** What a writer and a reader know of the vendor of an offer. */
export type WriterQuirks = Quirks & {
  /** The account at the vendor: some of what it seals is for this account alone. */
  readonly account?: string
  /** What this vendor refuses of this model; left out: nothing that is known. */
  readonly rules?: readonly Rule[]
}

/** One upstream model that a request is to be written for. */
export type Destination = {
  readonly upstreamModel: string
  /** The output limit of one choice: the client's own, or the gateway's. Undefined: none is sent. */
  readonly outputTokensMax: number | undefined
  /** The most that the model gives, where that is known: what a vendor is sent that demands a limit. */
  readonly modelOutputTokensMax?: number | undefined
  /** Whether a whole reply is asked for as a stream, to be collected here. */
  readonly collected?: boolean | undefined
  readonly quirks: WriterQuirks
}

export type UpstreamRequest = {
  /** Left out: POST. */
  readonly method?: 'GET' | undefined
  /** After the provider's base URL, with a query where it needs one. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** A body that is not text, instead. */
  readonly upload?: UploadBody | undefined
  /** What the client asked for and this upstream cannot do. */
  readonly dropped: readonly string[]
  /** The output limit that this vendor demanded and nobody asked for. */
  readonly demandedOutputTokensMax?: number | undefined
}

type FailedRead = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

/** A whole reply on its way through: what the bill needs, and the text for the client. */
export type AdaptedReply = {
  readonly usage: Usage | undefined
  /** What was produced, for an estimate when no usage came. */
  readonly produced: string | GeneratedText
  /** The images that can be decoded, where images were asked for. */
  readonly delivered?: readonly DeliveredImage[]
  readonly painted?: InlineImages
  /** The reply for the client. It states what is billed, whatever the upstream reported. */
  write(answer: AnswerFacts, billed: Usage): string
}
export type ReadReply = { readonly kind: 'reply'; readonly reply: AdaptedReply } | FailedRead

/** What an answer says of itself, in any dialect. */
export type AnswerFacts = {
  readonly requestId: string
  readonly createdAtMs: number
  readonly publicModel: string
}

/**
 * What one upstream event comes to. `text` is for the client, empty when there is nothing to say. It is asked for
 * before the next event is read, unless nothing of this one may leave.
 */
export type ReadEvent =
  | { readonly kind: 'chunk'; readonly text: string; readonly meaningful: boolean }
  | { readonly kind: 'done' }
  | FailedRead

/** A stream on its way through. */
export type AdaptedStream = {
  /** The last usage the upstream reported; running totals overwrite, they do not add. */
  readonly usage: Usage | undefined
  /** What arrived so far, as text; thoughts apart where the dialect tells them apart. */
  readonly produced: string | GeneratedText
  readonly thoughts?: string | GeneratedText
  /** Images that arrived, and how many are under way of which the client has seen something. */
  readonly delivered?: readonly DeliveredImage[]
  readonly begun?: number
  readonly painted?: InlineImages
  /** Pieces of an answer that came, where one event can bring many. */
  readonly pieces?: number
  /** Looks into an event, where that takes a while. Awaited before `read`. */
  prepare?(event: SseEvent): Promise<void>
  /** Every choice that began has ended: an end of the stream now is a complete one. */
  readonly finished: boolean
  read(event: SseEvent): ReadEvent
  /** The end for the client, terminator included. It states what is billed, as far as nothing was stated before. */
  end(billed: Usage): string
  /**
   * Ends every choice as cut at its length, in the dialect of the client, and without the event that was read last:
   * that one did not leave. `end` comes after it. Left out where an answer is never ended from here.
   */
  cutAtLength?(): string
  /**
   * The end of an answer that broke: the dialect's error inside the stream, and nothing that looks like completion.
   * `billed` is what it came to, where something came.
   */
  fail(failure: Failure, billed?: Usage): string
}

/** Puts the events of a stream together to the reply that the upstream would have given in one piece. */
export type ReplyCollector = {
  add(event: SseEvent): void
  /** The reply was cut at its length: it is one also where nothing of it came. Left out where it is one anyway. */
  cutAtLength?(): void
  /** The reply as JSON text. Of an answer that was cut the end is `length`, also where an upstream leaves it out. */
  text(): string
}

/** The first parts of a request that takes several exchanges. */
export type FirstParts = {
  /** What they ask, to be counted. */
  readonly text: string
  /** What their client is told where they were answered and the next was refused. */
  readonly said: string
}

/** A way from a client's dialect to an upstream's and back. */
export type Adapter = {
  readonly dialect: Dialect
  /** Why this request cannot be put in the upstream's dialect; undefined when it can. */
  readonly obstacle: Failure | undefined
  request(to: Destination): UpstreamRequest
  /** Later, where the reply is large. */
  readReply(text: string, quirks: WriterQuirks): ReadReply | Promise<ReadReply>
  openStream(answer: AnswerFacts, quirks: WriterQuirks): AdaptedStream
  /** For a reply that was asked for as a stream; left out where it cannot be. */
  collector?(): ReplyCollector
  /** For a request that takes more than one exchange: its parts. */
  split?(to: Destination): readonly UpstreamRequest[]
  /** The reply from the answers of all parts in the same order, or from the one, where reading takes a while. */
  join?(texts: readonly string[]): Promise<ReadReply>
  /** So many of them, the first. */
  readonly firstParts?: (count: number) => FirstParts
  /** Where the upstream does not stream, or not this: its whole reply as the events of a stream. */
  readonly asEvents?: ((text: string) => readonly SseEvent[]) | undefined
  /** The events of a whole reply, which some servers send to whoever asks for a stream. Left out: none is taken. */
  readonly eventsOfReply?: ((text: string) => readonly SseEvent[]) | undefined
  readonly failures: FailureReader
}

/** How an upstream's dialect says what went wrong. */
export type FailureReader = {
  /** Reads an error response. */
  response(status: number, headers: HeaderFields, body: string): UpstreamFailure
  /** Reads a body that came with 200 and may be an error; undefined when it is none. */
  hidden(body: string): UpstreamFailure | undefined
}

/** The upstream's side of a dialect, from and to the neutral turn. */
export type UpstreamSide = {
  readonly dialect: Dialect
  readonly failures: FailureReader
  /** What every request carries, also one that asks for nothing but the list of models. */
  readonly headers?: Readonly<Record<string, string>>
  /** Why a turn cannot be said in this dialect; undefined when it can. */
  obstacle?(turn: Turn): Failure | undefined
  write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest
  /** `turn` is what was asked: an answer may take its meaning from it. */
  readReply(
    text: string,
    quirks: WriterQuirks,
    turn: Turn,
  ): { readonly kind: 'reply'; readonly reply: Reply } | FailedRead
  decoder(quirks: WriterQuirks, turn: Turn): StreamDecoder
  collector(): ReplyCollector
  /** As in `Passage`. */
  readonly eventsOfReply?: (text: string) => readonly SseEvent[]
}

/** What one upstream event means. */
export type DecodedEvent =
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[] }
  | { readonly kind: 'done' }
  | FailedRead

export type StreamDecoder = {
  readonly usage: Usage | undefined
  readonly finished: boolean
  decode(event: SseEvent): DecodedEvent
}

/** The client's side of a dialect, from the neutral answer. */
export type ClientSide = {
  readonly dialect: Dialect
  reply(reply: Reply, answer: AnswerFacts, usage: Usage): string
  encoder(answer: AnswerFacts): StreamEncoder
}

export type StreamEncoder = {
  /** Complete events for the client. */
  encode(deltas: readonly Delta[]): string
  end(usage: Usage): string
  fail(failure: Failure, billed?: Usage): string
}
