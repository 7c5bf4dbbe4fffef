/** The product's readers over bytes in pieces, combined as in the connections of the server and the client. */
import { LastHead, readRequestHead } from '../../../src/inbound/request-head.ts'
import { BodyReader, HeadReader } from '../../../src/lib/http/http1.ts'
import type { HeaderFields } from '../../../src/lib/http/message-head.ts'
import { readAnswerHead } from '../../../src/outbound/answer-head.ts'

export type ReadMessage = {
  /** Method and target, or the status. */
  readonly start: string
  /** Without the length, by name. */
  readonly headers: Readonly<Record<string, string>>
  /** As latin1. */
  body: string
  isWhole: boolean
}
export type ReadStream = {
  readonly messages: readonly ReadMessage[]
  readonly end: string
  /** Bytes up to the end of the last whole message. */
  readonly wholeBytes: number
}

/** Bytes around a piece: a reader that writes there, or depends on them, is found out. */
const FRAME = 8
/** All pieces lie here in turn: a reader that keeps a view of an earlier piece is found out. */
const memory = Buffer.alloc(64 * 1024)

/** A piece with other bytes before and behind it. */
function framed(piece: string, canary: number): { readonly bytes: Buffer; readonly isWhole: () => boolean } {
  const end = FRAME + piece.length
  memory.fill(canary, 0, FRAME)
  memory.write(piece, FRAME, 'latin1')
  memory.fill(canary, end, end + FRAME)
  const isWhole = (): boolean => {
    for (let i = 0; i < FRAME; i++) if (memory[i] !== canary || memory[end + i] !== canary) return false
    return true
  }
  return { bytes: memory.subarray(FRAME, end), isWhole }
}

type Stage = 'head' | 'body' | 'over'
type Reading = {
  readonly messages: ReadMessage[]
  stage: Stage
  end: string
  body: BodyReader | undefined
  /** Bytes so far. */
  bytes: number
  wholeBytes: number
}
const newReading = (): Reading => ({
  messages: [],
  stage: 'head',
  end: '',
  body: undefined,
  bytes: 0,
  wholeBytes: 0,
})

/** Reads from `at` on. Returns where it stopped. */
type Step = (bytes: Buffer, at: number) => number
type Steps = { readonly step: Step; readonly whole: (reading: Reading) => void }

/** `whole` decides what comes behind a message that is complete. */
function readPieces(pieces: readonly string[], reading: Reading, { step, whole }: Steps): void {
  for (const [i, piece] of pieces.entries()) {
    // What stands behind a piece looks like what the reader waits for.
    const { bytes, isWhole } = framed(piece, [0x0d, 0x0a, 0x30, 0x41][i % 4] as number)
    let at = 0
    while (at < bytes.length && reading.stage !== 'over') {
      const next = step(bytes, at)
      if (!(next >= at && next <= bytes.length)) throw new Error(`read from ${at} to ${next} of ${bytes.length}`)
      reading.bytes += next - at
      at = next
      const message = reading.messages.at(-1)
      if (reading.body?.state === 'ended' && message && !message.isWhole) {
        message.isWhole = true
        reading.wholeBytes = reading.bytes
        whole(reading)
      }
    }
    if (!isWhole()) throw new Error('wrote beyond the bytes that came')
  }
}

function readBody(reading: Reading, bytes: Buffer, at: number): number {
  const { body, messages } = reading
  const message = messages.at(-1)
  if (!body || !message) throw new Error('no body is under way')
  const ended = body.takeToEnd(bytes, at)
  if (ended !== -1) {
    message.body += bytes.toString('latin1', at, ended)
    return ended
  }
  const { part, end } = body.push(bytes, at)
  message.body += part.toString('latin1')
  if (body.state === 'broken') Object.assign(reading, { stage: 'over', end: 'broken body' })
  return end
}

