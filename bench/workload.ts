/** The requests and answers of the bench: sizes and shapes on which the fake vendor and the load generator agree. */

/** The kind of an answer. The vendor reads it from the model's name, which every gateway passes on. */
export type Answer =
  | {
      readonly kind: 'whole'
      readonly replyKiB: number
      /**
       * How long the vendor thinks. At 0 no connection is ever idle, and the cheapest contender gets the most requests.
       */
      readonly thinkMs: number
    }
  | { readonly kind: 'stream'; readonly dialect: VendorDialect; readonly chunks: number; readonly pace: Pace }

/** The vendor's dialect. The client always speaks chat, and gets the same words in as many chunks. */
export type VendorDialect = 'chat' | 'messages'

/**
 * `burst`: all chunks in one loop, so that a reader finds many at once. `turns`: one chunk of every open stream per
 * turn of the event loop. `paced`: one chunk each 10 ms, as a fast model writes, so that every chunk travels alone.
 * `slow`: one a second, so that many streams are open with little traffic.
 */
export type Pace = 'burst' | 'turns' | 'paced' | 'slow'

/** The time between two chunks, for paces set by time and not by the event loop. */
export const paceMs: Partial<Record<Pace, number>> = { paced: 10, slow: 1_000 }

/**
 * The model name of an answer. It is also the offer's upstream model, so only the model name in the answer is edited.
 */
export const modelName = (answer: Answer): string =>
  answer.kind === 'whole'
    ? `bench-whole-${answer.replyKiB}-${answer.thinkMs}`
    : `bench-${answer.dialect}-${answer.chunks}-${answer.pace}`

/** Reads a model's name back. Undefined for any other name. */
export function answerOf(model: string): Answer | undefined {
  const whole = /^bench-whole-(\d+)-(\d+)$/.exec(model)
  if (whole) return { kind: 'whole', replyKiB: Number(whole[1]), thinkMs: Number(whole[2]) }
  const stream = /^bench-(chat|messages)-(\d+)-(burst|turns|paced|slow)$/.exec(model)
  if (!stream) return undefined
  const [, dialect, chunks, pace] = stream as unknown as [string, VendorDialect, string, Pace]
  return { kind: 'stream', dialect, chunks: Number(chunks), pace }
}

/** One row of the table: the request, the answer, and the number of connections. */
export type Case = {
  readonly id: string
  readonly title: string
  readonly answer: Answer
  readonly requestKiB: number
  /** Whether the client requests a stream's usage chunk. If not, the gateway requests it and withholds it. */
  readonly usage: 'asked' | 'unasked'
  readonly connections: number
  /** A run has at least this many requests and this much time. A cheap contender needs more requests to be measured. */
  readonly requestsMin: number
  readonly runMs: number
  readonly warmUp: number
  /** Whether `--quick` includes it. */
  readonly extent: 'quick' | 'full'
  /** A case that means something only next to this one. Choosing it chooses both. */
  readonly besideId?: string
}

const whole = (kib: number, thinkMs = 0): Answer => ({ kind: 'whole', replyKiB: kib, thinkMs })
const stream = (pace: Pace, chunks = 100): Answer => ({ kind: 'stream', dialect: 'chat', chunks, pace })

type Extent = Pick<Case, 'requestsMin' | 'warmUp' | 'extent'>
const RUN_MS = 1_500

const sized = (kib: number, connections: number, rest: Extent): Case => ({
  id: `whole-${kib}k-c${connections}`,
  title: `non-streamed ${kib} KB each way`,
  answer: whole(kib),
  requestKiB: kib,
  usage: 'unasked',
  connections,
  runMs: RUN_MS,
  ...rest,
})

/** The vendor speaks Messages, so every event has to be translated. */
const translated = (streamCase: Case, id: string): Case => ({
  ...streamCase,
  id,
  title: `${streamCase.title}, vendor speaks Messages`,
  answer: { ...streamCase.answer, dialect: 'messages' } as Answer,
  besideId: streamCase.id,
})

const streamed = (pace: Pace, connections: number, rest: Extent): Case => ({
  id: `stream-${pace}-c${connections}`,
  title: `stream of 100 chunks, ${pace}`,
  answer: stream(pace),
  requestKiB: 2,
  usage: 'unasked',
  connections,
  runMs: RUN_MS,
  ...rest,
})

