/**
 * The parts of a dialect of text generation. The client side reads requests and writes answers and failures. The
 * upstream side writes requests and reads answers and failures. One neutral turn stands between two dialects.
 * Over 300 lines: the contract is read as one, and every dialect is written against it.
 */
import type { Model, ModelKind } from '../../domain/catalog.ts'
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import type { ImageFormat, ImageOptions } from '../../domain/image.ts'
import type { Delta, Dialect, Reply, Turn } from '../../domain/turn.ts'
import type { Pieces, Usage, UsageSource } from '../../domain/usage.ts'
import type { HeaderFields } from '../../lib/http/message-head.ts'
import type { UploadBody } from '../../lib/http/form.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import type { Rule } from '../../vendors/rules.ts'
import type { BytesAnswer, TypedBytes } from './bytes-answer.ts'
import type { GeneratedText } from './generated-text.ts'
import type { Quirks } from '../../vendors/preset.ts'
import type { RemoteMedium } from './remote-media.ts'
import type { RequestWords } from './request-words.ts'
import type { VideoBody } from './video-body.ts'

/** What the relay needs to know of a client's request in any dialect. */
export type ClientRequest = RequestedWork & {
  /** What the model must make. The default is text. */
  readonly kind?: ModelKind
  /** Returns a failure if the request asks for something that this model cannot do. */
  check?(model: Model): Failure | undefined
  /** The name in the request record: `chat.completions`, `responses`, … */
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  /**
   * Whether the answer is bytes, such as audio. Its type is the upstream's, so the head of its stream waits for an
   * upstream.
   */
  readonly wantsBytes?: boolean
  readonly choices: number
  /** The client's own output limit for one choice. */
  readonly outputTokensMax: number | undefined
  /** The bytes of all text. A tokenizer never makes more tokens than that. */
  readonly textBytes: number
  readonly imageParts: number
  /** The decoded bytes of audio and files. They have at most as many tokens. */
  readonly mediaBytes: number
  /** The media that the request gives by address. Media in a store of the dialect's own vendor are not among them. */
  readonly remoteMedia?: readonly RemoteMedium[] | undefined
  /** How many messages a chat template wraps. */
  readonly messages: number
  /** Whether the request has tools. Some vendors take tools with reasoning in only one of their formats. */
  readonly hasTools?: boolean
  /** The client's name for requests that begin alike, such as `prompt_cache_key`. */
  readonly cacheKey?: string | undefined
  /** The person or the session for which the client sends the request. */
  readonly endUser?: string | undefined
  /** The texts with which every request of its conversation begins: the system's, and the first of the user. */
  opening?(): readonly string[]
  /** The words of the prompt without media, for an estimate. */
  promptText(): string
  /** All text that the client sent. A vendor's message loses every word that is in it. The default is the prompt. */
  wholeText?(): string
  readonly failures: FailureWriter
  /** What the dialect calls the parts of a request in a refusal. The default is the words of chat. */
  readonly words?: RequestWords
  /** The comment that fills silence in a stream of this client, if it would misread the usual `: ping\n`. */
  readonly heartbeat?: string
  /** Writes the dialect's error event for a stream that ends before its first event. */
  failStream(failure: Failure, answer: AnswerFacts): string
  /** Whether the answer contains addresses of this gateway, so that files take room on its disk. */
  readonly leavesFiles?: boolean
  /** The adapter to an upstream that speaks one of these dialects. The first is used if none is the client's own. */
  adapter(offers: readonly Dialect[], context: AdapterContext): Adapter
  /** Set in dialects whose conversations the gateway keeps. */
  readonly conversation?: Conversation | undefined
}

/** What a request asks for besides text, as far as the price depends on it. */
export type RequestedWork = {
  /** Set in a dialect that can answer a turn with images. `quality` is the size, in the vendor's word. */
  readonly painting?: { readonly quality: string | undefined }
  readonly images?: ImageOptions
  /** The pieces that follow from the request alone, such as the characters of a text that is spoken. */
  readonly pieces?: readonly Pieces[]
  /** A video is made by a task. It is never streamed and never passed through. */
  readonly video?: VideoBody
}