/** The requests of a connection. `hasMemory`: heads that repeat are compared and not read again. */
export function readRequests(
  pieces: readonly string[],
  { headBytesMax, hasMemory }: { readonly headBytesMax: number; readonly hasMemory: boolean },
): ReadStream {
  const reading = newReading()
  const [head, last] = [new HeadReader(headBytesMax), new LastHead()]
  let isLast = false
  const begin = (read: Extract<ReturnType<typeof readRequestHead>, { kind: 'read' }>, framing = read.framing): void => {
    const { method, path, query, version, headers } = read.head
    const start = `${method} ${path}${query} ${version}`
    isLast = read.isLast
    reading.messages.push({
      start,
      headers: Object.fromEntries(headers as Map<string, string>),
      body: '',
      isWhole: false,
    })
    reading.body = new BodyReader(framing)
    reading.stage = 'body'
  }
  const whole = (): void => void Object.assign(reading, isLast ? { stage: 'over', end: 'last' } : { stage: 'head' })
  const over = (end: string): void => void Object.assign(reading, { stage: 'over', end })
  const step: Step = (bytes, from) => {
    let at = from
    if (reading.stage === 'body') return readBody(reading, bytes, at)
    if (head.isEmpty) {
      while (bytes[at] === 0x0d || bytes[at] === 0x0a) at++
      if (at >= bytes.length) return bytes.length
      const again = hasMemory ? last.again(bytes, at) : undefined
      if (again) {
        begin(again, last.framing)
        return last.end
      }
      const first = bytes[at] as number
      if (first < 0x41 || first > 0x5a) over('no request')
      if (reading.stage === 'over') return at
    }
    const found = head.push(bytes, at)
    if (found === 'too_large') over('too large')
    if (found === 'too_large' || found.end === -1) return bytes.length
    const read = readRequestHead(found.text)
    if (read.kind === 'malformed') over(`malformed ${read.status}`)
    else {
      last.remember(found.text, read)
      begin(read)
    }
    return found.end
  }
  readPieces(pieces, reading, { step, whole })
  const { messages, wholeBytes } = reading
  return { messages, end: reading.end || reading.stage, wholeBytes }
}

const namesIn = (pieces: readonly string[]): Set<string> =>
  new Set([...pieces.join('').matchAll(/^([^:\r\n]+):/gm)].map(([, name = '']) => name.toLowerCase()))

function namedHeaders(headers: HeaderFields, names: ReadonlySet<string>): Readonly<Record<string, string>> {
  const all = [...names].filter((name) => name !== 'content-length').map((name) => [name, headers.get(name)] as const)
  return Object.fromEntries(all.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}

const INTERIM_MAX = 8

/** The answer to a request with `method`. The connection closes behind the pieces. */
export function readAnswer(pieces: readonly string[], { method }: { readonly method: string }): ReadStream {
  const reading = newReading()
  const head = new HeadReader(64 * 1024)
  const names = namesIn(pieces)
  let interims = 0
  const over = (end: string): void => void Object.assign(reading, { stage: 'over', end })
  const step: Step = (bytes, at) => {
    if (reading.stage === 'body') return readBody(reading, bytes, at)
    const found = head.push(bytes, at)
    if (found === 'too_large') over('too large')
    if (found === 'too_large' || found.end === -1) return bytes.length
    const read = readAnswerHead(found.text, method)
    if (read.kind === 'malformed' || (read.kind === 'interim' && ++interims > INTERIM_MAX)) over(read.kind)
    if (read.kind !== 'final') return found.end
    reading.messages.push({
      start: String(read.status),
      headers: namedHeaders(read.headers, names),
      body: '',
      isWhole: false,
    })
    reading.body = new BodyReader(read.framing)
    reading.stage = 'body'
    return found.end
  }
  readPieces(pieces, reading, { step, whole: () => over('ended') })
  const { messages, body, stage } = reading
  if (stage === 'body') body?.close()
  const isWhole = stage === 'body' && body?.state === 'ended'
  return {
    messages: messages.map((message) => ({ ...message, isWhole: message.isWhole || isWhole })),
    end: reading.end || stage,
    wholeBytes: isWhole ? reading.bytes : reading.wholeBytes,
  }
}
