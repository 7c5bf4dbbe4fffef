import { expect, test } from 'bun:test'
import { ReplyMemory } from '../lib/runtime/reply-memory.ts'
import type { IncomingResponse, Sink } from '../outbound/exchange.ts'
import { collectText } from '../outbound/text.ts'
import { InFlightAttempt } from './in-flight-attempt.ts'

const BLOCK = 1024 * 1024

class Owner {
  upstreamStopped = false
  /** All memory is taken, so that a first block waits. */
  private readonly memory = new ReplyMemory({ max: 1, accountMax: 1 })
  took(): void {}
  landed(): void {}
  memoryShare = (): ReturnType<ReplyMemory['share']> => {
    this.memory.share('other').grow(BLOCK, BLOCK, () => {})
    return this.memory.share('own')
  }
}

function waiting(): { owner: Owner; flight: InFlightAttempt; sink: Sink; texts: (string | undefined)[] } {
  const owner = new Owner()
  const flight = new InFlightAttempt(owner, 60_000)
  const texts: (string | undefined)[] = []
  let given: Sink | undefined
  const response = {
    declaredBytes: 0,
    deliver: (one: Sink) => (given = one),
    pause() {},
    resume() {},
    cancel: () => given?.broken('aborted'),
  } as unknown as IncomingResponse
  collectText(response, 2 * BLOCK, { text: (text) => texts.push(text) }, flight)
  const sink = given as unknown as Sink
  sink.part(Buffer.alloc(BLOCK, 'x'))
  return { owner, flight, sink, texts }
}

const broken = { message: 'it broke off', reached: true }

test('an upstream that gives up an answer that waits for memory is not at fault, unless it was stopped', () => {
  const { owner, flight, sink, texts } = waiting()
  sink.broken('ECONNRESET')
  expect(texts).toEqual([undefined])
  expect(flight.failure(broken).kind).toBe('unread')
  owner.upstreamStopped = true
  expect(flight.failure(broken)).toEqual({ kind: 'network', message: broken.message })
  flight.land()
})

test('an answer that turns out too long while it waits is reported as too long', () => {
  const { flight, sink, texts } = waiting()
  sink.part(Buffer.alloc(BLOCK + 1, 'x'))
  expect(texts).toEqual([undefined])
  expect(flight.failure(broken)).toEqual({ kind: 'network', message: broken.message })
  flight.land()
})

test('its time stands still while it waits, even if the wait is announced twice', async () => {
  const flight = new InFlightAttempt(new Owner(), 100)
  flight.waits(true)
  await Bun.sleep(200)
  flight.waits(true)
  expect(flight.stop.isStopped).toBe(false)
  flight.waits(false)
  expect(flight.watchdog.leftMs).toBeWithin(50, 101)
  await Bun.sleep(250)
  expect(flight.stop.isStopped).toBe(true)
  expect(flight.failure(broken).kind).toBe('timeout')
})
