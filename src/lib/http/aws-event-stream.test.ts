/**
 * Amazon's published messages: `POSITIVE_CASES` and `NEGATIVE_CASES` of tests/unit/test_eventstream.py in boto/botocore
 * (Apache 2.0, commit 0e6e2404 of 2026-08-07), here in hexadecimal.
 */
import { describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { awsEvent, awsException, awsFrame } from '../../../test/support/aws-frames.ts'
import { AwsEventDecoder, DamagedFrame, readAwsFrame } from './aws-event-stream.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
const ascii = (text: string): string => Buffer.from(text).toString('hex')
const PAYLOAD = ascii("{'foo':'bar'}")
const TYPED = `0c ${ascii('content-type')} 07 0010 ${ascii('application/json')}`

const positive: Readonly<Record<string, readonly [frame: string, headers: object, payload: string]>> = {
  'an empty message': ['00000010 00000000 05c248eb 7d98c8ff', {}, ''],
  'a byte': [`00000017 00000007 29860158 04 ${ascii('byte')} 02 ff c2f869dc`, {}, ''],
  'a short': [`00000019 00000009 710e923e 05 ${ascii('short')} 03 ffff b27cb6cc`, {}, ''],
  'an integer': [`0000001d 0000000d 83e3f0e7 07 ${ascii('integer')} 04 ffffffff 8b8e12eb`, {}, ''],
  'a long': [`0000001e 0000000e 5d4adb8d 04 ${ascii('long')} 05 ffffffffffffffff 4bc232da`, {}, ''],
  'a payload without headers': [`0000001d 00000000 fd528c5a ${PAYLOAD} c3653936`, {}, "{'foo':'bar'}"],
  'a payload with a header': [
    `0000003d 00000020 07fd8396 ${TYPED} ${PAYLOAD} 8d9c08b1`,
    { 'content-type': 'application/json' },
    "{'foo':'bar'}",
  ],
  'headers of every type': [
    `00000062 00000052 03b5cb9c 013000 013101 01320202 0133030003 01340400000004 0135050000000000000005
     0136060005 ${ascii('bytes')} 0137070004 ${ascii('utf8')} 0138080000000000000008
     013909 ${ascii('0123456789abcdef')} 63353671`,
    { 7: 'utf8' },
    '',
  ],
  'an error': [
    `00000052 00000042 bf23637e 0d ${ascii(':message-type')} 070005 ${ascii('error')}
     0b ${ascii(':error-code')} 070004 ${ascii('code')} 0e ${ascii(':error-message')} 070007 ${ascii('message')} 6b6cea3d`,
    { ':message-type': 'error', ':error-code': 'code', ':error-message': 'message' },
    '',
  ],
}

const negative: Readonly<Record<string, string>> = {
  'a length that is not the one of its checksum': `0100001d 00000000 fd528c5a ${PAYLOAD} c3653936`,
  'another payload': `0000001d 00000000 fd528c5a ${ascii("{'foo':'bar'")} 8d c3653936`,
  'other headers': `0000003d 00000020 07fd8396 0c ${ascii('content+type')} 07 0010 ${ascii('application/json')} ${PAYLOAD} 8d9c08b1`,
  'another length of headers': `0000003d ff000102 07fd8396 ${TYPED} ${PAYLOAD} 8d9c08b1`,
  'a header twice': `00000024 00000014 4bb982d0 04 ${ascii('test')} 04 ${ascii('asdf')} 04 ${ascii('test')} 04 ${ascii('asdf')} f3f47563`,
  'headers that are longer than the message': `0000003d ff000102 1583f5c2 ${TYPED} ${PAYLOAD} 2f377f5d`,
}

describe('Amazon’s own messages', () => {
  test.each(Object.entries(positive))('%s', (_, [frame, headers, payload]) => {
    const read = readAwsFrame(hex(frame))
    expect({ headers: Object.fromEntries(read.headers), payload: read.payload }).toEqual({
      headers: { ...headers },
      payload,
    })
  })

  test.each(Object.entries(negative))('%s is refused', (_, frame) => {
    expect(() => readAwsFrame(hex(frame))).toThrow(DamagedFrame)
    expect(() => new AwsEventDecoder(1_000_000).push(hex(frame))).toThrow(DamagedFrame)
  })

  test('all of them behind each other, cut anywhere', () => {
    const bytes = Buffer.concat(Object.values(positive).map(([frame]) => hex(frame)))
    const whole = new AwsEventDecoder(1_000).push(bytes)
    expect(whole).toHaveLength(Object.keys(positive).length)
    expect(whole.at(-1)).toEqual({ name: 'error', data: '{"code":"code","message":"message"}' })
    for (let at = 1; at < bytes.length; at++) {
      const decoder = new AwsEventDecoder(1_000)
      expect([...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at))]).toEqual(whole)
      expect(decoder.unfinishedChars).toBe(0)
    }
  })
})

