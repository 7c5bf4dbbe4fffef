/**
 * The fake vendor: an OpenAI-compatible upstream in a process of its own. It answers from frames made once, over raw
 * sockets, because a vendor that costs as much as a gateway would measure itself. Run by bench/relay.ts; alone, it
 * prints its address: bun bench/upstream.ts
 */
import type { Socket, TCPSocketListener } from 'bun'
import { answerOf, paceMs, replyText, type Answer, type Pace } from './workload.ts'

type Stage = 'head' | 'body'

/** One connection: what of the request is still to come, and what of the answer is still to go. */
type Line = {
  stage: Stage
  head: Buffer
  bodyLeft: number
  /** The first part of the body, where most have model and stream options, and the last of a body that has not. */
  start: string
  frames: readonly Buffer[]
  next: number
  /** Bytes of the next frame that the socket has taken already. */
  sent: number
  pace: Pace
}

const freshLine = (): Line => ({
  stage: 'head',
  head: Buffer.alloc(0),
  bodyLeft: 0,
  start: '',
  frames: [],
  next: 0,
  sent: 0,
  pace: 'burst',
})

const CREATED = 1_790_000_000
const USAGE = {
  prompt_tokens: 412,
  completion_tokens: 100,
  total_tokens: 512,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}

const head = (lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'date: Thu, 01 Oct 2026 00:00:00 GMT', 'x-request-id: req_bench', ...lines, '', ''].join('\r\n')

/** The answer to an unknown model, so that a mistake in the bench is a 404 and not a riddle. */
const notFound = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')

/** A vendor reports the dated name of the model, so a gateway has to put its own into every answer. */
const dated = (model: string): string => `${model}-2026-08-01`

function wholeFrames(model: string, replyKiB: number): Buffer[] {
  const body = JSON.stringify({
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: CREATED,
    model: dated(model),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: replyText(replyKiB), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  })
  const lines = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  return [Buffer.from(head(lines) + body)]
}

type Choice = { readonly delta: object; readonly finish: string | null }

const httpChunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Role, text and finish make up the chunks; usage and the terminator come on top. One frame is one write. */
function streamFrames(model: string, chunks: number, usage: 'asked' | 'unasked'): Buffer[] {
  const event = (choices: readonly Choice[], tail: object): string => {
    const chunk = {
      id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: dated(model),
      service_tier: 'default',
      system_fingerprint: 'fp_bench',
      choices: choices.map(({ delta, finish }) => ({ index: 0, delta, logprobs: null, finish_reason: finish })),
      ...tail,
    }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }
  const open = usage === 'asked' ? { usage: null } : {}
  const events = [event([{ delta: { role: 'assistant', content: '', refusal: null }, finish: null }], open)]
  for (let i = 2; i < chunks; i++) events.push(event([{ delta: { content: ` word${i}` }, finish: null }], open))
  events.push(event([{ delta: {}, finish: 'stop' }], open))
  if (usage === 'asked') events.push(event([], { usage: USAGE }))
  const lines = [
    'content-type: text/event-stream; charset=utf-8',
    'transfer-encoding: chunked',
    'x-accel-buffering: no',
  ]
  return [
    Buffer.from(head(lines)),
    ...events.map((text) => Buffer.from(httpChunk(text))),
    Buffer.from(httpChunk('data: [DONE]\n\n')),
    // A write of its own, as most servers end a body: whoever hangs up at [DONE] throws the connection away.
    Buffer.from('0\r\n\r\n'),
  ]
}

const made = new Map<string, readonly Buffer[]>()

/** The frames of an answer, made at the first request for it. */
function framesOf(model: string, answer: Answer, usage: 'asked' | 'unasked'): readonly Buffer[] {
  const key = `${model} ${usage}`
  const known = made.get(key)
  if (known) return known
  const frames =
    answer.kind === 'whole' ? wholeFrames(model, answer.replyKiB) : streamFrames(model, answer.chunks, usage)
  made.set(key, frames)
  return frames
}

/** Connections accepted so far: a gateway that keeps them alive needs few. */
let connections = 0