const turns32 = streamed('turns', 32, { requestsMin: 2_000, warmUp: 500, extent: 'quick' })
/** Four times as long. The difference between the two lengths is the chunks alone. */
const long32: Case = {
  ...streamed('turns', 32, { requestsMin: 500, warmUp: 100, extent: 'full' }),
  id: 'stream-turns-400-c32',
  title: 'stream of 400 chunks, turns',
  answer: stream('turns', 400),
}
/** A chunk causes fewer system calls here, so reading and writing it is a larger part of the cost. */
const burst32 = streamed('burst', 32, { requestsMin: 1_000, warmUp: 200, extent: 'full' })

/** The first case for every contender. */
export const whole32 = sized(2, 32, { requestsMin: 6_000, warmUp: 2_000, extent: 'quick' })

export const cases: readonly Case[] = [
  sized(2, 1, { requestsMin: 500, warmUp: 300, extent: 'quick' }),
  whole32,
  {
    ...whole32,
    id: 'whole-2k-think-c32',
    title: 'non-streamed 2 KB each way, vendor takes 10 ms',
    answer: whole(2, 10),
  },
  streamed('turns', 1, { requestsMin: 300, warmUp: 100, extent: 'quick' }),
  turns32,
  translated(turns32, 'translated-c32'),
  long32,
  translated(long32, 'translated-400-c32'),
  {
    ...streamed('turns', 32, { requestsMin: 1_000, warmUp: 200, extent: 'full' }),
    id: 'stream-turns-usage-c32',
    title: 'stream of 100 chunks, turns, usage asked',
    usage: 'asked',
  },
  burst32,
  translated(burst32, 'translated-burst-c32'),
  streamed('paced', 32, { requestsMin: 256, warmUp: 32, extent: 'full' }),
  sized(68, 1, { requestsMin: 300, warmUp: 60, extent: 'full' }),
  sized(68, 32, { requestsMin: 1_000, warmUp: 200, extent: 'full' }),
  sized(1024, 1, { requestsMin: 60, warmUp: 10, extent: 'full' }),
  sized(1024, 32, { requestsMin: 200, warmUp: 32, extent: 'full' }),
]

/** A step of the search for the most requests per second: see frontier.ts. */
export const frontierCase = (connections: number): Case => ({
  ...sized(2, connections, { requestsMin: connections * 2, warmUp: connections * 2, extent: 'full' }),
  id: `frontier-c${connections}`,
  runMs: 1_000,
})

/** Streams that are open at once: each connection sends one request, whose answer takes a quarter of a minute. */
export const heldCase: Case = {
  ...streamed('slow', 2_000, { requestsMin: 2_000, warmUp: 0, extent: 'full' }),
  id: 'held-2000',
  title: '2,000 open streams, a chunk a second each',
  answer: stream('slow', 16),
  runMs: 0,
}

/** The models of all cases. */
export const models: readonly string[] = [...new Set([...cases, heldCase].map(({ answer }) => modelName(answer)))]

/** Words of a plain conversation: mostly letters, with quotes and line ends that JSON has to escape. */
const PROSE =
  'The order was confirmed on Tuesday, but the tracking page still says "label created".\nCould you look into it? ' +
  'I have attached what support wrote: first they asked for the number, then nothing came for four days. '

const proseOf = (length: number): string => PROSE.repeat(Math.ceil(length / PROSE.length)).slice(0, length)

/**
 * A chat request whose JSON is `requestKiB` long, in messages of about 1.4 KB. Long requests are long conversations.
 */
export function requestBody({ answer, requestKiB, usage }: Pick<Case, 'answer' | 'requestKiB' | 'usage'>): string {
  const head = {
    model: modelName(answer),
    ...(answer.kind === 'stream' ? { stream: true } : {}),
    ...(answer.kind === 'stream' && usage === 'asked' ? { stream_options: { include_usage: true } } : {}),
    temperature: 0.7,
    max_tokens: 512,
  }
  const messages = [{ role: 'system', content: 'You are a helpful assistant of a parcel service. Answer in short.' }]
  const sizeLeft = (): number => requestKiB * 1024 - JSON.stringify({ ...head, messages }).length
  while (sizeLeft() > 1_800) {
    messages.push({ role: messages.length % 2 === 1 ? 'user' : 'assistant', content: proseOf(1_400) })
  }
  messages.push({ role: 'user', content: '' })
  // The text is ASCII, so characters are bytes. Escapes in the prose make the last message slightly longer than
  // requested.
  const rest = Math.max(1, sizeLeft())
  messages.splice(-1, 1, { role: 'user', content: proseOf(Math.floor(rest / 1.03)) })
  return JSON.stringify({ ...head, messages })
}

/** The text of a whole answer, so that the reply is `replyKiB` long. */
export const replyText = (replyKiB: number): string => proseOf(Math.floor((replyKiB * 1024 - 700) / 1.03))