/** A turn as it is stored. Its JSON texts are read by its dialect only. */
export type KeptTurn = {
  readonly id: string
  readonly parentId: string | undefined
  readonly state: 'running' | 'ended'
  /** `head` has what the request set. `standing` has the state of the answer. */
  readonly head: string
  readonly standing: string
  /** The items that this turn added. */
  readonly input: string
  readonly output: string
  /** How the stream was cut into events. Set if a client may follow it. */
  readonly trace: string | undefined
}

/** What later turns need of an earlier one. */
export type PastTurn = Pick<KeptTurn, 'id' | 'state' | 'input' | 'output'>

/** A request's part in a conversation that the gateway keeps. */
export type Conversation = {
  /** The turn that the request continues. */
  readonly previousId: string | undefined
  /** The turns that hold items to which the request refers. */
  readonly referredIds: readonly string[]
  /**
   * `attached`: the client waits for the answer. `polled`: it asks for the answer later. `followed`: it reads a stream
   * that goes on without it.
   */
  readonly mode: 'attached' | 'polled' | 'followed'
  /**
   * Takes the earlier turns, oldest first. The request can be priced and written after that. It is called exactly once,
   * before anything else, even with empty lists.
   */
  recall(earlier: readonly PastTurn[], referred: readonly PastTurn[]): Failure | undefined
  /** The id of its first turn, once the earlier turns are read. Undefined if there are none. */
  firstId?: string | undefined
  /** Takes back the request. `stopped` ends the answer. `forgotten` deletes its turn as well. */
  cancel(what: 'stopped' | 'forgotten'): void
  /** About how many bytes the turn takes to store, without its answer. Undefined if the client wants nothing stored. */
  readonly keptBytes: number | undefined
  /** The turn at its beginning. */
  begun(answer: AnswerFacts): KeptTurn
  /** The turn after its answer has ended. Undefined before that, and if the client wants nothing stored. */
  ended(): KeptTurn | undefined
  /** A whole turn as the client sees it. */
  show(turn: KeptTurn): string
  /** Repeats the events of the answer after the given number, also while the answer is being made. */
  follow(answer: AnswerFacts, after: number): Follower
}

/** Reads the events of a turn after a given number. */
export type Follower = {
  /** The events that were not read yet. `end` needs a settled turn. */
  read(upTo: 'here' | 'end'): string
}

/** What an adapter may need from its surroundings. */
export type AdapterContext = { readonly model: Model; readonly imageService: ImageService }

/** Work on the bytes of images in an answer. The relay provides it. */
export type ImageService = {
  /** Fetches an image that an upstream left at its own address. Undefined if that fails. */
  fetch(url: string): Promise<Buffer | undefined>
  /** Decodes an image to prove that it is one. Undefined if it is not. */
  inspect(bytes: Buffer): Promise<ImageInfo | undefined>
  /** Whether the gateway has an address from which a client can fetch files. */
  readonly canHost: boolean
  /** Stores the bytes for a limited time and returns their address. */
  host(bytes: Buffer, format: ImageFormat): Promise<string | undefined>
}
export type ImageInfo = { readonly format: ImageFormat; readonly width: number; readonly height: number }

/** An image that arrived, as far as its price depends on it. */
export type DeliveredImage = { readonly size: string; readonly quality: string }

/** Images that came as part of a turn. */
export type InlineImages = {
  readonly images: number
  /** How many more arrived that cannot be decoded. */
  readonly spoiled: number
  /** Who ended the images. If the client left or set a limit, the vendor has worked for it. */
  readonly endedBy: 'vendor' | 'client'
}

/** What a request consumed, and where the number comes from. */
export type MeteredUsage = { readonly usage: Usage; readonly source: UsageSource }

