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
