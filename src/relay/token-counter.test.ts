import { expect, test } from 'bun:test'
import { TokenCounter } from './token-counter.ts'

test('words are counted, and text that a tokenizer chokes on is counted in bounded time', async () => {
  const counter = new TokenCounter()
  const startedMs = performance.now()
  const [words, monster] = await counter.count(['The quick brown fox jumps over the lazy dog.', 'a'.repeat(300_000)])
  expect(words).toBe(10)
  expect(monster).toBeGreaterThan(10_000)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
  counter.stop()
})

test('whoever waits when the counter stops gets a rough count', async () => {
  const counter = new TokenCounter()
  const counting = counter.count(['four', 'x'.repeat(400)])
  counter.stop()
  expect(await counting).toEqual([1, 100])
})

test('of a very long text samples are counted, and its count is close to that of all of it', async () => {
  const counter = new TokenCounter()
  const lorem = Array.from({ length: 20_000 }, (_, i) => `Line ${i * 7919} of a log, with {"status": ${i % 600}}.\n`)
  const dense = Array.from({ length: 100_000 }, (_, i) => '#%&*+/<=>?@^|~'[(i * i) % 14]).join('')
  const text = lorem.join('') + dense
  const pieces = Array.from({ length: Math.ceil(text.length / 65_536) }, (_, i) =>
    text.slice(i * 65_536, (i + 1) * 65_536),
  )
  const [exact, [sampled = 0]] = await Promise.all([
    Promise.all(pieces.map((piece) => counter.count([piece]))).then((all) => all.flat().reduce((a, b) => a + b, 0)),
    counter.count([text]),
  ])
  expect(Math.abs(sampled / exact - 1)).toBeLessThan(0.1)
  counter.stop()
})