export type WrittenFailure = {
  readonly status: number
  readonly code: string
  /** The dialect's envelope, as JSON text. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** How a dialect reports a failure to its client. */
export type FailureWriter = {
  /** Some dialects name `requestId` in their envelope. */
  write(failure: Failure, requestId?: string): WrittenFailure
}

/** What a writer and a reader need to know of the vendor of an offer. */
export type WriterQuirks = Quirks & {
  /** The account at the vendor. Some sealed data is for this account alone. */
  readonly account?: string
  /** The fields and values that this vendor refuses for this model. */
  readonly rules?: readonly Rule[]
}

/** The upstream model that a request is written for. */
export type Destination = {
  readonly upstreamModel: string
  /** The output limit of one choice: the client's own, or the gateway's. Undefined if none is sent. */
  readonly outputTokensMax: number | undefined
  /** The most output that the model gives, if known. A vendor that demands a limit is sent this one. */
  readonly modelOutputTokensMax?: number | undefined
  /** Whether a whole reply is requested as a stream and collected here. */
  readonly collected?: boolean | undefined
  readonly quirks: WriterQuirks
}

export type UpstreamRequest = {
  /** The default is POST. */
  readonly method?: 'GET' | undefined
  /** Comes after the provider's base URL. Has a query if one is needed. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** A body that is not text. It replaces `body`. */
  readonly upload?: UploadBody | undefined
  /** Fields of the client that this upstream does not support. */
  readonly dropped: readonly string[]
  /** The answer comes whole, although the client wants a stream. */
  readonly isWhole?: true | undefined
  /** The output limit that the vendor demands and that neither client nor gateway has set. */
  readonly demandedOutputTokensMax?: number | undefined
}

type FailedRead = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

/** The parts of a whole reply that its price depends on. */
type MeteredReply = {
  readonly usage: Usage | undefined
  /** The generated text, for an estimate if no usage came. */
  readonly produced: string | GeneratedText
  /** The images that can be decoded, if images were requested. */
  readonly delivered?: readonly DeliveredImage[]
  readonly painted?: InlineImages
}

/** A whole reply between reading and writing. */
export type AdaptedReply = MeteredReply & {
  /** Writes the reply for the client. It states the billed usage, whatever the upstream reported. */
  write(answer: AnswerFacts, billed: Usage): string
  readonly content?: undefined
}

/** A whole reply of bytes. It reaches the client unchanged. */
export type BytesReply = MeteredReply & { readonly content: TypedBytes }
export type ReadReply = { readonly kind: 'reply'; readonly reply: AdaptedReply } | FailedRead

/** What every dialect's answer says of itself. */
export type AnswerFacts = {
  readonly requestId: string
  readonly createdAtMs: number
  readonly publicModel: string
}

/**
 * The meaning of one upstream event. `text` is for the client and may be empty. The caller reads `text` before it reads
 * the next event, unless nothing of this event may leave.
 */
export type ReadEvent =
  | { readonly kind: 'chunk'; readonly text: string; readonly meaningful: boolean }
  | { readonly kind: 'done' }
  | FailedRead

/**
 * An event of an upstream's stream. In a stream of bytes, each read is an event with `bytes`. An event without `bytes`
 * ends that stream.
 */
export type UpstreamEvent = SseEvent & { readonly bytes?: Uint8Array | undefined }

/** A stream between reading and writing. */
export type AdaptedStream = {
  /** The last usage that the upstream reported. Running totals overwrite each other; they do not add up. */
  readonly usage: Usage | undefined
  /** The text that arrived so far. Thoughts are separate if the dialect separates them. */
  readonly produced: string | GeneratedText
  readonly thoughts?: string | GeneratedText
  /** `delivered` has the images that arrived. `begun` counts unfinished images that the client has seen in part. */
  readonly delivered?: readonly DeliveredImage[]
  readonly begun?: number
  readonly painted?: InlineImages
  /** How many pieces of an answer arrived, if one event can bring many. */
  readonly pieces?: number
  /** Inspects an event if that takes time. The caller awaits it before `read`. */
  prepare?(event: SseEvent): Promise<void>
  /** Whether every choice that began has ended. If so, the stream may end here and is complete. */
  readonly finished: boolean
  read(event: SseEvent): ReadEvent
  /** The end for the client, with its terminator. It states the billed usage if no earlier event has stated one. */
  end(billed: Usage): string
  /**
   * Ends every choice with the client dialect's reason for a reached length limit. The event that was read last did not
   * leave, so it does not count. `end` follows. Left out if this stream is never cut.
   */
  cutAtLength?(): string
  /**
   * The end of a broken answer: the dialect's error event, and nothing that looks like completion. `billed` is what the
   * part that arrived costs, if there is one.
   */
  fail(failure: Failure, billed?: Usage): string
}

/** Puts the events of a stream together into the reply that the upstream would have sent whole. */
export type ReplyCollector = {
  add(event: SseEvent): void
  /** Marks the reply as cut at its length limit, so that it is valid even if empty. Left out if it is valid anyway. */
  cutAtLength?(): void
  /** The reply as JSON text. The finish reason of a cut answer is `length`, even if the upstream gave none. */
  text(): string
}

/** The first parts of a request that takes several exchanges. */
export type FirstParts = {
  /** The text of these parts, for counting tokens. */
  readonly text: string
  /** What the client reads if these parts were answered and the next was refused. */
  readonly said: string
}

/** The way from a client's dialect to an upstream's and back. */
export type Adapter = {
  readonly dialect: Dialect
  /** Why this request cannot be written in the upstream's dialect. Undefined if it can. */
  readonly obstacle: Failure | undefined
  request(to: Destination): UpstreamRequest
  /** Returns a promise if the reply is large. */
  readReply(text: string, quirks: WriterQuirks): ReadReply | Promise<ReadReply>
  openStream(answer: AnswerFacts, quirks: WriterQuirks): AdaptedStream
  /** Collects a reply that was requested as a stream. Left out if that is not possible. */
  collector?(): ReplyCollector
  /** The parts of a request that takes more than one exchange. */
  split?(to: Destination): readonly UpstreamRequest[]
  /** Makes one reply from the answers of all parts, in their order. Also takes a single answer that is slow to read. */
  join?(texts: readonly string[]): Promise<ReadReply>
  /** The first `count` parts. */
  readonly firstParts?: (count: number) => FirstParts
  /** Turns a whole reply into events, for an upstream that does not stream this request. */
  readonly asEvents?: ((text: string) => readonly SseEvent[]) | undefined
  /**
   * The events of a whole reply. Some servers send one although a stream was requested. Left out if it is not accepted.
   */
  readonly eventsOfReply?: ((text: string) => readonly SseEvent[]) | undefined
  /** Set if the upstream answers with bytes. They pass unchanged, and no method reads them. */
  readonly bytes?: BytesAnswer
  readonly failures: FailureReader
}

/** Reads failures in an upstream's dialect. */
export type FailureReader = {
  /** Reads an error response. */
  response(status: number, headers: HeaderFields, body: string): UpstreamFailure
  /** Reads a body that came with 200 and may be an error. Undefined if it is none. */
  hidden(body: string): UpstreamFailure | undefined
}

/** The upstream side of a dialect, from and to the neutral turn. */
export type UpstreamSide = {
  readonly dialect: Dialect
  readonly failures: FailureReader
  /** Headers of every request, including the one for the list of models. */
  readonly headers?: Readonly<Record<string, string>>
  /** Why a turn cannot be written in this dialect. Undefined if it can. */
  obstacle?(turn: Turn): Failure | undefined
  write(turn: Turn, stream: boolean, to: Destination): UpstreamRequest
  /** `turn` is the request. Some answers can be understood only with it. */
  readReply(
    text: string,
    quirks: WriterQuirks,
    turn: Turn,
  ): { readonly kind: 'reply'; readonly reply: Reply } | FailedRead
  decoder(quirks: WriterQuirks, turn: Turn): StreamDecoder
  collector(): ReplyCollector
  /** As in `Adapter`. */
  readonly eventsOfReply?: (text: string) => readonly SseEvent[]
}

/** The meaning of one upstream event. */
export type DecodedEvent =
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[] }
  | { readonly kind: 'done' }
  | FailedRead

export type StreamDecoder = {
  readonly usage: Usage | undefined
  readonly finished: boolean
  decode(event: SseEvent): DecodedEvent
}

/** The client side of a dialect, from the neutral answer. */
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
