import { expect, test } from 'bun:test'
import type { Stop } from '../outbound/stop.ts'
import type { ExportResult } from './otlp-sender.ts'
import { SpanQueue } from './span-queue.ts'

const TAKEN: ExportResult = { kind: 'taken', refused: 0 }
const LATER: ExportResult = { kind: 'later', afterMs: 1, problem: 'busy' }

/** A collector that answers as told, and a queue to it. */
function queueWith(answer: (body: string, stop: Stop) => ExportResult | Promise<ExportResult>, delayMs = 1) {
  const bodies: string[] = []
  const events: string[] = []
  const queue = new SpanQueue({
    sender: {
      send: async (body, stop) => {
        bodies.push(body)
        return answer(body, stop as Stop)
      },
    },
    batching: { delayMs, queueMax: 8, batchMax: 4 },
    around: ['[', ']'],
    log: (_level, event) => void events.push(event),
  })
  return { queue, bodies, events }
}

const spans = (text: string, count = 1) => ({ count, text })

test('spans wait for others, and leave together', async () => {
  const { queue, bodies } = queueWith(() => TAKEN)
  for (const text of ['a', 'b', 'c']) queue.add(spans(text))
  expect(bodies).toEqual([])
  await queue.end(1_000)
  expect(bodies).toEqual(['[a,b,c]'])
  expect([queue.sent, queue.dropped]).toEqual([3, 0])
})

test('a full batch leaves at once, without splitting a request', async () => {
  const { queue, bodies } = queueWith(() => TAKEN, 60_000)
  queue.add(spans('a', 3))
  queue.add(spans('b', 3))
  queue.add(spans('c', 2))
  await queue.end(1_000)
  expect(bodies).toEqual(['[a]', '[b]', '[c]'])
  expect(queue.sent).toBe(8)
})

test('while the collector is slow, the queue is bounded and what is lost is counted', async () => {
  const gate = Promise.withResolvers<ExportResult>()
  const { queue, bodies } = queueWith(() => gate.promise, 60_000)
  for (let i = 0; i < 20; i++) queue.add(spans('x'))
  // Eight fit. The batch is taken out of the queue in a later tick, and none of it is sent before.
  expect(queue.dropped).toBe(12)
  gate.resolve(TAKEN)
  await queue.end(1_000)
  expect(bodies).toEqual(['[x,x,x,x]', '[x,x,x,x]'])
  expect([queue.sent, queue.dropped]).toEqual([8, 12])
})

test('what the collector may take later is sent again, and a failure is logged once', async () => {
  let answers = 0
  const done = Promise.withResolvers<void>()
  const { queue, bodies, events } = queueWith(() => {
    if (++answers < 3) return LATER
    done.resolve()
    return TAKEN
  })
  queue.add(spans('a'))
  await done.promise
  await queue.end(1_000)
  expect(bodies).toEqual(['[a]', '[a]', '[a]'])
  expect(events).toEqual(['telemetry.failing', 'telemetry.works'])
  expect([queue.sent, queue.dropped]).toEqual([1, 0])
})

test('what the collector refuses is lost, whole or in part', async () => {
  const answers: ExportResult[] = [
    { kind: 'refused', problem: '400' },
    { kind: 'taken', refused: 1 },
  ]
  const { queue, bodies } = queueWith(() => answers.shift() as ExportResult, 60_000)
  queue.add(spans('a', 4))
  queue.add(spans('b', 3))
  await queue.end(1_000)
  expect(bodies).toEqual(['[a]', '[b]'])
  expect([queue.sent, queue.dropped]).toEqual([2, 5])
})

test('the end does not wait for a collector that is gone', async () => {
  const { queue, bodies } = queueWith(() => ({ ...LATER, afterMs: 60_000 }), 60_000)
  for (const text of ['a', 'b']) queue.add(spans(text, 4))
  await queue.end(1_000)
  expect(bodies).toEqual(['[a]', '[b]'])
  expect([queue.sent, queue.dropped]).toEqual([0, 8])
})

test('the end waits for a silent collector no longer than its bound', async () => {
  const { queue } = queueWith(
    (_body, stop) =>
      new Promise((resolve) => {
        stop.target = { cancel: () => resolve({ kind: 'later', afterMs: undefined, problem: 'aborted' }) }
      }),
    60_000,
  )
  for (const text of ['a', 'b']) queue.add(spans(text, 4))
  const startedMs = performance.now()
  await queue.end(20)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  expect([queue.sent, queue.dropped]).toEqual([0, 8])
})
