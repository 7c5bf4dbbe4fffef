import type { Faults, Knobs } from './faults.ts'
import {
  errorBody,
  frameOf,
  type BytesReply,
  type ErrorDialect,
  type Frame,
  type JsonReply,
  type SandboxReply,
} from './reply.ts'
import type { Voice } from './route.ts'
import { Sleeper, turn } from './sleeper.ts'
import type { RequestOutcome, Visit } from './stats.ts'
import { SERVER_ERROR } from './vendor-failure.ts'

/** The unit of one write: an event of a stream, or some bytes of a file. */
type Piece = { text: string | Uint8Array<ArrayBuffer>; tokens: number; isBeside?: true }

export type Delivery = {
  faults: Knobs
  paceMs: number
  requestId: string
  signal: AbortSignal
  visit: Visit
  voice: Voice | undefined
  errors: ErrorDialect | undefined
}

/** After this number of events, a stream without a pace lets other requests run and notices hang-ups. */
const EVENTS_PER_TURN = 32
/** A reset overtakes bytes that are not read yet. 1 ms was enough for curl on an idle machine, and 0 ms was not. */
const CUT_GRACE_MS = 20
const FILE_PIECE_BYTES = 4_096
const GARBAGE = '\u0000\u0001<html>{"id": "chatcmpl-\ufffd'

/** Sends a reply: at its pace, with one write per event, and broken as the faults demand. */
export function deliver(reply: SandboxReply, delivery: Delivery): Response {
  const { faults, requestId, visit, errors, voice } = delivery
  if (reply.kind === 'stream') {
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...idHeaders(requestId),
    }
    return new Response(bodyOf(misshape(reply.frames, delivery), delivery), { headers })
  }
  if (reply.kind === 'bytes') return deliverFile(reply, delivery)
  const text = reply.status === 200 ? misshapeBody(reply, { faults, errors, voice }) : JSON.stringify(reply.body)
  const init = { status: reply.status, headers: jsonHeaders(reply, requestId) }
  if (faults.cutAfterBytes !== undefined) return new Response(bodyOf([{ text, tokens: 0 }], delivery), init)
  visit.end('completed')
  return new Response(text, init)
}

/** Sends a file in one piece with its length, or in pieces that can be slow, stall or be cut. */
function deliverFile({ bytes, contentType }: BytesReply, delivery: Delivery): Response {
  const { faults, requestId, visit } = delivery
  const type = faults.wrongType ? 'text/html' : contentType
  const init = { headers: { 'content-type': type, ...idHeaders(requestId) } }
  const isBroken = faults.garbage || faults.emptyStream
  const isSlow = faults.paceMs !== undefined || isStalling(faults)
  if (!isBroken && (isSlow || faults.cutAfterBytes !== undefined)) {
    // A file cannot begin with a comment, so it stalls after its first piece at the earliest.
    const stallAfterEvents = Math.max(1, faults.stallAfterEvents ?? 1)
    const stalling = isStalling(faults) ? { ...faults, stallAfterEvents } : faults
    return new Response(bodyOf(piecesOf(bytes), { ...delivery, faults: stalling, paceMs: faults.paceMs ?? 0 }), init)
  }
  visit.end('completed')
  return new Response(isBroken ? (faults.emptyStream ? '' : GARBAGE) : bytes, init)
}

function* piecesOf(bytes: Uint8Array<ArrayBuffer>): Generator<Piece> {
  for (let at = 0; at < bytes.length; at += FILE_PIECE_BYTES) {
    yield { text: bytes.subarray(at, at + FILE_PIECE_BYTES), tokens: 0 }
  }
}

/** Sends a reply without faults. */
export function respond(reply: JsonReply, requestId: string): Response {
  return new Response(JSON.stringify(reply.body), { status: reply.status, headers: jsonHeaders(reply, requestId) })
}

/**
 * Resets the connection without a byte of an answer. Bun 1.4.5 does that for a body that fails at its start. With an
 * error as the reason, it would also print the error.
 */
export function hangUp(visit: Visit): Response {
  visit.end('cut')
  return new Response(new ReadableStream({ start: (controller) => controller.error() }))
}

function jsonHeaders(reply: JsonReply, requestId: string): Record<string, string> {
  return { 'content-type': 'application/json', ...idHeaders(requestId), ...reply.headers }
}

