/** Frames of Amazon's event stream, as a vendor writes them. */
import { crc32 } from 'node:zlib'

const TEXT = 7

function headerBytes(name: string, value: string): Buffer {
  const head = Buffer.from(`\0${name}\0\0\0`)
  head[0] = name.length
  head[head.length - 3] = TEXT
  head.writeUInt16BE(Buffer.byteLength(value), head.length - 2)
  return Buffer.concat([head, Buffer.from(value)])
}

/** One frame. */
export function awsFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const named = Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value)))
  const body = Buffer.from(payload)
  const frame = Buffer.alloc(16 + named.length + body.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(named.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  named.copy(frame, 12)
  body.copy(frame, 12 + named.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - 4)), frame.length - 4)
  return frame
}

const JSON_TYPE = { ':content-type': 'application/json' }

export const awsEvent = (type: string, body: object): Buffer =>
  awsFrame({ ':event-type': type, ...JSON_TYPE, ':message-type': 'event' }, JSON.stringify(body))

export const awsException = (type: string, message: string): Buffer =>
  awsFrame({ ':exception-type': type, ...JSON_TYPE, ':message-type': 'exception' }, JSON.stringify({ message }))

export const AWS_EVENT_STREAM = 'application/vnd.amazon.eventstream'
