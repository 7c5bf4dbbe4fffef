import { expect, test } from 'bun:test'
import { ReplyMemory } from '../lib/runtime/reply-memory.ts'
import type { IncomingResponse, Sink } from '../outbound/exchange.ts'
import { EventReader } from './event-reader.ts'
import { InFlightAttempt } from './in-flight-attempt.ts'

/** A response that follows a script and notes what it was told. */
class ScriptedResponse implements IncomingResponse {
  readonly status = 200
  readonly headers = new Map<string, string>()
  readonly declaredBytes = 0
  readonly told: string[] = []
  sink: Sink | undefined

  deliver(sink: Sink): void {
    this.sink = sink
  }

  pause(): void {
    this.told.push('pause')
  }

  resume(): void {
    if (this.told.at(-1) === 'pause') this.told.push('resume')
  }

  cancel(): void {
    this.told.push('cancel')
    this.sink?.broken('aborted')
  }

  release(): void {
    this.told.push('release')
  }

  part(text: string): void {
    this.sink?.part(Buffer.from(text))
  }
}

type Owner = ConstructorParameters<typeof InFlightAttempt>[0]
const owner: Owner = { upstreamStopped: false, took: () => undefined, landed: () => undefined }
const NONE = Buffer.alloc(0)

function reading({ gapMs = 1_000, firstMs = 1_000, eventCharsMax = 1_000, by = owner } = {}) {
  const response = new ScriptedResponse()
  const flight = new InFlightAttempt(by, firstMs)
  flight.stop.target = response
  const reader = new EventReader(response, flight, { eventGapTimeoutMs: gapMs, eventCharsMax })
  return { response, reader, flight }
}

const events = (...data: string[]): object => ({ kind: 'events', events: data.map((text) => ({ data: text })) })

test('events go to a waiting reader at once, and events that nobody waited for go together', async () => {
  const { response, reader } = reading()
  const waited = reader.next()
  response.part('data: a\n\ndata: b\n\nda')
  expect(await waited).toMatchObject(events('a', 'b'))
  response.part('ta: c\n\n')
  response.part(': a comment\n\n')
  response.part('data: d\n\n')
  expect(await reader.next()).toMatchObject(events('c', 'd'))
  response.sink?.end(Buffer.from('data: e'))
  expect(await reader.next()).toMatchObject(events('e'))
  for (let i = 0; i < 2; i++) expect(await reader.next()).toEqual({ kind: 'end' })
})

test('a resting reader makes the upstream wait until the next event is requested', async () => {
  const { response, reader } = reading()
  response.part('data: a\n\n')
  await reader.next()
  reader.rest()
  expect(response.told.at(-1)).toBe('pause')
  // Data that was already on its way is not lost.
  response.part('data: b\n\n')
  expect(await reader.next()).toMatchObject(events('b'))
  expect(response.told.at(-1)).toBe('resume')
  reader.rest()
  const waited = reader.next()
  expect(response.told.at(-1)).toBe('resume')
  response.part('data: c\n\n')
  expect(await waited).toMatchObject(events('c'))
})

test('data that arrived before a break comes first, and nothing comes after it', async () => {
  const { response, reader } = reading()
  response.part('data: a\n\n')
  response.sink?.broken('ECONNRESET')
  expect(await reader.next()).toMatchObject(events('a'))
  expect(await reader.next()).toEqual({ kind: 'broken', failure: { kind: 'network', message: 'ECONNRESET' } })
  expect(await reader.next()).toEqual({ kind: 'end' })
})

test('a too large event and bytes that are not UTF-8 are garbage, and stop the upstream', async () => {
  for (const bytes of [Buffer.from(`data: ${'x'.repeat(2_000)}`), Buffer.from([0x64, 0xff, 0x0a])]) {
    const { response, reader } = reading()
    const waited = reader.next()
    response.sink?.part(bytes)
    expect(await waited).toMatchObject({ kind: 'broken', failure: { kind: 'garbage' } })
    expect(response.told).toEqual(['cancel'])
  }
})

test('unread events make the upstream wait until they are read', async () => {
  const { response, reader } = reading()
  for (let i = 0; i < 400; i++) response.part(`data: ${'x'.repeat(900)}\n\n`)
  expect(response.told).toContain('pause')
  await reader.next()
  expect(response.told.at(-1)).toBe('resume')
  reader.close()
})

test('silence before the first event or between two is a timeout, and a slow reader is not', async () => {
  const first = reading({ firstMs: 20 })
  expect(await first.reader.next()).toMatchObject({ kind: 'broken', failure: { kind: 'timeout' } })
  const { response, reader } = reading({ gapMs: 20, firstMs: 30 })
  response.part('data: a\n\n')
  await Bun.sleep(80)
  expect(await reader.next()).toMatchObject(events('a'))
  expect(await reader.next()).toMatchObject({ kind: 'broken', failure: { kind: 'timeout' } })
})

test('closing stops the upstream, but after the terminator its connection is kept', async () => {
  const early = reading()
  early.response.part('data: a\n\n')
  early.reader.close()
  expect(early.response.told).toEqual(['cancel'])
  expect(await early.reader.next()).toEqual({ kind: 'end' })

  for (const terminator of ['data: [DONE]\n\n', 'event: message_stop\ndata: {"type":"message_stop"}\n\n']) {
    const late = reading()
    late.response.part(`data: a\n\n${terminator}`)
    late.reader.close()
    expect(late.response.told).toEqual(['release'])
  }

  const over = reading()
  over.response.sink?.end(NONE)
  over.reader.close()
  expect(over.response.told).toEqual([])
})

test('a waiting reader learns that it was closed', async () => {
  const { reader } = reading()
  const waited = reader.next()
  reader.close()
  expect(await waited).toEqual({ kind: 'end' })
})

test('an event of megabytes waits for the memory of long replies, and gives it back', async () => {
  const memory = new ReplyMemory({ max: 1, accountMax: 1, stallMs: 60_000 })
  const other = memory.share('other')
  other.grow(1, 1, () => undefined)
  const by = { ...owner, memoryShare: () => memory.share('own') }
  const { response, reader } = reading({ eventCharsMax: 8_000_000, by })
  const block = 'x'.repeat(1024 * 1024)
  const waited = reader.next()
  response.part(`data: ${block}`)
  expect(response.told).toEqual(['pause'])
  other.release()
  expect(response.told).toEqual(['pause', 'resume'])
  for (let i = 0; i < 3; i++) response.part(block)
  response.part('\n\n')
  expect(await waited).toMatchObject(events(block.repeat(4)))
  expect(memory.bytes).toBe(0)
})