/** Vendors disagree on the name. */
const idHeaders = (id: string): Record<string, string> => ({ 'x-request-id': id, 'request-id': id })

const SERVER_ERROR_STATUS = 500
type Shape = Pick<Delivery, 'faults' | 'errors' | 'voice'>

function serverError({ errors, voice }: Shape): unknown {
  if (voice) return voice.refuse(SERVER_ERROR_STATUS, SERVER_ERROR).body
  return errors ? errors.envelope(SERVER_ERROR, SERVER_ERROR_STATUS) : errorBody(SERVER_ERROR)
}

function misshapeBody({ body, json }: JsonReply, shape: Shape): Piece['text'] {
  const { faults } = shape
  if (faults.emptyStream) return ''
  if (faults.garbage) return GARBAGE
  if (faults.errorEvent !== undefined) return JSON.stringify(serverError(shape))
  return json ?? JSON.stringify(body)
}

function* misshape(frames: Iterable<Frame>, shape: Shape): Generator<Frame> {
  const { faults, errors } = shape
  if (faults.emptyStream) return
  let events = 0
  for (const frame of frames) {
    events += 1
    if (events === faults.errorEvent) return yield frameOf(JSON.stringify(serverError(shape)), 0, errors?.event)
    if (frame.isTerminator && faults.noDone) return
    yield faults.garbage ? frameOf(GARBAGE, 0) : frame
  }
}

/**
 * A direct stream. Each flush is one chunk on the wire and waits for a slow reader. The events of a generator that does
 * not wait would be joined into one body. Closing the stream with an error resets the connection, so the client sees a
 * body without an end.
 */
function bodyOf(frames: Iterable<Piece>, delivery: Delivery): ReadableStream {
  const pull = async (sink: ReadableStreamDirectController): Promise<void> => {
    let outcome: RequestOutcome = 'cut'
    try {
      outcome = await pump(frames, sink, delivery)
      if (outcome === 'cut') sink.close(new Error('Cut by a fault'))
    } finally {
      delivery.visit.end(outcome)
    }
  }
  return new ReadableStream({ type: 'direct', pull })
}

async function pump(
  frames: Iterable<Piece>,
  sink: ReadableStreamDirectController,
  { faults, paceMs, signal, visit }: Delivery,
): Promise<RequestOutcome> {
  const sleeper = new Sleeper(signal)
  let events = 0
  let bytesLeft = faults.cutAfterBytes ?? Infinity
  for (const frame of frames) {
    if (stallsAt(events, faults)) await stall(events, sink, sleeper, faults.stallMs)
    else if (events > 0 && paceMs > 0 && !frame.isBeside) await sleeper.sleep(paceMs)
    if (signal.aborted) return 'aborted'
    if (Number.isFinite(bytesLeft)) {
      const bytes = typeof frame.text === 'string' ? Buffer.from(frame.text) : frame.text
      if (bytes.length >= bytesLeft) return cut(bytes.subarray(0, bytesLeft), sink)
      bytesLeft -= bytes.length
    }
    await write(frame.text, sink)
    visit.sent(frame.tokens)
    events += 1
    if (events % EVENTS_PER_TURN === 0) await turn()
  }
  return signal.aborted ? 'aborted' : 'completed'
}

async function write(chunk: string | Uint8Array<ArrayBuffer>, sink: ReadableStreamDirectController): Promise<void> {
  await sink.write(chunk)
  await sink.flush(true)
}

const isStalling = ({ stallAfterEvents, stallMs }: Faults): boolean =>
  stallAfterEvents !== undefined || stallMs !== undefined

function stallsAt(events: number, faults: Faults): boolean {
  return isStalling(faults) && events === (faults.stallAfterEvents ?? 0)
}

async function stall(
  events: number,
  sink: ReadableStreamDirectController,
  sleeper: Sleeper,
  stallMs: number | undefined,
): Promise<void> {
  if (events === 0) await write(': stalled\n', sink)
  await sleeper.sleep(stallMs)
}

async function cut(rest: Uint8Array<ArrayBuffer>, sink: ReadableStreamDirectController): Promise<RequestOutcome> {
  if (rest.length > 0) {
    await write(rest, sink)
    await Bun.sleep(CUT_GRACE_MS)
  }
  return 'cut'
}