/** Streams that write one frame per turn of the event loop. */
const turning = new Set<Socket<Line>>()
let isTurning = false

function turn(): void {
  for (const socket of turning) if (writeFrame(socket)) turning.delete(socket)
  isTurning = turning.size > 0
  if (isTurning) setImmediate(turn)
}

/** Writes the next frame. True when the answer is out, or has to wait for the socket. */
function writeFrame(socket: Socket<Line>): boolean {
  const line = socket.data
  const frame = line.frames[line.next]
  if (!frame) return true
  line.sent += Math.max(0, socket.write(frame, line.sent))
  if (line.sent < frame.length) return true
  line.sent = 0
  line.next++
  return line.next === line.frames.length
}

function writeRest(socket: Socket<Line>): void {
  while (!writeFrame(socket));
}

function proceed(socket: Socket<Line>): void {
  switch (socket.data.pace) {
    case 'burst':
      writeRest(socket)
      break
    case 'turns':
      turning.add(socket)
      if (!isTurning) setImmediate(turn)
      isTurning = true
      break
    case 'paced':
    case 'slow': {
      // The head, and the first chunk with it.
      if (writeFrame(socket)) break
      writeFrame(socket)
      const timer = setInterval(() => {
        // The terminator follows its [DONE] at once.
        if (writeFrame(socket) || (socket.data.next === socket.data.frames.length - 1 && writeFrame(socket))) {
          clearInterval(timer)
        }
      }, paceMs[socket.data.pace])
    }
  }
}

function reply(socket: Socket<Line>): void {
  const line = socket.data
  const model = /"model":\s*"([^"]*)"/.exec(line.start)?.[1] ?? ''
  const answer = answerOf(model)
  const usage = /"include_usage":\s*true/.test(line.start) ? 'asked' : 'unasked'
  Object.assign(line, freshLine())
  line.frames = answer ? framesOf(model, answer, usage) : [notFound]
  line.pace = answer?.kind === 'stream' ? answer.pace : 'burst'
  if (answer?.kind === 'whole' && answer.thinkMs > 0) setTimeout(proceed, answer.thinkMs, socket)
  else proceed(socket)
}

const START_BYTES = 1024

/** Takes bytes of a request. Bodies are counted, not kept. */
function take(socket: Socket<Line>, bytes: Buffer): void {
  const line = socket.data
  let body = bytes
  if (line.stage === 'head') {
    line.head = line.head.length === 0 ? bytes : Buffer.concat([line.head, bytes])
    const end = line.head.indexOf('\r\n\r\n')
    if (end === -1) {
      line.head = Buffer.from(line.head) // The buffer of a read is used again by the next.
      return
    }
    const length = /\r\ncontent-length: *(\d+)/i.exec(line.head.toString('latin1', 0, end))
    line.bodyLeft = Number(length?.[1] ?? 0)
    line.stage = 'body'
    body = line.head.subarray(end + 4)
    line.head = Buffer.alloc(0)
  }
  if (line.start.length < START_BYTES) line.start += body.toString('latin1', 0, START_BYTES)
  line.bodyLeft -= body.length
  if (line.bodyLeft > 0) return
  if (!line.start.includes('"model"')) line.start += body.toString('latin1', Math.max(0, body.length - START_BYTES))
  reply(socket)
}

function listen(): TCPSocketListener<Line> {
  return Bun.listen<Line>({
    hostname: '127.0.0.1',
    port: Number(process.argv[2] ?? 0),
    socket: {
      open(socket) {
        connections++
        socket.data = freshLine()
      },
      data: take,
      drain(socket) {
        if (paceMs[socket.data.pace] === undefined) proceed(socket)
      },
      close: (socket) => void turning.delete(socket),
      error: (socket) => void socket.end(),
    },
  })
}

if (import.meta.main) {
  const { port } = listen()
  if (process.send) process.send({ port })
  else console.log(`http://127.0.0.1:${port}/v1`)
  process.on('message', () => process.send?.({ connections }))
  process.on('disconnect', () => process.exit(0))
}
