/**
 * The fake vendor: an upstream that speaks chat and Messages, in a process of its own. It answers over raw sockets from
 * frames that are made once, because a vendor as expensive as a gateway would measure itself. Run by bench/relay.ts.
 * Run alone, it prints its address: bun bench/upstream.ts
 */
import type { Socket, TCPSocketListener } from 'bun'
import { framesOf, notFound } from './frames.ts'
import { answerOf, paceMs, type Pace, type VendorDialect } from './workload.ts'

type Stage = 'head' | 'body'

/** One connection: the part of the request that is still to come, and the part of the answer that is still to send. */
type Line = {
  stage: Stage
  head: Buffer
  bodyLeft: number
  /** The dialect of the request's path. */
  dialect: VendorDialect
  /** The first part of the body, which usually has model and stream options, or else the last part. */
  start: string
  frames: readonly Buffer[]
  next: number
  /** The bytes of the next frame that the socket has already taken. */
  sent: number
  pace: Pace
}

const freshLine = (): Line => ({
  stage: 'head',
  head: Buffer.alloc(0),
  bodyLeft: 0,
  dialect: 'chat',
  start: '',
  frames: [],
  next: 0,
  sent: 0,
  pace: 'burst',
})

/** Connections accepted so far. A gateway that keeps them alive needs few. */
let connections = 0

/** Streams that write one frame per turn of the event loop. */
const turning = new Set<Socket<Line>>()
let isTurning = false

function turn(): void {
  for (const socket of turning) if (writeFrame(socket)) turning.delete(socket)
  isTurning = turning.size > 0
  if (isTurning) setImmediate(turn)
}

/** Writes the next frame. Returns true if the answer is complete or has to wait for the socket. */
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
      // The head and the first chunk go together.
      if (writeFrame(socket)) break
      writeFrame(socket)
      const timer = setInterval(() => {
        // The terminator follows [DONE] at once.
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
  const isKnown = answer && (answer.kind === 'whole' ? 'chat' : answer.dialect) === line.dialect
  Object.assign(line, freshLine())
  line.frames = isKnown ? framesOf(model, answer, usage) : [notFound]
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
      line.head = Buffer.from(line.head) // The next read reuses the buffer.
      return
    }
    const head = line.head.toString('latin1', 0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    line.dialect = head.startsWith('POST /v1/messages ') ? 'messages' : 'chat'
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