test('an event has the name of its type, and an exception its own', () => {
  const bytes = Buffer.concat([
    awsEvent('contentBlockDelta', { delta: { text: 'é' } }),
    awsException('throttlingException', 'Slow down.'),
  ])
  const decoder = new AwsEventDecoder(1_000)
  expect(Array.from(bytes, (byte) => decoder.push(Uint8Array.of(byte))).flat()).toEqual([
    { name: 'contentBlockDelta', data: '{"delta":{"text":"é"}}' },
    { name: 'throttlingException', data: '{"message":"Slow down."}' },
  ])
  expect(decoder.end()).toEqual([])
})

test('a frame that came in part is no event, and one that is too long is refused before it comes', () => {
  const frame = awsEvent('messageStop', { stopReason: 'end_turn' })
  const decoder = new AwsEventDecoder(1_000)
  expect(decoder.push(frame.subarray(0, -1))).toEqual([])
  expect(decoder.unfinishedChars).toBe(frame.length - 1)
  expect(decoder.end()).toEqual([])
  expect(() => new AwsEventDecoder(1_000).push(awsFrame({}, 'x'.repeat(1_000)).subarray(0, 12))).toThrow(RangeError)
})

test('the bytes of a read may change after it', () => {
  const frame = awsEvent('messageStart', { role: 'assistant' })
  const decoder = new AwsEventDecoder(1_000)
  const read = Buffer.from(frame.subarray(0, 20))
  decoder.push(read)
  read.fill(0)
  expect(decoder.push(frame.subarray(20))).toEqual([{ name: 'messageStart', data: '{"role":"assistant"}' }])
})

test('a header of an unknown type, a cut header and text that is not UTF-8 are refused', () => {
  const damaged = (change: (frame: Buffer) => void): Buffer => {
    const frame = Buffer.from(awsFrame({ a: 'b' }, 'c'))
    change(frame)
    frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
    frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
    return frame
  }
  expect(() => readAwsFrame(damaged((frame) => frame.writeUInt8(10, 14)))).toThrow(DamagedFrame)
  expect(() => readAwsFrame(damaged((frame) => frame.writeUInt16BE(9, 15)))).toThrow(DamagedFrame)
  expect(() => readAwsFrame(damaged((frame) => frame.writeUInt8(0xff, frame.length - 5)))).toThrow(TypeError)
})

test('single bytes of a long frame cost no more than reads of it', () => {
  const frame = awsFrame({ ':event-type': 'x' }, 'y'.repeat(1_000_000))
  const decoder = new AwsEventDecoder(2_000_000)
  const startedUs = process.cpuUsage().user
  let events = 0
  for (let at = 0; at < frame.length; at++) events += decoder.push(frame.subarray(at, at + 1)).length
  expect(events).toBe(1)
  expect(process.cpuUsage().user - startedUs).toBeLessThan(3_000_000)
})
