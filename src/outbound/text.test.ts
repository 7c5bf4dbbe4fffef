import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { IncomingResponse, Sink } from './exchange.ts'
import { ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { collectText, readText } from './text.ts'

const lenient = new TextDecoder()

/** An answer, and its sink once `deliver` is called. */
function answer(): { response: IncomingResponse; sink: () => Sink; cancelled: () => boolean } {
  let given: Sink | undefined
  let isCancelled = false
  const response = {
    declaredBytes: 0,
    deliver: (sink: Sink) => (given = sink),
    cancel: () => {
      isCancelled = true
      given?.broken('aborted')
    },
  } as unknown as IncomingResponse
  return { response, sink: () => given as Sink, cancelled: () => isCancelled }
}

const part = fc.oneof(
  fc.constantFrom('a', 'é', '漢', '\ufeff', '😀').map((sign) => Buffer.from(sign)),
  fc.constantFrom('c3', '80', 'eda080', 'f4908080', 'ff', 'e6bc', 'f09f98').map((hex) => Buffer.from(hex, 'hex')),
)

const BLOCK = 1024 * 1024

test('a body in pieces gives the same as in one piece, wherever it is cut, also if it is invalid', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 20 }),
      fc.array(fc.nat(5), { minLength: 1 }),
      fc.constantFrom(0, BLOCK - 20, BLOCK - 1, BLOCK),
      (parts, sizes, before) => {
        const bytes = Buffer.concat([Buffer.alloc(before, 'x'), ...parts])
        const { response, sink } = answer()
        const got: (string | undefined)[] = []
        collectText(response, 2 * BLOCK, { text: (text) => got.push(text) })
        let at = 0
        for (const size of before === 0 ? sizes : [before, ...sizes]) {
          // The next read of a socket overwrites its bytes.
          const read = Buffer.from(bytes.subarray(at, at + size))
          at += read.length
          if (read.length > 0) sink().part(read)
          read.fill('!')
        }
        const rest = Buffer.concat([Buffer.from('{'), bytes.subarray(at), Buffer.from('}')])
        sink().endIn?.(rest, 1, rest.length - 1)
        expect(got.length).toBe(1)
        expect(got[0] === lenient.decode(bytes)).toBe(true)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('a body that is too long or breaks off gives no text', async () => {
  const long = answer()
  const text = readText(long.response, 10)
  long.sink().part(Buffer.from('123456'))
  long.sink().part(Buffer.from('78901'))
  expect([await text, long.cancelled()]).toEqual([undefined, true])
  const ended = answer()
  const atEnd = readText(ended.response, 10)
  ended.sink().part(Buffer.from('123456'))
  ended.sink().end(Buffer.from('78901'))
  expect(await atEnd).toBeUndefined()
  const whole = answer()
  const exact = readText(whole.response, 10)
  whole.sink().part(Buffer.from('123456'))
  whole.sink().end(Buffer.from('7890'))
  expect(await exact).toBe('1234567890')
})

test.each([
  ['x', 1],
  ['é', 1],
  ['漢', 2 / 3],
])('a long body takes memory for all of its text, its last bytes included: %s', (sign, memoryOfAByte) => {
  const bytes = Buffer.from(sign.repeat((3.5 * BLOCK) / Buffer.byteLength(sign)))
  for (const size of [100_000, BLOCK - 1, BLOCK, 1.4 * BLOCK]) {
    const memory = new ReplyMemory({ max: 100 * BLOCK, accountMax: 100 * BLOCK })
    const { response, sink } = answer()
    const reader = { memoryShare: () => memory.share('a'), waits: () => undefined }
    collectText(response, 4 * BLOCK, { text: () => undefined }, reader)
    for (let at = 0; at < bytes.length; at += size) {
      const read = bytes.subarray(at, at + size)
      if (at + size < bytes.length) sink().part(Buffer.from(read))
      else sink().endIn?.(read, 0, read.length)
    }
    expect([size, memory.bytes]).toEqual([size, bytes.length * memoryOfAByte])
  }
})
