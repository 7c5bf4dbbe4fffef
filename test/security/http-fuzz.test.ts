/**
 * The HTTP/1.1 readers against random messages with faults. They refuse with their own errors and never throw, do not
 * read or write beyond the bytes that came, give the same result for any split of the bytes, and agree with Node's
 * parser on everything that they accept.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { Chooser } from '../support/random.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { randomStream } from './http-fuzz/messages.ts'
import { readAnswer, readRequests, type ReadStream } from './http-fuzz/readers.ts'

const STREAMS = countOf('http-fuzz')
const seed = seedOfRun()
const node = Bun.which('node')
if (!node) console.warn('SKIPPED: the comparison with the parser of Node, there is no node on the PATH.')

type NodeRead = {
  readonly messages: readonly Omit<ReadStream['messages'][number], 'isWhole'>[]
  readonly error?: string
}

/** Node's parser in a process of its own: under Bun, node:http is another program. */
let parser: Bun.Subprocess<'pipe', 'pipe', 'inherit'> | undefined
let lines: AsyncIterator<string> | undefined

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of stream) {
    rest += decoder.decode(bytes, { stream: true })
    const all = rest.split('\n')
    rest = all.pop() ?? ''
    yield* all
  }
}

beforeAll(() => {
  if (!node) return
  const command = [node, join(import.meta.dir, 'http-fuzz/node-reader.js')]
  parser = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  lines = linesOf(parser.stdout)
})
afterAll(() => parser?.kill())

async function readInNode(stream: object): Promise<NodeRead | undefined> {
  if (!parser) return undefined
  await parser.stdin.write(`${JSON.stringify(stream)}\n`)
  await parser.stdin.flush()
  const { value } = (await lines?.next()) ?? {}
  return JSON.parse(String(value)) as NodeRead
}

/** In pieces of a byte, and in a few. */
const splitsOf = (dice: Chooser, text: string): string[][] => [text.split(''), dice.cut(text), dice.cut(text)]

/** The target as we hand it on: without the scheme and the host that it may begin with. */
const localStart = (start: string): string =>
  start.replace(/ https?:\/\/[^/? ]*([/?]?)/i, (_, sign: string) => (sign === '/' ? ' /' : ` /${sign}`))

/**
 * Where Node refuses what the standard lets a recipient take: a tab behind a length, a coding or `keep-alive`; a length
 * or a coding where it has no meaning (in the trailers of a chunked body, and in an interim answer); blanks in the
 * extensions of a chunk; an interim answer of HTTP/1.0; and some characters in a host that no code reads.
 */
const NODE_REFUSES = [
  /^(?:content-length|transfer-encoding|connection):[^\r]*\t *\r/im,
  /\r\n0+[^\r\n]*\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding):/i,
  /^HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r]+\r\n)*?(?:content-length|transfer-encoding):/im,
  /\r\n[0-9a-f]+(?:;[^\r]*)?[\t ][^\r]*\r\n/i,
  /^HTTP\/1\.0 1/m,
  / https?:\/\/[\w.:[\]-]*[^\w.:[\]/? -]/i,
]
const nodeRefuses = (text: string): boolean => NODE_REFUSES.some((pattern) => pattern.test(text))
/** Node knows a list of methods. We hand on any, and the route refuses it. */
const isKnownMethod = ({ start }: { readonly start: string }): boolean => METHODS.includes(start.split(' ')[0] ?? '')

/** `expect` alone costs more than the reading. */
function expectSame(read: ReadStream, whole: ReadStream, at: string): void {
  if (!Bun.deepEquals(read, whole)) expect(read, at).toEqual(whole)
}

const inOneCase = (start: number, i: number): Chooser => new Chooser((start + i * 0x9e3779b1) | 0)

test(
  'requests',
  async () => {
    let accepted = 0
    for (let i = 0; i < STREAMS; i++) {
      const dice = inOneCase(seed, i)
      const text = randomStream(dice, 'request')
      const headBytesMax = dice.pick([16_384, 16_384, 16_384, 16_384, 120])
      const at = `seed ${seed}, stream ${i}: ${JSON.stringify(text)}`
      const whole = readRequests([text], { headBytesMax, hasMemory: false })
      expectSame(readRequests([text], { headBytesMax, hasMemory: true }), whole, at)
      for (const pieces of splitsOf(dice, text)) {
        expectSame(readRequests(pieces, { headBytesMax, hasMemory: dice.chance(0.5) }), whole, at)
      }
      const ours = whole.messages.filter(({ isWhole }) => isWhole)
      if (ours.length === 0 || nodeRefuses(text) || !ours.every(isKnownMethod)) continue
      accepted += ours.length
      const theirs = await readInNode({ side: 'request', text: text.slice(0, whole.wholeBytes), count: ours.length })
      if (!theirs) continue
      const read = theirs.messages
        .slice(0, ours.length)
        .map((message) => ({ ...message, start: localStart(message.start) }))
      expect({ read, error: read.length < ours.length ? theirs.error : undefined }, at).toEqual({
        read: ours.map(({ start, headers, body }) => ({ start, headers, body })),
        error: undefined,
      })
    }
    reportFigure(`${accepted} requests of ${STREAMS} streams were accepted`)
    expect(accepted).toBeGreaterThan(STREAMS / 5)
  },
  60_000 + STREAMS * 10,
)

test(
  'answers',
  async () => {
    let accepted = 0
    for (let i = 0; i < STREAMS; i++) {
      const dice = inOneCase(seed + 1, i)
      const text = randomStream(dice, 'answer')
      const method = dice.pick(['GET', 'POST', 'HEAD'])
      const at = `seed ${seed}, answer ${i} to ${method}: ${JSON.stringify(text)}`
      const whole = readAnswer([text], { method })
      for (const pieces of splitsOf(dice, text)) expectSame(readAnswer(pieces, { method }), whole, at)
      const [ours] = whole.messages
      if (!ours?.isWhole || nodeRefuses(text)) continue
      accepted++
      const theirs = await readInNode({ side: 'answer', text: text.slice(0, whole.wholeBytes), method })
      if (!theirs) continue
      const { start, headers, body } = ours
      expect({ read: theirs.messages[0], error: theirs.error }, at).toEqual({
        read: { start, headers, body },
        error: undefined,
      })
    }
    reportFigure(`${accepted} of ${STREAMS} answers were accepted`)
    expect(accepted).toBeGreaterThan(STREAMS / 8)
  },
  60_000 + STREAMS * 10,
)
